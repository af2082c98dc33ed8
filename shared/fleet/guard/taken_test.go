package guard_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"wavegate/shared/fleet/guard"
	"wavegate/shared/testing/expect"
)

// tooFew is the sentence of a stage of which 600 of 900 boxes are good, and the others are not for these causes.
func tooFew(causes map[guard.Cause]int) string {
	e := healthy(10)
	e.Taken.Good, e.Taken.Causes = 600, causes
	return guard.Decide(acting(), e, now).Sentence
}

const (
	goOn = "to go on without such boxes, lower the policy's taken"
	look = "the release may be the cause for"
)

// TestTooFewTaken_OffersToGoOn_OnlyIfTheReleaseCannotBeTheCause: not for a single box that may be dead.
func TestTooFewTaken_OffersToGoOn_OnlyIfTheReleaseCannotBeTheCause(t *testing.T) {
	for cause, offers := range map[guard.Cause]bool{
		guard.Download: true, guard.Space: true, guard.Power: true, guard.Deferred: true, guard.Waiting: true, guard.NotPolled: true, guard.NotTold: true,
		guard.Unheard: false, guard.NotInstalled: false, guard.Vanished: false, guard.Bad: false, guard.Unrest: false, guard.Gone: false,
	} {
		says := tooFew(map[guard.Cause]int{cause: 300})
		expect.That(t, strings.Contains(says, goOn) == offers && strings.Contains(says, look) != offers, "%s: %s", cause, says)
		says = tooFew(map[guard.Cause]int{guard.Space: 299, cause: 1})
		expect.That(t, strings.Contains(says, goOn) == offers, "one %s among others: %s", cause, says)
	}
}

// TestMislabelled_AreNeverLeftOut: a person looks at what they say.
func TestMislabelled_AreNeverLeftOut(t *testing.T) {
	const set = "set versionForm of their edge type"
	says := tooFew(map[guard.Cause]int{guard.Mislabelled: 300})
	expect.That(t, strings.Contains(says, "300 run it and say so in other words (mislabelled); look at what these boxes say") && strings.Contains(says, set) &&
		!strings.Contains(says, goOn) && !strings.Contains(says, look), "%s", says)
	says = tooFew(map[guard.Cause]int{guard.Mislabelled: 200, guard.Unheard: 100})
	expect.That(t, strings.Contains(says, look+" 100 of them") && !strings.Contains(says, goOn), "with others: %s", says)
	e := healthy(10)
	installed := 0
	for _, b := range e.Stages {
		installed += b.Installed
	}
	for mislabelled, holds := range map[int]bool{0: false, 1: false, installed/2 - 1: false, (installed + 1) / 2: true, installed: true} {
		e.Mislabelled = mislabelled
		v := guard.Decide(acting(), e, now)
		expect.Equal(t, v.Action == guard.Hold && v.Reason == guard.LabelsUnknown, holds, "%d of %d are mislabelled: %s", mislabelled, installed, v.Sentence)
		expect.That(t, !v.Stops && v.Action != guard.Halt && (!holds || strings.Contains(v.Needs.Do, set)), "%+v", v)
	}
}

func TestTooFewTaken_SaysHowManyBoxesHaveEachCause(t *testing.T) {
	expect.Equal(t, tooFew(map[guard.Cause]int{guard.Unheard: 200, guard.NotInstalled: 90, guard.NotPolled: 10}),
		"Hold: 600 of 900 boxes have run the release for a soak, and 720 are needed: of the others, 200 were told it and have gone silent, "+
			"90 were told it, still call and have not installed it, 10 have not polled since the rollout began, so were not told; "+
			"the release may be the cause for 290 of them, so look at these before you go on; "+
			"with 0 undecided, 23 more bad boxes or 13 more silent halt it.", "the sentence")
}

// TestRetrying_FailuresThatWouldHalt_SayUntilWhen: they may recover, so they do not count as bad yet. No further box must fail.
func TestRetrying_FailuresThatWouldHalt_SayUntilWhen(t *testing.T) {
	until := now.Add(21 * time.Minute)
	for failed, halts := range map[int]bool{5: false, 40: true} {
		e := healthy(10)
		at(&e).Retrying, at(&e).RetryUntil = failed, until
		v := guard.Decide(acting(), e, now)
		expect.Equal(t, *v.Retrying, guard.Retrying{Boxes: failed, Told: 1000, Until: until, Halts: halts}, "the boxes that may recover are")
		says := fmt.Sprintf("%d of 1000 boxes that were told the release failed and may try again", failed)
		if halts {
			says += "; if they do not recover by 2026-03-11T12:21:00Z, the guard halts"
		}
		expect.That(t, v.Action != guard.Halt && (v.Action == guard.Promote || strings.Contains(v.Sentence, says)), "%s", v.Sentence)
		expect.Equal(t, strings.Contains(v.Sentence, "more bad boxes"), !halts && v.Action == guard.Hold, "it counts further boxes")
	}
}

// TestCulprit_AKindThatIsHarmedLikeAllOthers_IsNotBlamed: all boxes with the release are silent, so no kind is to blame.
func TestCulprit_AKindThatIsHarmedLikeAllOthers_IsNotBlamed(t *testing.T) {
	kind := func(value string, silent int) guard.Kind {
		return guard.Kind{Name: guard.OfOrganization, Value: value, Share: guard.Share{
			Told: 30, Treated: guard.Group{Boxes: 30, Silent: silent}, Control: guard.Group{Boxes: 300}}}
	}
	for name, c := range map[string]struct {
		all, others int
		blamed      bool
	}{"like the others": {840, 28, false}, "more than the others": {120, 3, true}} {
		e := healthy(10)
		e.New, at(&e).Treated.Silent = true, c.all
		e.Kinds = []guard.Kind{{Name: guard.OfAll, Share: guard.Share{Treated: guard.Group{Boxes: 90, Silent: 30 + 2*c.others}, Control: guard.Group{Boxes: 900}}}, kind("acme", 30), kind("initech", c.others), kind("hooli", c.others)}
		v := guard.Decide(acting(), e, now)
		expect.That(t, v.Action == guard.Halt && (v.Culprit != nil) == c.blamed, "%s: %s %+v", name, v.Sentence, v.Culprit)
	}
}
