package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path"
	"strings"
	"testing"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/samples"
	"wavegate/shared/operations"
	"wavegate/shared/operations/table"
	"wavegate/shared/platform/problem"
	"wavegate/shared/ratelimit"
	"wavegate/shared/testing/expect"
)

// TestOperations_EachCalledOnce is the minimum for a deployment: the sample of every operation, through its own route
// and function, on every target. Lists and reads show what was made.
func TestOperations_EachCalledOnce(t *testing.T) {
	// Another target may have data of an earlier run, so every run has its own names.
	own := func(stem string) string { return harness.Name(fmt.Sprintf("%s-%d", stem, os.Getpid())) }
	for name, target := range targets(t) {
		t.Run(name, func(t *testing.T) {
			_, at, _ := strings.Cut(target.URL, "://")
			_, stage, _ := strings.Cut(at, "/")
			root := path.Join("/", stage, "api") + "/"
			const artifacts = "/api/ota/artifacts"
			stores := name != "E2E_URL" || target.Owner(t).Get(t, artifacts).Status == http.StatusOK
			for _, op := range table.All {
				t.Run(op.ID, func(t *testing.T) {
					if !stores && strings.HasPrefix(op.Path, artifacts) {
						withoutStore(t, target, op)
						return
					}
					call := target.Session(t, samples.Fresh(own)).Call(t, op.ID)
					answer := target.Make(t, call)
					if op.Limit == ratelimit.Copilot { // no target here has an assistant to ask
						answer.Refused(t, problem.Unavailable)
						return
					}
					shown(t, op, call, answer)
					if at := answer.Header.Get("Location"); at != "" && !strings.HasPrefix(at, root) {
						t.Errorf("Location is %s, which is not below %s", at, root)
					}
				})
			}
			t.Run("without a token", func(t *testing.T) {
				target.Nobody().Get(t, "/api/factories").Is(t, http.StatusUnauthorized)
			})
		})
	}
}

// withoutStore calls an operation on artifacts where there is no store of them, which is the default of a deployment.
func withoutStore(t *testing.T, target harness.Target, op operations.Operation) {
	t.Helper()
	at := strings.NewReplacer("{edgeType}", "gateway-x", "{sha256}", digest("a")).Replace(op.Path)
	body := map[string]string{http.MethodPut: `{"sizeBytes":4,"filename":"1.1.0.img"}`, http.MethodPatch: `{"state":"kept"}`}[op.Method]
	target.Owner(t).Do(t, op.Method, at, body).Refused(t, problem.Unavailable)
}

// shown fails unless a call succeeded as its sample says. Lists and reads must show what was made.
func shown(t *testing.T, op operations.Operation, call samples.Call, answer harness.Answer) {
	t.Helper()
	if samples.Lists(op.ID) {
		if items, _ := answer.Is(t, http.StatusOK).Object(t)["items"].([]any); len(items) == 0 {
			t.Errorf("the list is empty: %s", answer.Body)
		}
		return
	}
	answer.Is(t, call.Status)
	if call.Shows == "" {
		return
	}
	var want map[string]any
	expect.OK(t, json.Unmarshal([]byte(call.Shows), &want))
	got := answer.Object(t)
	for member, value := range want {
		expect.Equal(t, got[member], value, "%s is", member)
	}
}
