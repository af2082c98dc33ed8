package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

func TestMethods_Withdrawal_MayReinstate_AtOnceOrLater(t *testing.T) {
	b := newBench(t)
	b.release(1, smallContent)
	b.release(2, another("Two"))
	b.move(b.author, 2, "withdrawn", `,"reinstate":1,"orders":"finish"`).Is(t, http.StatusOK)
	expect.Equal(t, b.holds("press-1", time.Time{}), 1, "reinstated is")
	b.release(3, another("Three"))
	// Reinstating an unsuitable version is refused. The answer says what holds, and nothing is withdrawn.
	d := b.move(b.author, 3, "withdrawn", `,"reinstate":2`).Refused(t, problem.InvalidStateTransition)
	if !strings.Contains(d.Detail, "Version 3 is released on all machines") || b.holds("press-1", time.Time{}) != 3 {
		t.Errorf("%s", d.Detail)
	}
	b.move(b.author, 3, "withdrawn", "").Is(t, http.StatusOK)
	got := b.holds("press-1", time.Time{})
	expect.That(t, got == 0, "version %d holds", got)
	later := b.move(b.author, 3, "withdrawn", `,"reinstate":1`).Is(t, http.StatusOK).Object(t)
	holds := later["holds"].([]any)
	if later["changed"] != true || len(holds) != 1 || holds[0].(map[string]any)["version"] != 1.0 || b.holds("press-1", time.Time{}) != 1 {
		t.Errorf("reinstated later: %v", later)
	}
}

// TestMethods_Recall_FromFinishToStop_IsToldToMachines: the second instruction is not dropped, and cannot be revoked.
func TestMethods_Recall_FromFinishToStop_IsToldToMachines(t *testing.T) {
	b := newBench(t)
	b.release(1, smallContent)
	told := func() string {
		var poll struct {
			Items []struct{ Withdrawn []struct{ Orders string } }
		}
		b.author.Get(t, "/api/factories/munich-1/machines/press-1/methods?methodId="+id(b.path)).Into(t, &poll)
		expect.Must(t, len(poll.Items) == 1 && len(poll.Items[0].Withdrawn) == 1, "the poll tells %+v", poll)
		return poll.Items[0].Withdrawn[0].Orders
	}
	b.move(b.author, 1, "withdrawn", `,"orders":"finish"`).Is(t, http.StatusOK)
	expect.Equal(t, told(), "finish", "told")
	stop := `{"status":"withdrawn","reason":"Danger to operators","orders":"stop"}`
	answer := b.author.Patch(t, b.version(1), stop).Is(t, http.StatusOK)
	if got := answer.Object(t); got["changed"] != true || got["version"].(map[string]any)["orders"] != "stop" {
		t.Errorf("answered %s", answer.Body)
	}
	expect.Equal(t, told(), "stop", "told")
	events := b.w.Events(t, "production-method-version", id(b.path)+":1")
	reason := events[len(events)-1]["reason"]
	expect.That(t, reason == "Danger to operators", "the trail has the reason %v", reason)
	again := b.author.Patch(t, b.version(1), stop).Is(t, http.StatusOK).Object(t)
	if again["changed"] != false || len(b.w.Events(t, "production-method-version", id(b.path)+":1")) != len(events) {
		t.Errorf("the same again: %v", again)
	}
	d := b.move(b.author, 1, "withdrawn", `,"orders":"finish"`).Refused(t, problem.InvalidStateTransition)
	expect.That(t, strings.Contains(d.Detail, "told to stop"), "%s", d.Detail)
}

// TestMethods_Standing_IsShown: whether a released version holds follows from later decisions.
func TestMethods_Standing_IsShown(t *testing.T) {
	b := newBench(t)
	b.release(1, smallContent)
	b.save(2, another("Two")).Is(t, http.StatusCreated)
	b.move(b.author, 2, "in_review", "").Is(t, http.StatusOK)
	later := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	b.move(b.approver, 2, "released", fmt.Sprintf(`,"effectiveFrom":%q`, later)).Is(t, http.StatusOK)
	standings := func() string {
		var page struct {
			Items []struct{ Standing string }
		}
		b.author.Get(t, b.path+"/versions").Is(t, http.StatusOK).Into(t, &page)
		one := b.author.Get(t, b.version(1)).Object(t)["standing"]
		if one != page.Items[1].Standing {
			t.Errorf("version 1 is shown as %v, and in the list as %s", one, page.Items[1].Standing)
		}
		return page.Items[0].Standing + " " + page.Items[1].Standing
	}
	if got := standings(); got != "scheduled holds" {
		t.Error(got)
	}
	moved := b.move(b.approver, 2, "released", "").Is(t, http.StatusOK).Object(t)
	if got := standings(); got != "holds superseded" || moved["changed"] != true {
		t.Error(got, moved)
	}
}

