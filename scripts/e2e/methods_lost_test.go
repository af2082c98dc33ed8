package e2e

import (
	"strings"
	"sync/atomic"
	"testing"

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
