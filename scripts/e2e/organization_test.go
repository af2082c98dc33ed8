package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

// assigned registers boxes of an organization and returns their ids.
func assigned(t *testing.T, w *harness.World, organization string, n int) (ids []string) {
	t.Helper()
	for i := range n {
		id := fmt.Sprintf("%s-%d", organization, i)
		w.Owner(t).Put(t, "/api/edges/"+id, `{"edgeType":"gateway-x","channel":"stable","organizationId":"`+organization+`"}`).Is(t, http.StatusCreated)
		ids = append(ids, id)
	}
	return ids
}

// toldNow polls as a box and returns the version of the answer.
func toldNow(t *testing.T, w *harness.World, box string) string {
	t.Helper()
	var m struct{ Version string }
	w.Box(t, box).Get(t, manifestPath(box)+"?installed=1.0.0").Is(t, http.StatusOK).Into(t, &m)
	return m.Version
}

// TestOneOrganization_WhoseBoxesAllFail_StopsTelling_AndGoesOnWithoutIt from the first failure to the adoption.
func TestOneOrganization_WhoseBoxesAllFail_StopsTelling_AndGoesOnWithoutIt(t *testing.T) {
	t.Parallel()
	w := harness.New(t, lookEachSecond)
	owner := w.Owner(t)
	good, bad := assigned(t, w, "acme", 26), assigned(t, w, "globex", 8)
	rollout := judgedRollout(t, w, quickly)
	for _, percent := range []string{"10", "50", "100"} {
		owner.Patch(t, rollout, `{"staged_percent":`+percent+`}`).Is(t, http.StatusNoContent)
	}
	for _, box := range good[:24] {
		toldNow(t, w, box)
		w.Box(t, box).Get(t, manifestPath(box)+"?installed=1.1.0").Is(t, http.StatusOK)
	}
	for _, box := range bad[:6] {
		failsAtBoot(t, w, box)
	}
	if last := verdict(t, w, rollout); last["eventName"] != "RolloutTellingStopped" {
		t.Fatalf("the trail ends with %v", last)
	}
	var r struct {
		Status, StoppedFor string
		Without            []string
		Adopted            bool
	}
	owner.Get(t, rollout).Is(t, http.StatusOK).Into(t, &r)
	expect.That(t, r.Status == "active" && r.StoppedFor == "ONE_ORGANIZATION", "the rollout is %+v", r)
	if told, late := toldNow(t, w, bad[0]), toldNow(t, w, good[24]); told != "1.1.0" || late != "1.0.0" {
		t.Errorf("a box that was told is told %s, another one %s", told, late)
	}

	d := owner.Patch(t, rollout, `{"status":"halted","without":["globex"],"everywhere":"yes"}`).Refused(t, problem.ValidationFailed)
	expect.That(t, len(d.Errors) == 2, "faults %+v", d.Errors)
	owner.Patch(t, rollout, `{"status":"active","everywhere":true}`).Refused(t, problem.ValidationFailed)
	d = owner.Patch(t, rollout, `{"status":"active","without":["globex","nobody","nowhere"]}`).Refused(t, problem.ValidationFailed)
	expect.That(t, len(d.Errors) == 2 && d.Errors[0].Pointer == "/without/1" && d.Errors[1].Pointer == "/without/2",
		"faults %+v", d.Errors)
	owner.Patch(t, rollout, `{"status":"active","without":["globex"]}`).Is(t, http.StatusNoContent)
	other, late := toldNow(t, w, bad[7]), toldNow(t, w, good[24])
	expect.That(t, other == "1.0.0" && late == "1.1.0", "a box of globex is told %s, one of acme %s", other, late)
	last := verdict(t, w, rollout)
	expect.That(t, last["eventName"] == "RolloutResumed", "the trail ends with %v", last)
	text := string(owner.Get(t, rollout+"/progress").Is(t, http.StatusOK).Body)
	expect.That(t, strings.Contains(text, `"excluded":8`), "the progress is %s", text)

	owner.Patch(t, rollout, `{"status":"completed"}`).Is(t, http.StatusNoContent)
	owner.Get(t, rollout).Is(t, http.StatusOK).Into(t, &r)
	if kept, others := toldNow(t, w, bad[7]), toldNow(t, w, good[25]); !r.Adopted || kept != "1.0.0" || others != "1.1.0" {
		t.Errorf("adopted: %t; globex keeps %s, acme is told %s", r.Adopted, kept, others)
	}
	owner.Put(t, "/api/ota/release-channels/gateway-x/stable", release("1.1.0", digest("b"))).Is(t, http.StatusNoContent)
	expect.Equal(t, toldNow(t, w, bad[7]), "1.1.0", "after a publication, globex is told")
}

