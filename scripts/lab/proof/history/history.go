package history

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
)

// A History is the calls of some clients about one channel or one box, with their answers.
type History struct {
	begin time.Time

	mu    sync.Mutex
	calls []porcupine.Operation
}

// New returns an empty history.
func New() *History { return &History{begin: time.Now()} }

// Call makes a call for a client and records it. A client makes one call at a time.
func (h *History) Call(client int, in Input, do func(Input) Output) Output {
	began := time.Since(h.begin)
	out := do(in)
	ended := int64(time.Since(h.begin))
	if out.Lost {
		if in.Action.reads() {
			return out // a read without an answer proves nothing
		}
		ended = math.MaxInt64 // it may still arrive
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if out.Lost {
		out.ID = fmt.Sprint(lost, len(h.calls))
	}
	h.calls = append(h.calls, porcupine.Operation{ClientId: client, Input: in, Call: int64(began), Output: out, Return: ended})
	return out
}

// Len is the number of calls so far.
func (h *History) Len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.calls)
}

const checkTimeout = 30 * time.Second

// Check searches for an order that explains all answers. The error shows a history without one.
func (h *History) Check() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch porcupine.CheckOperationsTimeout(model.ToModel(), h.calls, checkTimeout) {
	case porcupine.Ok:
		return nil
	case porcupine.Unknown:
		return fmt.Errorf("history: no verdict within %s on %d calls:\n%s", checkTimeout, len(h.calls), h.text())
	}
	return fmt.Errorf("history: no order of these %d calls explains their answers:\n%s", len(h.calls), h.text())
}

// text lists the calls in the order of their starts, with times in microseconds.
func (h *History) text() string {
	calls := slices.Clone(h.calls)
	slices.SortFunc(calls, func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
	var b strings.Builder
	for _, c := range calls {
		end := "never"
		if c.Return != math.MaxInt64 {
			end = fmt.Sprint(c.Return / 1000)
		}
		fmt.Fprintf(&b, "%8d to %8s  client %d  %s\n", c.Call/1000, end, c.ClientId, describe(c.Input.(Input), c.Output.(Output)))
	}
	return b.String()
}

func describe(in Input, out Output) string {
	var words []string
	add := func(format string, v any) {
		if s := fmt.Sprint(v); s != "" && s != "0" {
			words = append(words, fmt.Sprintf(format, v))
		}
	}
	add("%s", in.Action)
	add("rollout %s", in.Rollout)
	add("version %s", in.Version)
	add("digest %s", in.Digest)
	add("percent %d", in.Percent)
	add("status %s", in.Status)
	if in.Return {
		words = append(words, "return")
	}
	add("if revision %d", in.IfMatch)
	add("to %s", in.Channel)
	add("running %s", in.Running)
	add("attempt %d", in.Attempt)
	add("%s", in.Outcome)
	if in.IfTag != (Tag{}) {
		add("if %+v", in.IfTag)
	}
	result := "done"
	switch {
	case out.Lost:
		result = "unknown"
	case out.Code != "":
		result = string(out.Code)
	case in.Action == ReadChannel:
		result = fmt.Sprintf("%+v", out.Channel)
	case in.Action == ReadRollout:
		result = fmt.Sprintf("%+v", out.Rollout)
	case in.Action == ReadRow:
		result = fmt.Sprintf("%+v %+v", out.Channel, out.Carried)
	case in.Action == ReadBox:
		result = fmt.Sprintf("%+v", out.Box)
	case in.Action == ReadReportRow:
		result = fmt.Sprintf("%+v", out.ReportRow)
	case in.Action == Poll:
		result = "told " + out.Told
	case out.GiveUp:
		result = "give up"
	case out.Created:
		result = "created"
	case in.Action == Start:
		result = "started " + out.ID
	}
	return strings.Join(words, " ") + ": " + result
}
