package e2e

import (
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/local/storefront"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/expect"
)

// versionEvents names the events of a version, in order.
func (b *bench) versionEvents(n string) string {
	b.Helper()
	names := eventNames(b.w, b, "production-method-version", id(b.path)+":"+n)
	for i := range names {
		names[i] = strings.TrimPrefix(names[i], "ProductionMethodVersion")
	}
	return strings.Join(names, " ")
}

// inReview is a bench with version 1 waiting for approval.
func inReview(t *testing.T) *bench {
	t.Helper()
	b := benchIn(t, harness.New(t, harness.WithProcesses(2)))
	b.save(1, smallContent).Is(t, http.StatusCreated)
	b.move(b.author, 1, "in_review", "").Is(t, http.StatusOK)
	return b
}

// both makes two moves that are decided on the same state, and returns their statuses in order.
func (b *bench) both(t *testing.T, first, second string) (statuses []int) {
	t.Helper()
	callers := []*harness.Caller{b.approver, b.w.As(t, "otto", "acme", "organization_admin")}
	bodies := []string{first, second}
	_, answers := race(t, b.w, 2, "update-method-version", func(i int) (harness.Answer, error) {
		return callers[i].Try(http.MethodPatch, b.version(1), bodies[i])
	})
	for _, a := range answers {
		statuses = append(statuses, a.Status)
	}
	return statuses
}

func TestRace_TwoApprovers_AreOneReleaseWithBothSignatures(t *testing.T) {
	b := inReview(t)
	released := b.body(1, "released", "")
	got := b.both(t, released, released)
	expect.That(t, slices.Equal(got, []int{200, 200}), "answers %v", got)
	expect.Equal(t, b.versionEvents("1"), "Saved Submitted Released Cosigned", "events:")
	if n := len(b.author.Get(t, b.version(1)).Object(t)["signatures"].([]any)); n != 3 {
		t.Errorf("%d signatures", n)
	}
	n := len(b.author.Get(t, b.path).Object(t)["effectivity"].([]any))
	expect.That(t, n == 1, "%d decisions", n)
}

func TestRace_ApproveAgainstReturn_OneIsMade(t *testing.T) {
	b := inReview(t)
	got := b.both(t, b.body(1, "released", ""), b.body(1, "draft", ""))
	status := b.author.Get(t, b.version(1)).Object(t)["status"]
	switch {
	case status == "released" && slices.Equal(got, []int{200, 409}) && b.versionEvents("1") == "Saved Submitted Released":
	case status == "draft" && slices.Equal(got, []int{409, 200}) && b.versionEvents("1") == "Saved Submitted Returned":
	default:
		t.Errorf("answers %v, status %v, events %s", got, status, b.versionEvents("1"))
	}
}

// Two people withdraw a version at the same time. Whichever comes first, machines are told to stop in the end.
func TestRace_FinishAgainstStop_EndsWithStop(t *testing.T) {
	b := inReview(t)
	b.move(b.approver, 1, "released", "").Is(t, http.StatusOK)
	got := b.both(t, `{"status":"withdrawn","reason":"worn","orders":"finish"}`, `{"status":"withdrawn","reason":"danger","orders":"stop"}`)
	if got[1] != http.StatusOK || got[0] != http.StatusOK && got[0] != http.StatusConflict {
		t.Errorf("answers %v", got)
	}
	v := b.author.Get(t, b.version(1)).Object(t)
	signatures := v["signatures"].([]any)
	last := signatures[len(signatures)-1].(map[string]any)
	expect.That(t, v["orders"] == "stop" && last["reason"] == "danger", "orders %v, signed last: %v", v["orders"], last)
}

// A withdrawal is never refused: whichever comes first, the version is withdrawn in the end.
func TestRace_ReleaseAgainstWithdrawal_EndsWithdrawn(t *testing.T) {
	b := inReview(t)
	got := b.both(t, b.body(1, "released", ""), `{"status":"withdrawn","reason":"stop"}`)
	if got[1] != http.StatusOK || got[0] != http.StatusOK && got[0] != http.StatusConflict {
		t.Errorf("answers %v", got)
	}
	want := "Saved Submitted Released Withdrawn"
	if got[0] == http.StatusConflict {
		want = "Saved Submitted Withdrawn"
	}
	if status := b.author.Get(t, b.version(1)).Object(t)["status"]; status != "withdrawn" || b.versionEvents("1") != want {
		t.Errorf("status %v, events %s, want %s", status, b.versionEvents("1"), want)
	}
	if got := b.holds("press-1", time.Time{}); got != 0 {
		t.Errorf("version %d holds", got)
	}
}

// TestMethods_LostAnswers_AreFoundAgain loses the answer of each change to a version after it was
// committed. The caller sends the change again, and nothing is done twice.
func TestMethods_LostAnswers_AreFoundAgain(t *testing.T) {
	b := newBench(t)
	var lose atomic.Bool
	b.w.Front.Intercept(func(c *storefront.Call) storefront.Effect {
		if c.Operation == "TransactWriteItems" && lose.CompareAndSwap(true, false) {
			return storefront.Effect{DropAnswer: true}
		}
		return storefront.Effect{}
	})
	again := func(what string, call func() harness.Answer) {
		t.Helper()
		lose.Store(true)
		if a := call(); a.Status/100 != 2 {
			again := call()
			expect.That(t, again.Status/100 == 2, "%s: %d first, then %d %s", what, a.Status, again.Status, again.Body)
			t.Logf("%s: %d first", what, a.Status)
		}
		expect.That(t, !lose.Load(), "%s: no answer was lost", what)
	}
	again("save", func() harness.Answer { return b.save(1, smallContent) })
	again("submit", func() harness.Answer { return b.move(b.author, 1, "in_review", "") })
	again("trial", func() harness.Answer { return b.move(b.approver, 1, "trial", `,"machines":["press-1"]`) })
	again("release", func() harness.Answer { return b.move(b.approver, 1, "released", `,"firstArticle":{"reference":"F"}`) })
	again("withdraw", func() harness.Answer { return b.move(b.approver, 1, "withdrawn", "") })
	expect.Equal(t, b.versionEvents("1"), "Saved Submitted Tried Released Withdrawn", "events:")
	n := len(b.w.Items(t, dynamo.MethodContents))
	expect.That(t, n == 1, "%d contents", n)
}
