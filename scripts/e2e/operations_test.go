package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"testing"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/samples"
	"wavegate/shared/access/ratelimit"
	"wavegate/shared/operations"
	"wavegate/shared/platform/problem"
)

// TestOperations_EachCalledOnce is the least that a deployment must do: the sample of every operation,
// through its own route and function, on every target. A list holds what was made, and a read shows it.
func TestOperations_EachCalledOnce(t *testing.T) {
	// Another target may hold what an earlier run left, so every run has names of its own.
	own := func(stem string) string { return harness.Name(fmt.Sprintf("%s-%d", stem, os.Getpid())) }
	for name, target := range targets(t) {
		t.Run(name, func(t *testing.T) {
			for _, op := range operations.Table {
				t.Run(op.ID, func(t *testing.T) {
					call := target.Session(t, samples.Fresh(own)).Call(t, op.ID)
					answer := target.Make(t, call)
					switch {
					case op.Limit == ratelimit.Copilot: // no target here has an assistant to ask
						answer.Refused(t, problem.Unavailable)
					case samples.Lists(op.ID):
						if items, _ := answer.Is(t, http.StatusOK).Object(t)["items"].([]any); len(items) == 0 {
							t.Errorf("the list is empty: %s", answer.Body)
						}
					default:
						answer.Is(t, call.Status)
						shows(t, answer, call.Shows)
					}
				})
			}
			t.Run("without a token", func(t *testing.T) {
				target.Nobody().Get(t, "/api/factories").Is(t, http.StatusUnauthorized)
			})
		})
	}
}

// shows fails unless the answer has every member of a JSON object; empty: none.
func shows(t testing.TB, a harness.Answer, object string) {
	t.Helper()
	if object == "" {
		return
	}
	var want map[string]any
	if err := json.Unmarshal([]byte(object), &want); err != nil {
		t.Fatal(err)
	}
	got := a.Object(t)
	for member, value := range want {
		if !reflect.DeepEqual(got[member], value) {
			t.Errorf("%s is %v, want %v", member, got[member], value)
		}
	}
}