// TestResume_TheGuardActsAgainOnWhatIsNew: what was bad at the resumption does not halt the rollout, one more failure of
// another box does.
func TestResume_TheGuardActsAgainOnWhatIsNew(t *testing.T) {
	t.Parallel()
	w := harness.New(t, lookEachSecond)
	rollout := everyStage(t, w, []string{"box-1", "box-2", "box-3", "box-4"})
	failsAtBoot(t, w, "box-1")
	failsAtBoot(t, w, "box-2")
	if last := verdict(t, w, rollout); last["eventName"] != "RolloutHalted" {
		t.Fatalf("the trail ends with %v", last)
	}
	w.Owner(t).Patch(t, rollout, `{"status":"active"}`).Is(t, http.StatusNoContent)
	if last := verdict(t, w, rollout); last["eventName"] != "RolloutResumed" {
		t.Fatalf("the trail ends with %v", last)
	}
	text := string(w.Owner(t).Get(t, rollout+"/progress").Is(t, http.StatusOK).Body)
	expect.That(t, strings.Contains(text, `"left":2`), "the progress is %s", text)
	failsAtBoot(t, w, "box-3")
	failsAtBoot(t, w, "box-4")
	if last := verdict(t, w, rollout); last["eventName"] != "RolloutHalted" || last["actor"].(map[string]any)["userId"] != "guard" {
		t.Errorf("the trail ends with %v", last)
	}
}

// TestEverywhere_AHalt_ReachesTheVersionOnEveryChannelOfTheType and no other version.
func TestEverywhere_AHalt_ReachesTheVersionOnEveryChannelOfTheType(t *testing.T) {
	t.Parallel()
	w := harness.New(t)
	owner := w.Owner(t)
	rollout := judgedRollout(t, w, `{}`)
	started := map[string]string{}
	for channel, version := range map[string]string{"beta": "1.1.0", "nightly": "1.1.0", "other": "1.2.0"} {
		owner.Put(t, "/api/ota/release-channels/gateway-x/"+channel, release("1.0.0", digest("a"))).Is(t, http.StatusCreated)
		owner.Put(t, "/api/ota/release-channels/gateway-x/of-"+channel, release(version, digest(map[string]string{"1.1.0": "b", "1.2.0": "c"}[version]))).Is(t, http.StatusCreated)
		started[channel] = owner.Post(t, rollouts, plan("gateway-x", channel, version)).Is(t, http.StatusCreated).Header.Get("Location")
	}
	for range 2 { // a repeated call changes nothing
		owner.Patch(t, rollout, `{"status":"halted","everywhere":true,"reason":"it bricks"}`).Is(t, http.StatusNoContent)
	}
	for channel, want := range map[string]string{"beta": "halted", "nightly": "halted", "other": "active"} {
		var r struct{ Status string }
		owner.Get(t, started[channel]).Is(t, http.StatusOK).Into(t, &r)
		if names := eventNames(w, t, "rollout", id(started[channel])); r.Status != want || len(names) != map[string]int{"halted": 2, "active": 1}[want] {
			t.Errorf("%s is %s after %q", channel, r.Status, names)
		}
	}
}
