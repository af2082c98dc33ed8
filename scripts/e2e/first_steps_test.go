package e2e

import (
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/contract"
	"wavegate/shared/testing/expect"
)

// TestContract_FirstSteps_DoWhatTheySay types the contract's first steps, below a deployment's path.
func TestContract_FirstSteps_DoWhatTheySay(t *testing.T) {
	for name, target := range targets(t) {
		t.Run(name, func(t *testing.T) {
			firstSteps(t, target)
			items, _ := target.Owner(t).Get(t, "/api/ota/rollouts").Object(t)["items"].([]any)
			expect.Must(t, len(items) == 1, "there are %d rollouts", len(items))
			r := items[0].(map[string]any)
			expect.That(t, r["status"] == "completed" && r["staged_percent"] == 100.0, "the rollout is %v", r)
		})
	}
}

// TestFirstStepsAndREADME_OnOneService_WorkInAnyOrderAndTwice: each of the two follows each of the two once.
func TestFirstStepsAndREADME_OnOneService_WorkInAnyOrderAndTwice(t *testing.T) {
	t.Parallel()
	by := newReader(t)
	firstSteps(t, by.Target)
	firstSteps(t, by.Target)
	typeSession(t, by, "README.md", "A first session")
	// For 2 s, a box may be told its channel's earlier version.
	time.Sleep(2 * time.Second)
	typeSession(t, by, "README.md", "A first session")
	firstSteps(t, by.Target)
}

// firstSteps types the contract's first steps, and checks the channel afterwards.
func firstSteps(t *testing.T, target harness.Target) {
	t.Helper()
	document := expect.Value(openapi3.NewLoader().LoadFromData(contract.Document))(t)
	blocks := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(document.Info.Description, -1)
	expect.Must(t, len(blocks) == 1, "the contract shows %d sessions", len(blocks))
	base := expect.Value(url.Parse(target.URL))(t)
	owner := target.Owner(t)
	shell := exec.CommandContext(t.Context(), "sh", "-eu")
	shell.Env = append(os.Environ(), "BASE="+target.URL, "HOST=http://"+base.Host, "TOKEN="+strings.TrimPrefix(owner.Bearer, "Bearer "))
	shell.Stdin = strings.NewReader(blocks[0][1])
	if out, err := shell.CombinedOutput(); err != nil || strings.Contains(string(out), `"code"`) {
		t.Fatalf("%v\n%s", err, out)
	}
	expect.Equal(t, owner.Get(t, channelPath("first-steps", "stable")).Object(t)["currentVersion"], "1.1.0", "the channel has")
}
