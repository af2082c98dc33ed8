package guard

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"
	"time"

	"wavegate/shared/testing/expect"
)

// TestOutlooks_EachReason_EndsByItself_OrSaysWhatAPersonDoes.
func TestOutlooks_EachReason_EndsByItself_OrSaysWhatAPersonDoes(t *testing.T) {
	file := expect.Value(parser.ParseFile(token.NewFileSet(), "verdict.go", nil, 0))(t)
	reasons := 0
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, is := n.(*ast.ValueSpec); is && spec.Type != nil {
			if of, named := spec.Type.(*ast.Ident); named && of.Name == "Reason" {
				reasons++
			}
		}
		return true
	})
	expect.Equal(t, len(inOrder), reasons, "the reasons that are in order:")
	expect.Equal(t, len(outlooks), reasons, "the reasons that have an outlook:")
	for _, r := range inOrder {
		o := outlooks[r]
		expect.That(t, o.Ends != "" || o.Do != "", "%s: nobody knows how it ends", r)
	}
}

// needed is what a rollout at stage 10 needs because of some reasons.
func needed(change func(*decision), reasons ...Reason) Reason {
	d := decision{policy: Default(), evidence: Evidence{Active: true, Stage: 10, Stages: []StageBoxes{{Percent: 10, Counts: Counts{Expected: 1000}}, {Percent: 50}},
		Taken: &Taken{Boxes: 100, Needed: 80}}}
	d.test, d.at = d.policy.Guard.test(), time.Date(2026, 3, 11, 12, 0, 0, 0, time.UTC)
	d.evidence.Since = d.at.Add(-8 * 24 * time.Hour)
	if change != nil {
		change(&d)
	}
	var found findings
	for _, r := range reasons {
		found.add(true, r, "")
	}
	if n := d.need(Verdict{Stage: 10}, found.sorted()); n != nil {
		return n.Reason
	}
	return ""
}

func TestNeed_APersonIsNeeded_OnceNothingElseIsAwaited(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(*decision)
		reasons []Reason
		want    Reason
	}{
		"it soaks":                              {nil, []Reason{Soaking}, ""},
		"it soaks, and people promote":          {nil, []Reason{Soaking, PeoplePromote}, ""},
		"people promote":                        {nil, []Reason{PeoplePromote}, PeoplePromote},
		"people promote, and the window opens":  {nil, []Reason{PeoplePromote, WindowClosed}, PeoplePromote},
		"one kind is doubtful, while it soaks":  {nil, []Reason{Soaking, KindDoubtful}, KindDoubtful},
		"only an approval is missing":           {nil, []Reason{ApprovalRequired}, ""},
		"too few boxes, and more cannot come":   {nil, []Reason{TooFewTaken}, TooFewTaken},
		"too few boxes, and more may be unseen": {func(d *decision) { d.evidence.Taken.Causes = map[Cause]int{NotPolled: 80} }, []Reason{TooFewTaken}, ""},
		"too few boxes, unseen for weeks": {func(d *decision) {
			d.evidence.Taken.Causes, d.evidence.Since = map[Cause]int{NotPolled: 80}, d.at.Add(-16*24*time.Hour)
		}, []Reason{TooFewTaken}, TooFewTaken},
		"a small stage that the policy leaves to people": {func(d *decision) { d.policy.Guard.SmallFleet = People }, []Reason{EvidenceTooSmall}, PeoplePromote},
		"a channel without boxes":                        {func(d *decision) { d.evidence.Stages = nil }, []Reason{EvidenceTooSmall}, ""},
		"it has ended":                                   {func(d *decision) { d.evidence.Active = false }, []Reason{KindDoubtful}, ""},
	} {
		expect.Equal(t, needed(c.change, c.reasons...), c.want, "%s", name)
	}
}

// TestNeed_IsCounted_AndItsEndIsKeptForTenCounts.
func TestNeed_IsCounted_AndItsEndIsKeptForTenCounts(t *testing.T) {
	var last, over *Need
	next := func(n *Need) { over, last = n.Over(last, over), n.After(last) }
	doubts := &Need{Reason: KindDoubtful, Stage: 10}
	for i := range standsAfter {
		expect.Equal(t, last.Stands(), false, "after some counts it stands:")
		next(doubts)
		expect.Equal(t, last.Counts, i+1, "counts:")
	}
	expect.Equal(t, last.Stands() && last.IsTold() && last.Alarms(), true, "after ten it is told:")
	ended := 0
	for range 3 * standsAfter {
		if next(nil); over != nil {
			expect.Equal(t, over.Reason, KindDoubtful, "what is over:")
			ended++
		}
	}
	expect.Equal(t, ended, standsAfter+1, "its end is kept for")
	next(doubts)
	expect.Equal(t, last.Counts, 1, "it is counted again from")
	next(nil)
	expect.Equal(t, over, nil, "the end of what nobody was told of:")
}
