package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/operations"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

// tells makes a box poll with what it runs, and returns what it is told.
func tells(t *testing.T, w *harness.World, box, version string) string {
	t.Helper()
	var m struct{ Version string }
	w.Box(t, box).Get(t, manifestPath(box)+"?installed="+version).Is(t, http.StatusOK).Into(t, &m)
	return m.Version
}

// TestReturn_ByAPersonOrTheGuard_SendsBackWhoRunsTheTarget with a DDI client among them. Nobody counts as fallen back.
func TestReturn_ByAPersonOrTheGuard_SendsBackWhoRunsTheTarget(t *testing.T) {
	t.Parallel()
	for name, policy := range map[string]string{"person": quickly, "guard": strings.Replace(quickly, "{", `{"onHalt":"return",`, 1)} {
		t.Run(name, func(t *testing.T) {
			w, owner := published(t, lookEachSecond)
			client := ddiFleet(t, w, 1)[0]
			boxes := assigned(t, w, "acme", 3)
			for _, id := range boxes {
				tells(t, w, id, "1.0.0")
			}
			rollout := ddiRollout(t, w, policy)
			client.says(t, linked(t, w, base(t, client.Caller, client.id).Links.DeploymentBase), "closed", "success", "")
			client.runs(t, "1.1.0")
			base(t, client.Caller, client.id)
			for _, id := range boxes {
				expect.Equal(t, tells(t, w, id, "1.0.0")+tells(t, w, id, "1.1.0"), "1.1.01.1.0", "told during the rollout")
			}
			if name == "guard" {
				for _, id := range boxes[:2] {
					w.Box(t, id).Put(t, "/api/edges/"+id+"/update/report", `{"version":"1.1.0","attempt":1,"outcome":"failed","code":"health"}`).Is(t, http.StatusOK)
				}
				expect.Equal(t, verdict(t, w, rollout)["eventName"], any("RolloutHalted"), "the guard's event")
			} else {
				owner.Patch(t, rollout, `{"status":"halted"}`).Is(t, http.StatusNoContent)
				expect.Equal(t, tells(t, w, boxes[0], "1.1.0"), "1.1.0", "told after a halt")
				owner.Patch(t, rollout, `{"status":"halted","return":true,"reason":"it loses the network"}`).Is(t, http.StatusNoContent)
				owner.Patch(t, rollout, `{"status":"halted","return":true}`).Is(t, http.StatusNoContent)
			}
			for _, id := range boxes[:2] {
				expect.Equal(t, tells(t, w, id, "1.1.0")+tells(t, w, id, "1.0.0"), "1.0.01.0.0", "told after the return")
			}
			back := linked(t, w, base(t, client.Caller, client.id).Links.DeploymentBase)
			if text := string(client.Get(t, back).Is(t, http.StatusOK).Body); !strings.Contains(text, `"version":"1.0.0"`) {
				t.Errorf("the DDI client is told %s", text)
			}
			why := string(owner.Get(t, "/api/edges/"+boxes[2]+"/update/why").Is(t, http.StatusOK).Body)
			expect.That(t, strings.Contains(why, `"reason":"returned"`), "why: %s", why)
			time.Sleep(time.Second) // the index lags
			expect.OK(t, w.RunTask(t.Context(), operations.Tick))
			text := string(owner.Get(t, rollout+"/progress?fresh=true").Is(t, http.StatusOK).Body)
			if !strings.Contains(text, `"returning":2,"returned":2`) || strings.Contains(text, `"reverted":1`) {
				t.Errorf("the progress is %s", text)
			}
			owner.Patch(t, rollout, `{"status":"active"}`).Refused(t, problem.InvalidStateTransition)
			owner.Patch(t, rollout, `{"staged_percent":100,"return":true}`).Refused(t, problem.ValidationFailed)
			owner.Put(t, channel, described("1.0.0", digest("a"))).Is(t, http.StatusNoContent)
			owner.Post(t, rollouts, judged(policy)).Is(t, http.StatusCreated)
		})
	}
}
