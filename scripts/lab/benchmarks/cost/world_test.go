package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/local/service"
	"wavegate/scripts/samples"
	"wavegate/shared/platform/setting"
)

// A world is a service with one process for each function, an assistant, and the highest possible limits.
type world struct {
	*harness.World
	made int
}

func startWorld(tb testing.TB, change func(*service.Options)) *world {
	tb.Helper()
	assistant := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") }))
	tb.Cleanup(assistant.Close)
	settings := []string{"COPILOT_URL=" + assistant.URL, "COPILOT_SECRET=a-secret-of-this-measurement-alone"}
	for _, limit := range []setting.Name{setting.LimitUser, setting.LimitOrganization, setting.LimitCopilotUser,
		setting.LimitCopilotOrganization} {
		settings = append(settings, limit.Assign(setting.HighestLimit))
	}
	settings = append(settings, setting.LimitBoxes.Assign(setting.HighestBoxLimit))
	return &world{World: harness.New(tb, harness.WithProcesses(1), func(o *service.Options) {
		o.Environment = func(string) []string { return settings }
		change(o)
	})}
}

// name makes a new name with a stem. All names of a stem have the same length, so that items keep their sizes.
func (w *world) name(stem string) string {
	w.made++
	return fmt.Sprintf("%s-%06d", stem, w.made)
}

// prepare makes the resources for a case of an operation's sample, with new names each time, and returns the call.
func (w *world) prepare(tb testing.TB, operation string, c samples.Case) samples.Call {
	tb.Helper()
	s := w.Session(tb, samples.Fresh(w.name))
	do := s.Do
	s.Name, s.Do = w.name, func(c samples.Call) (http.Header, []byte, error) {
		head, body, err := do(c)
		// A busy machine may not record a poll in time. Then the answer has no entity tag, and the box polls again.
		for try := 0; err == nil && c.Operation == "get-manifest" && head.Get("ETag") == "" && try < 20; try++ {
			head, body, err = do(c)
		}
		return head, body, err
	}
	call, err := s.Prepare(operation, c)
	if err != nil {
		tb.Fatalf("%s: %v", nameOf(operation, c), err)
	}
	return call
}

// nameOf returns the operation and the case, as in counted.tsv.
func nameOf(operation string, c samples.Case) string {
	if c.Name == "" {
		return operation
	}
	return operation + ": " + c.Name
}
