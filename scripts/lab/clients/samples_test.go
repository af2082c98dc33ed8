package clients

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/access/auth"
	"wavegate/shared/contract"
	"wavegate/shared/testing/expect"
)

// TestContract_ItsSamples_PastedIntoAShell_AreUnderstood: their resources may be missing, or in another state.
func TestContract_ItsSamples_PastedIntoAShell_AreUnderstood(t *testing.T) {
	expect.Full(t)
	w := harness.New(t)
	expect.OK(t, w.Seed(t.Context()))
	document := expect.Value(openapi3.NewLoader().LoadFromData(contract.Document))(t)
	understood := []int{200, 201, 204, 404, 409, 412, 422}
	except := map[string]int{
		"create-edge-enrolment": 400, // the sample's end is too far from the time of the call, as with a freeze
		"put-freeze":            400,
		"redeem-edge-enrolment": 403,
	}
	for _, method := range []string{"get", "post", "put", "patch", "delete"} {
		except["copilot-"+method] = 503 // the service has no assistant
	}
	answered := map[int]int{}
	for path, item := range document.Paths.Map() {
		for method, op := range item.Operations() {
			sample := op.Extensions["x-codeSamples"].([]any)[0].(map[string]any)["source"].(string)
			role := auth.Role((*op.Security)[0]["accessToken"][0])
			if !slices.Contains(auth.Roles, role) || role == auth.Enrolment {
				role = auth.PlatformOwner // anyone; an enrolment's code is only valid at the service that made it
			}
			shell := exec.CommandContext(t.Context(), "sh", "-c", sample)
			shell.Env = append(os.Environ(), "BASE="+w.Target.URL, "TOKEN="+strings.TrimPrefix(w.As(t, "box-0017", "acme", role).Bearer, "Bearer "))
			out, err := shell.Output()
			expect.Must(t, err == nil, "%s: %v", sample, err)
			var status int
			if _, err := fmt.Sscanf(string(out), "HTTP/1.1 %d", &status); err != nil {
				t.Fatalf("%s: %v: %s", sample, err, out)
			}
			answered[status]++
			if !slices.Contains(understood, status) && except[op.OperationID] != status {
				t.Errorf("%s %s: %s", method, path, out)
			}
		}
	}
	t.Logf("answers by status: %v", answered)
}