func TestMethods_OfAnotherOrganization_AreNotThere(t *testing.T) {
	b := newBench(t)
	b.release(1, smallContent)
	rival := b.w.Engineer(t, "rival")
	rivalBox := b.w.Box(t, "box-rival")
	nowhere := strings.Replace(b.path, "munich-1", "nowhere-1", 1)
	for _, c := range []struct{ method, path, body string }{
		{http.MethodGet, "/versions", ""}, {http.MethodGet, "/versions/1", ""}, {http.MethodGet, "/versions/1/content", ""},
		{http.MethodGet, "/versions/1/changes?since=1", ""}, {http.MethodPut, "/versions/2/content", smallContent},
		{http.MethodPatch, "/versions/1", `{"status":"withdrawn","reason":"x"}`},
	} {
		for _, by := range []*harness.Caller{rival, rivalBox} {
			foreign := by.Do(t, c.method, b.path+c.path, c.body)
			absent := by.Do(t, c.method, nowhere+c.path, c.body)
			if by == rivalBox && foreign.Status == http.StatusForbidden {
				continue // not for boxes
			}
			foreign.Refused(t, problem.NotFound)
			got, want := masked(t, foreign), masked(t, absent)
			expect.That(t, got == want, "%s %s: %s, for a missing one %s", c.method, c.path, got, want)
		}
	}
	poll := "/machines/press-1/methods?methodId=" + id(b.path)
	for _, by := range []*harness.Caller{rival, rivalBox} {
		foreign := by.Get(t, "/api/factories/munich-1"+poll)
		foreign.Refused(t, problem.NotFound)
		got, want := masked(t, foreign), masked(t, by.Get(t, "/api/factories/nowhere-1"+poll))
		expect.That(t, got == want, "poll: %s, for a missing one %s", got, want)
	}
	// A method of one factory does not exist in another one of the same organization.
	factory(t, b.w, "munich-2", "acme")
	b.author.Get(t, strings.Replace(b.version(1), "munich-1", "munich-2", 1)).Refused(t, problem.NotFound)
	b.author.Get(t, strings.Replace(b.version(1)+"/content", "munich-1", "munich-2", 1)).Refused(t, problem.NotFound)
	b.author.Patch(t, strings.Replace(b.version(1), "munich-1", "munich-2", 1), `{"status":"withdrawn","reason":"x"}`).Refused(t, problem.NotFound)
}

// masked is a problem without the values of its call.
func masked(t testing.TB, a harness.Answer) string {
	t.Helper()
	d := expect.Value(a.Problem())(t)
	d.RequestID, d.Instance = "", ""
	text := expect.Value(json.Marshal(d))(t)
	return fmt.Sprint(a.Status, string(text))
}

func TestMethods_ByStatus_AreListed(t *testing.T) {
	b := newBench(t)
	b.save(1, smallContent).Is(t, http.StatusCreated)
	count := func(query string) int {
		return len(b.author.Get(t, methods+query).Is(t, http.StatusOK).Object(t)["items"].([]any))
	}
	expect.That(t, count("?status=draft") == 1 && count("?status=in_review") == 0, "the draft is not listed as one")
	b.move(b.author, 1, "in_review", "").Is(t, http.StatusOK)
	expect.That(t, count("?status=draft") == 0 && count("?status=in_review") == 1 && count("") == 1,
		"the version in review is not listed as one")
	b.author.Get(t, methods+"?status=draft&productId=7b0f2c52-6e0b-4f53-9f51-0c5d6a3c1e11").Refused(t, problem.ValidationFailed)
}
