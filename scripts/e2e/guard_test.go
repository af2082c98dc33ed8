package e2e

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/access/auth"
	"wavegate/shared/platform/problem"
)

// guardedRollout starts a rollout with a policy and returns its path.
func guardedRollout(t *testing.T, w *harness.World, policy string) string {
	t.Helper()
	owner := w.Owner(t)
	owner.Put(t, "/api/ota/release-channels/gateway-x/stable", release("1.0.0", digest("a"))).Is(t, http.StatusCreated)
	owner.Put(t, "/api/ota/release-channels/gateway-x/canary", release("1.1.0", digest("b"))).Is(t, http.StatusCreated)
	body := strings.TrimSuffix(plan("gateway-x", "stable", "1.1.0"), "}") + `,"policy":` + policy + `}`
	return owner.Post(t, rollouts, body).Is(t, http.StatusCreated).Header.Get("Location")
}

// TestGuard_Policy_TellsEveryFaultAtOnce_AndChangesNothing: the whole document is corrected in one go.
func TestGuard_Policy_TellsEveryFaultAtOnce_AndChangesNothing(t *testing.T) {
	w := harness.New(t)
	owner := w.Owner(t)
	rollout := guardedRollout(t, w, `{}`)
	before := owner.Get(t, rollout+"/policy").Is(t, http.StatusOK)
	const wrong = `{"mode":"on","guard":{"acceptable":5,"silentAfter":"10m"},"promote":{"soak":{"2":"PT1H"},"windows":[{"from":"25:00","to":"26:00","timeZone":"Berlin"}]},"approvals":{"before":[1]},"more":true}`
	d := owner.Put(t, rollout+"/policy", wrong).Refused(t, problem.ValidationFailed)
	var pointers []string
	for _, f := range d.Errors {
		pointers = append(pointers, f.Pointer)
	}
	want := "/mode /guard/acceptable /guard/silentAfter /promote/soak/2 /promote/windows/0/from /promote/windows/0/to /promote/windows/0/timeZone /approvals/before/0 /more"
	if got := strings.Join(pointers, " "); got != want {
		t.Errorf("faults at %s\nwant %s", got, want)
	}
	if after := owner.Get(t, rollout+"/policy").Is(t, http.StatusOK); string(after.Body) != string(before.Body) || after.Header.Get("ETag") != before.Header.Get("ETag") {
		t.Errorf("the policy was %s and is %s", before.Body, after.Body)
	}
	// At the start, the policy's faults stand beside the plan's, and no rollout starts.
	d = owner.Post(t, rollouts, `{"edgeType":"gateway x","channel":"canary","targetVersion":"1.0.0","policy":{"mode":"on"}}`).Refused(t, problem.ValidationFailed)
	if len(d.Errors) != 2 || d.Errors[0].Pointer != "/edgeType" || d.Errors[1].Pointer != "/policy/mode" {
		t.Errorf("faults %+v", d.Errors)
	}
	owner.Get(t, rollouts+"/0192f0c1-6d2e-7a55-9c3b-1f2e3d4c5b6a/policy").Refused(t, problem.NotFound)
}

// TestGuard_SecondPair_WindowsAndFreeze_HoldUpEveryoneButHalts follows one rollout past all that people can set.
func TestGuard_SecondPair_WindowsAndFreeze_HoldUpEveryoneButHalts(t *testing.T) {
	w := harness.New(t)
	olga, otto := w.Owner(t), w.As(t, "otto", "wavegate", auth.PlatformOwner)
	// A window that is closed for hours to come, whatever the time of the run.
	hour := time.Now().UTC().Add(6 * time.Hour).Format("15:00")
	rollout := guardedRollout(t, w, `{"promote":{"windows":[{"from":"`+hour+`","to":"`+hour[:2]+`:01","timeZone":"UTC"}]},"approvals":{"before":[10]}}`)

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
	olga.Patch(t, rollout, `{"status":"halted"}`).Is(t, http.StatusNoContent)
	olga.Patch(t, rollout, `{"status":"active"}`).Refused(t, problem.Frozen)
	olga.Do(t, http.MethodDelete, "/api/ota/freeze", "").Is(t, http.StatusNoContent)
	olga.Do(t, http.MethodDelete, "/api/ota/freeze", "").Refused(t, problem.NotFound)
	olga.Patch(t, rollout, `{"status":"active"}`).Refused(t, problem.WindowClosed)
	olga.Patch(t, rollout, `{"status":"active","overrideReason":"a security fix"}`).Is(t, http.StatusNoContent)
	olga.Patch(t, rollout, passing).Is(t, http.StatusNoContent)

	events := w.Events(t, "rollout", id(rollout))
	last := events[len(events)-1]
	if last["eventName"] != "RolloutPromoted" || last["overrideReason"] != "a security fix" {
		t.Errorf("the trail ends with %v", last)
	}
	if got := eventNames(w, t, "freeze", "freeze"); !slices.Equal(got, []string{"FreezeSet", "FreezeLifted"}) {
		t.Errorf("the trail tells %q of the freeze", got)
	}
}

func TestGuard_Freeze_EndsInTheFutureAndWithinThirtyDays(t *testing.T) {
	w := harness.New(t)
	owner := w.Owner(t)
	for _, until := range []time.Time{time.Now().Add(-time.Minute), time.Now().Add(31 * 24 * time.Hour)} {
		owner.Put(t, "/api/ota/freeze", `{"reason":"holidays","until":"`+until.UTC().Format(time.RFC3339)+`"}`).Refused(t, problem.ValidationFailed)
	}
	owner.Put(t, "/api/ota/freeze", `{}`).Refused(t, problem.ValidationFailed)
	owner.Get(t, "/api/ota/freeze").Refused(t, problem.NotFound)
}
