package e2e

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/samples"
	"wavegate/shared/operations/table"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
	"wavegate/shared/testing/expect"
)

var updateRefusals = flag.Bool("update", false, "record the answers to testdata/bad-input.jsonl")

// A badInput is a request with faults, and the answer to it.
type badInput struct {
	Operation string          `json:"operation"`
	Path      string          `json:"path"` // with the query
	Body      string          `json:"body,omitempty"`
	Header    []string        `json:"header,omitempty"`
	Status    int             `json:"status"`
	Code      problem.Code    `json:"code"`
	Detail    string          `json:"detail"`
	Errors    []problem.Fault `json:"errors,omitempty"`
}

// TestBadInput_EveryOperation_IsRefusedAsRecorded: clients show these faults to people, and some compare them. All
// faults of a request are reported, in the recorded order. Each line of the file is a request and its answer; -update
// records the answers again.
func TestBadInput_EveryOperation_IsRefusedAsRecorded(t *testing.T) {
	t.Parallel()
	const file = "testdata/bad-input.jsonl"
	text := expect.Value(os.ReadFile(file))(t)
	w := harness.New(t, withSettings(setting.LimitUser.Assign(setting.HighestLimit), setting.LimitOrganization.Assign(setting.HighestLimit)))
	box := w.By(t, w.Session(t, samples.Fixed()).Call(t, "redeem-edge-enrolment")) // with a code that the service made
	var recorded bytes.Buffer
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		var want badInput
		expect.OK(t, json.Unmarshal([]byte(line), &want))
		got := want
		by := box
		if want.Operation != "redeem-edge-enrolment" {
			by = w.By(t, samples.Of(want.Operation).Call(samples.Fixed(), samples.Case{}))
		}
		answer := by.Do(t, table.Get(want.Operation).Method, want.Path, want.Body, want.Header...)
		d, err := answer.Problem()
		if err != nil {
			t.Errorf("%s %s %s: answered %d %s", want.Operation, want.Path, want.Body, answer.Status, answer.Body)
			continue
		}
		got.Status, got.Code, got.Detail, got.Errors = d.Status, d.Code, d.Detail, d.Errors
		again := encoded(t, got)
		recorded.Write(again)
		if now := strings.TrimSpace(string(again)); now != line && !*updateRefusals {
			t.Errorf("got  %s\nwant %s", now, line)
		}
	}
	if *updateRefusals {
		expect.OK(t, os.WriteFile(file, recorded.Bytes(), 0o600))
	}
}

func encoded(t *testing.T, v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	expect.OK(t, e.Encode(v))
	return b.Bytes()
}
