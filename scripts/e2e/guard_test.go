package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/local/service"
	"wavegate/shared/access/auth"
	"wavegate/shared/operations"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
	"wavegate/shared/testing/expect"
)

// judged is the body that starts a rollout with a policy, or that says nothing about it.
func judged(policy string) string {
	if policy == "" {
		return plan("gateway-x", "stable", "1.1.0")
	}
	return strings.TrimSuffix(plan("gateway-x", "stable", "1.1.0"), "}") + `,"policy":` + policy + `}`
}

// judgedRollout starts a rollout with a policy and returns its path.
func judgedRollout(t *testing.T, w *harness.World, policy string) string {
	t.Helper()
	owner := w.Owner(t)
	owner.Put(t, channel, release("1.0.0", digest("a"))).Is(t, http.StatusCreated)
	owner.Put(t, channelPath("gateway-x", "canary"), release("1.1.0", digest("b"))).Is(t, http.StatusCreated)
	return owner.Post(t, rollouts, judged(policy)).Made(t)
}

// TestGuard_ARolloutThatSaysNothing_HasTheGuardThatHalts: only null means no guard, and every answer with the rollout
// says so. The specification's PATCH works with all of them.
func TestGuard_ARolloutThatSaysNothing_HasTheGuardThatHalts(t *testing.T) {
	for policy, want := range map[string]struct{ mode, auto string }{
		``: {"act", "false"}, `{}`: {"act", "false"}, `{"promote":{"auto":true}}`: {"act", "true"},
		`{"mode":"advise"}`: {"advise", "false"}, `null`: {"none", ""},
	} {
		t.Run(policy, func(t *testing.T) {
			w, owner := begin(t)
			at := judgedRollout(t, w, policy)
			for _, read := range []string{at, rollouts, "/api/ota/release-channels/gateway-x/stable", "/api/ota/release-channels"} {
				if text := string(owner.Get(t, read).Is(t, http.StatusOK).Body); !strings.Contains(text, `"guard":"`+want.mode+`"`) {
					t.Errorf("%s does not say that the guard is %s: %s", read, want.mode, text)
				}
			}
			if want.auto == "" {
				owner.Get(t, at+"/policy").Refused(t, problem.NotFound)
			} else if text := string(owner.Get(t, at+"/policy").Is(t, http.StatusOK).Body); !strings.Contains(text, `"auto":`+want.auto) {
				t.Errorf("the policy is %s", text)
			}
			for _, change := range []string{`{"staged_percent":10}`, `{"staged_percent":50}`, `{"status":"halted"}`,
				`{"status":"active"}`, `{"staged_percent":100}`, `{"status":"completed"}`} {
				owner.Patch(t, at, change).Is(t, http.StatusNoContent)
			}
		})
	}
}

// TestGuard_SecondPair_WindowsAndFreeze_HoldUpEveryoneButHalts takes one rollout through everything that people can
// set.
func TestGuard_SecondPair_WindowsAndFreeze_HoldUpEveryoneButHalts(t *testing.T) {
	w := harness.New(t)
	olga, otto := w.Owner(t), w.As(t, "otto", "wavegate", auth.PlatformOwner)
	// A window that stays closed for hours, at any time of the run.
	hour := time.Now().UTC().Add(6 * time.Hour).Format("15:00")
	closed := `{"from":"` + hour + `","to":"` + hour[:2] + `:01","timeZone":"UTC"}`
	rollout := judgedRollout(t, w, `{"promote":{"windows":[`+closed+`]},"approvals":{"before":[10]}}`)

	const raise, approval, passing = `{"staged_percent":10}`, `{"stage":10}`, `{"staged_percent":10,"overrideReason":"a security fix"}`
	olga.Patch(t, rollout, raise).Refused(t, problem.ApprovalRequired)
	olga.Patch(t, rollout, passing).Refused(t, problem.ApprovalRequired)
	olga.Post(t, rollout+"/approvals", approval).Refused(t, problem.SelfApproval)
	otto.Post(t, rollout+"/approvals", approval).Is(t, http.StatusNoContent)
	otto.Post(t, rollout+"/approvals", approval).Is(t, http.StatusNoContent)
	otto.Post(t, rollout+"/approvals", `{"stage":50}`).Refused(t, problem.InvalidStateTransition)
	olga.Patch(t, rollout, raise).Refused(t, problem.WindowClosed)

	until := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	olga.Put(t, "/api/ota/freeze", `{"reason":"holidays","until":"`+until+`"}`).Is(t, http.StatusCreated)
	olga.Patch(t, rollout, raise).Refused(t, problem.Frozen)
	olga.Put(t, "/api/ota/release-channels/gateway-y/stable", release("1.0.0", digest("a"))).Refused(t, problem.Frozen)
	olga.Post(t, rollouts, plan("gateway-x", "canary", "1.0.0")).Refused(t, problem.Frozen)
	olga.Patch(t, rollout, `{"status":"halted"}`).Is(t, http.StatusNoContent)
	olga.Put(t, rollout+"/policy", `{"promote":{"windows":[`+closed+`]}}`).Refused(t, problem.InvalidStateTransition)
	// While it is halted, its policy can change and be approved, too.
	olga.Put(t, rollout+"/policy", `{"approvals":{"before":[10,50]}}`).Refused(t, problem.WindowClosed)
	olga.Put(t, rollout+"/policy", `{"promote":{"windows":[`+closed+`]},"approvals":{"before":[10,50]}}`).Is(t, http.StatusNoContent)
	otto.Post(t, rollout+"/approvals", approval).Is(t, http.StatusNoContent)
	olga.Patch(t, rollout, `{"status":"active"}`).Refused(t, problem.Frozen)
	olga.Do(t, http.MethodDelete, "/api/ota/freeze", "").Is(t, http.StatusNoContent)
	olga.Do(t, http.MethodDelete, "/api/ota/freeze", "").Refused(t, problem.NotFound)
	olga.Get(t, "/api/ota/freeze").Refused(t, problem.NotFound)
	olga.Patch(t, rollout, `{"status":"active"}`).Refused(t, problem.WindowClosed)
	olga.Patch(t, rollout, `{"status":"active","overrideReason":"a security fix"}`).Is(t, http.StatusNoContent)
	olga.Patch(t, rollout, passing).Is(t, http.StatusNoContent)

	events := w.Events(t, "rollout", id(rollout))
	last := events[len(events)-1]
	if last["eventName"] != "RolloutPromoted" || last["overrideReason"] != "a security fix" {
		t.Errorf("the trail ends with %v", last)
	}
	expect.Equal(t, eventNames(w, t, "freeze", "freeze"), []string{"FreezeSet", "FreezeLifted"}, "the freeze's events:")
}

