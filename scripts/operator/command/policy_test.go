package command_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"wavegate/scripts/operator/run"
	"wavegate/shared/testing/expect"
)

// TestPolicy_TheExample_HasEveryField_AndIsTakenByTheService as printed, with its comments.
func TestPolicy_TheExample_HasEveryField_AndIsTakenByTheService(t *testing.T) {
	d := newDesk(t)
	d.starts(3)
	example := d.does("policy", "show", "--example").is(run.Done).out
	file := d.file("policy.json", example)
	d.does("policy", "check", file).is(run.Done).says("promote.soak.10: P7D → P10D")
	d.does("policy", "set", "gateway-x/stable", file).is(run.Misused).warns("which has no policy now", "promote.auto: true", "--yes")
	d.Owner(t).Get(t, "/api/ota/rollouts/"+d.rollout()+"/policy").Is(t, http.StatusNotFound)
	d.does("policy", "set", "gateway-x/stable", file, "--yes").is(run.Done)
	d.does("policy", "set", d.rollout(), file).is(run.Done).says("has not changed")

	var taken map[string]any
	expect.OK(t, json.Unmarshal(d.Owner(t).Get(t, "/api/ota/rollouts/"+d.rollout()+"/policy").Is(t, http.StatusOK).Body, &taken))
	for name, fields := range taken {
		expect.That(t, strings.Contains(example, `"`+name+`":`), "the example lacks %s", name)
		inner, _ := fields.(map[string]any)
		for field := range inner {
			expect.That(t, strings.Contains(example, `"`+field+`":`), "the example lacks %s.%s", name, field)
		}
	}
}

func TestPolicy_Check_SaysEveryFault_AndSendsNothing(t *testing.T) {
	d := &desk{T: t, env: map[string]string{}, dir: t.TempDir()}
	d.seen = func(*http.Request) error { t.Error("it calls the service"); return http.ErrServerClosed }
	wrong := d.file("wrong.json", `{"mode":"drive","guard":{"acceptable":0.04,"silentAfter":"10m"},"approvals":{"before":[5]},"more":1}`)
	d.does("policy", "check", wrong).is(run.Misused).
		warns("/mode must be", "/guard/intolerable must be at least twice", "/guard/silentAfter", "/approvals/before/0",
			"/more")
	d.does("policy", "check", d.file("text.json", "x")).is(run.Misused).warns("exactly one JSON value")
	d.does("policy", "check", d.dir+"/none").is(run.Misused).warns("no such file")
	d.does("policy", "check", d.file("default.json", "{}")).is(run.Done).says("nothing")
}

// TestPolicy_Set_ShowsWhatChanges_OfThePresentOne, and refuses to overwrite what somebody else has set since.
func TestPolicy_Set_ShowsWhatChanges_OfThePresentOne(t *testing.T) {
	d := newDesk(t)
	d.publishes()
	d.does("start", "gateway-x/stable", "1.1.0", "--yes").is(run.Done)
	file := d.file("policy.json", "// nothing before ten\n"+`{"guard":{"taken":0.5}}`)
	r := d.does("policy", "set", "gateway-x/stable", file).is(run.Misused).
		warns("Change the policy of the rollout of 1.1.0 on gateway-x/stable", "guard.taken: 0.8 → 0.5")
	expect.That(t, !strings.Contains(r.err, "acceptable"), "it shows what stays: %s", r.err)
	d.seen = func(r *http.Request) error {
		if r.Method == http.MethodPut {
			d.seen = nil
			d.Owner(t).Patch(t, "/api/ota/rollouts/"+d.rollout(), `{"status":"halted"}`).Is(t, http.StatusNoContent)
		}
		return nil
	}
	d.does("policy", "set", "gateway-x/stable", file, "--yes").is(run.Refused).warns("PRECONDITION_FAILED")
	d.does("policy", "show", "gateway-x/stable").is(run.Done).says("guard.taken         0.8")
}