// quickly is a policy with which two boxes decide, seconds after they polled.
const quickly = `{"guard":{"acceptable":0.001,"intolerable":0.5,"silentAfter":"PT2S","decideWithin":"PT2S","smallFleet":"allDecided"},` +
	`"promote":{"auto":true,"soak":{"1":"PT0S","10":"PT0S","50":"PT0S","100":"PT0S"}}}`

// lookEachSecond allows policies with seconds. Every poll reads its channel's row.
func lookEachSecond(o *service.Options) {
	withSettings(setting.ChannelCacheSeconds.Assign(0), setting.GuardIntervalSeconds.Assign(1))(o)
}

// TestGuard_Tick_HaltsABadRelease_AndCompletesAGoodOne by the reports of two boxes.
func TestGuard_Tick_HaltsABadRelease_AndCompletesAGoodOne(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		bad    bool
		event  string
		status string
	}{"bad": {true, "RolloutHalted", "halted"}, "good": {false, "RolloutCompleted", "completed"}} {
		t.Run(name, func(t *testing.T) {
			w, owner := begin(t, lookEachSecond)
			boxes := []string{"box-1", "box-2"}
			rollout := judgedRollout(t, w, quickly)
			for _, box := range boxes {
				owner.Put(t, "/api/edges/"+box, `{"edgeType":"gateway-x","channel":"stable","organizationId":"acme"}`).Is(t, http.StatusCreated)
			}
			poll := func(installed string) {
				t.Helper()
				for _, box := range boxes {
					w.Box(t, box).Get(t, manifestPath(box)+"?installed="+installed).Is(t, http.StatusOK)
				}
			}
			for _, percent := range []string{"10", "50", "100"} {
				owner.Patch(t, rollout, `{"staged_percent":`+percent+`}`).Is(t, http.StatusNoContent)
			}
			poll("1.0.0")
			if c.bad {
				for _, box := range boxes {
					w.Box(t, box).Put(t, "/api/edges/"+box+"/update/report",
						`{"version":"1.1.0","attempt":1,"outcome":"failed","code":"boot"}`).Is(t, http.StatusOK)
				}
				time.Sleep(3 * time.Second) // they could try again
			} else {
				poll("1.1.0")
				time.Sleep(3 * time.Second) // it soaks
				poll("1.1.0")
			}
			expect.OK(t, w.RunTask(t.Context(), operations.Tick))
			events := w.Events(t, "rollout", id(rollout))
			last := events[len(events)-1]
			cause, _ := last["cause"].(map[string]any)
			if last["eventName"] != c.event || last["actor"].(map[string]any)["issuer"] != "urn:wavegate:guard" || cause["sentence"] == "" {
				t.Errorf("the trail ends with %v", last)
			}
			owner.Get(t, rollout).Has(t, fmt.Sprintf(`{"status":%q,"adopted":%t,"endedBy":"guard"}`, c.status, !c.bad))
		})
	}
}
