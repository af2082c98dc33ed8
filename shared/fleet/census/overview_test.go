package census

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/report"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/testing/expect"
)

var overviewNow = time.Date(2026, 3, 2, 9, 30, 0, 0, time.UTC)

// judged makes the last count of a rollout with a verdict and an age.
func judged(v guard.Verdict, age time.Duration, failed int) *Progress {
	return &Progress{
		AsOf: overviewNow.Add(-age), Guard: &Judgement{Verdict: v},
		Stages: []StageCounts{{Percent: 1, Counts: guard.Counts{Expected: 200, Failed: failed}}},
	}
}

func TestNewRow_TroubleIsTheWorstOfTheGuardsLastJudgement(t *testing.T) {
	near := func(bad, more, undecided int) guard.Verdict {
		return guard.Verdict{Action: guard.Hold, Reason: guard.Undecided, Halting: guard.Count{Bad: bad}, Distance: guard.Distance{MoreBad: more, Undecided: undecided}}
	}
	silent := func(treated, control, more int) guard.Verdict {
		return guard.Verdict{Action: guard.Hold, Reason: guard.Silent, Treated: guard.Group{Boxes: 10, Silent: treated}, Control: guard.Group{Boxes: 100, Silent: control},
			Distance: guard.Distance{MoreBad: 20, MoreSilent: more}}
	}
	hold := func(why guard.Reason) guard.Verdict {
		return guard.Verdict{Action: guard.Hold, Reason: why, Distance: guard.Distance{MoreBad: 20, Undecided: 100}}
	}
	failing, needs, promote := hold(guard.Soaking), hold(guard.TooFewTaken), hold(guard.PeoplePromote)
	failing.Retrying = &guard.Retrying{Boxes: 5, Told: 9, Halts: true}
	needs.Needs = &guard.Need{Reason: guard.TooFewTaken, Counts: 10}
	promote.Needs = &guard.Need{Reason: guard.PeoplePromote, Counts: 10}
	unknown := hold(guard.LabelsUnknown)
	unknown.Needs = &guard.Need{Reason: guard.LabelsUnknown, Counts: 10}
	labelled := func(v guard.Verdict) *Progress {
		p := judged(v, 0, 0)
		p.Mislabelled = 3
		return p
	}
	paging := hold(guard.TooFewTaken)
	paging.Pages = true
	for name, c := range map[string]struct {
		last *Progress
		want Trouble
	}{
		"the guard would halt":              {judged(guard.Verdict{Action: guard.Halt}, 0, 0), Halting},
		"it would have, minutes ago":        {judged(guard.Verdict{Action: guard.Halt}, time.Hour, 0), Halting},
		"all boxes get it, and it goes bad": {judged(paging, 0, 0), Bad},
		"one organization":                  {judged(hold(guard.OneOrganization), 0, 0), Bad},
		"2 more bad would halt it":          {judged(near(4, 2, 50), 0, 4), Near},
		"3 more, and only 2 may come":       {judged(near(4, 3, 2), 0, 4), None},
		"4 more":                            {judged(near(4, 4, 50), 0, 4), None},
		"none is bad at all":                {judged(near(0, 2, 50), 0, 0), None},
		"3 more silent would halt it":       {judged(silent(2, 1, 3), 0, 0), Near},
		"as silent as without the release":  {judged(silent(2, 20, 3), 0, 0), None},
		"near a halt, not counted for long": {judged(near(4, 2, 50), time.Hour, 4), Near},
		"not counted for long":              {judged(hold(guard.Soaking), guard.Oldest+time.Second, 0), Stale},
		"counted just in time":              {judged(hold(guard.Soaking), guard.Oldest, 0), None},
		"too few take it":                   {judged(hold(guard.TooFewTaken), 0, 0), Stuck},
		"people promote":                    {judged(hold(guard.PeoplePromote), 0, 0), Waiting},
		"people promote, for long":          {judged(promote, 0, 0), Waiting},
		"5 of 9 failed and may recover":     {judged(failing, 0, 0), Failing},
		"it waits for a person":             {judged(needs, 0, 0), Needs},
		"a second person approves":          {judged(hold(guard.ApprovalRequired), 0, 0), Waiting},
		"without a guard":                   {&Progress{AsOf: overviewNow}, None},
		"never counted, started just now":   {nil, None},
		"mislabelled, without a guard":      {&Progress{AsOf: overviewNow, Mislabelled: 1}, Labels},
		"most are mislabelled":              {labelled(hold(guard.LabelsUnknown)), Labels},
		"they are, for long":                {labelled(unknown), Labels},
		"too few take it, and mislabelled":  {labelled(hold(guard.TooFewTaken)), Labels},
		"one is mislabelled":                {labelled(hold(guard.Soaking)), Labels},
		"one is, and a person approves":     {labelled(hold(guard.ApprovalRequired)), Waiting},
	} {
		r := rollout.Rollout{StartedAt: overviewNow}
		row := newRow(r, c.last, overviewNow)
		expect.That(t, row.Trouble == c.want, "%s: %s, want %s", name, row.Trouble, c.want)
	}
	row := newRow(rollout.Rollout{StartedAt: overviewNow.Add(-time.Hour)}, nil, overviewNow)
	expect.That(t, row.Trouble == Stale && row.Age == 3600, "never counted for an hour: %+v", row)
}

func TestNewRow_AHaltOrAStop_IsTroubleUntilItIsSeen(t *testing.T) {
	hold := func(why guard.Reason) guard.Verdict {
		return guard.Verdict{Action: guard.Hold, Reason: why, Distance: guard.Distance{MoreBad: 20}}
	}
	held := rollout.Rollout{StartedAt: overviewNow, Stop: rollout.Stop{StoppedFor: guard.OneOrganization, StoppedAt: &overviewNow}}
	seen := held
	seen.Seen = &rollout.Mark{At: overviewNow}
	halted := rollout.Rollout{Status: rollout.Halted, StartedAt: overviewNow.Add(-time.Hour), EndedAt: &overviewNow}
	for name, c := range map[string]struct {
		r    rollout.Rollout
		last *Progress
		want Trouble
	}{
		"tells no more boxes":                        {held, judged(hold(guard.TellingStopped), 0, 0), Held},
		"somebody has seen that":                     {seen, judged(hold(guard.OneOrganization), 0, 0), Seen},
		"somebody has seen that, and it gets worse":  {seen, judged(guard.Verdict{Action: guard.Halt}, 0, 0), Halting},
		"somebody has seen that, and it is not read": {seen, judged(hold(guard.Soaking), time.Hour, 0), Stale},
		"halted": {halted, nil, Halted},
	} {
		row := newRow(c.r, c.last, overviewNow)
		expect.That(t, row.Trouble == c.want, "%s: %s, want %s", name, row.Trouble, c.want)
	}
}

// anyRow draws a row.
func anyRow(t *rapid.T) Row {
	r := rollout.Rollout{
		ID:        rapid.StringMatching(`[0-9a-f]{8}`).Draw(t, "id"),
		StartedAt: overviewNow.Add(-time.Duration(rapid.IntRange(0, 300).Draw(t, "started")) * time.Second),
	}
	if rapid.Bool().Draw(t, "never counted") {
		return newRow(r, nil, overviewNow)
	}
	v := guard.Verdict{
		Action:   rapid.SampledFrom([]guard.Action{guard.Hold, guard.Halt, guard.Promote}).Draw(t, "action"),
		Reason:   rapid.SampledFrom([]guard.Reason{guard.Soaking, guard.TooFewTaken, guard.PeoplePromote, guard.OneOrganization}).Draw(t, "reason"),
		Halting:  guard.Count{Bad: rapid.IntRange(0, 5).Draw(t, "bad")},
		Distance: guard.Distance{MoreBad: rapid.IntRange(1, 9).Draw(t, "more"), Undecided: rapid.IntRange(0, 9).Draw(t, "undecided")},
	}
	age := time.Duration(rapid.IntRange(0, 300).Draw(t, "age")) * time.Second
	return newRow(r, judged(v, age, rapid.IntRange(0, 20).Draw(t, "failed")), overviewNow)
}

func TestNewOverview_PagesHaveEachRowOnce_WorstFirst_HoweverTheyWereRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfDistinct(rapid.Custom(anyRow), func(r Row) string { return r.Rollout.ID }).Draw(t, "rows")
		limit := rapid.IntRange(1, 7).Draw(t, "limit")
		var read []Row
		for skip := 0; skip <= len(rows); skip += limit {
			shuffled := slices.Clone(rows)
			rand.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
			page := NewOverview(shuffled, nil, limit, skip)
			sum := 0
			for _, n := range page.Troubles {
				sum += n
			}
			if page.Items == nil || len(page.Items) > limit || page.Active != len(rows) || sum != len(rows) {
				t.Fatalf("a page of %d at %d: %+v", limit, skip, page)
			}
			read = append(read, page.Items...)
		}
		ids := map[string]bool{}
		for i, r := range read {
			ids[r.Rollout.ID] = true
			if i > 0 && slices.Index(Troubles, read[i-1].Trouble) > slices.Index(Troubles, r.Trouble) {
				t.Fatalf("%s comes before %s", read[i-1].Trouble, r.Trouble)
			}
		}
		expect.Must(t, len(read) == len(rows) && len(ids) == len(rows), "%d rows were read of %d", len(ids), len(rows))
	})
}

func TestCompare_MoreBadBoxes_NeverMoveARowDown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyRow(t), anyRow(t)
		if a.Progress == nil || a.Rollout.ID == b.Rollout.ID || a.Compare(b) > 0 {
			return
		}
		worse := *a.Progress
		worse.Stages = []StageCounts{{Counts: guard.Counts{Failed: a.bad() + 1}}}
		a.Progress = &worse
		expect.Must(t, a.Compare(b) <= 0, "%+v comes after %+v", a, b)
	})
}

// TestCompare_HaltedInOneSecond_TheLastIsFirst: whole seconds since then would order them by the moment of the look.
func TestCompare_HaltedInOneSecond_TheLastIsFirst(t *testing.T) {
	at := func(id string, ended time.Duration) rollout.Rollout {
		halted := overviewNow.Add(-time.Minute + ended)
		return rollout.Rollout{ID: id, Status: rollout.Halted, StartedAt: overviewNow.Add(-time.Hour), EndedAt: &halted}
	}
	for look := range 10 {
		now := overviewNow.Add(time.Duration(look) * 100 * time.Millisecond)
		first, last := newRow(at("b", 200*time.Millisecond), nil, now), newRow(at("a", 400*time.Millisecond), nil, now)
		expect.That(t, last.Compare(first) < 0, "%v later, the first that was halted is first", now.Sub(overviewNow))
	}
}

// TestMislabelled_AreThoseWhoseLabelsNeedMore: only boxes that run the target count, and each form makes some labels good.
func TestMislabelled_AreThoseWhoseLabelsNeedMore(t *testing.T) {
	r := rollout.Rollout{ID: "r", EdgeType: "x", Channel: "stable", TargetVersion: "2.0.0", StagedPercent: 100, StartedAt: overviewNow}
	c, other := NewCensus(r, overviewNow), NewCensus(r, overviewNow)
	for i, label := range []string{"v2.0.0", "v2.0.0", "2.0.0+7", "", "v2.0.0"} {
		row := report.Row{EdgeID: fmt.Sprint(i), Running: "2.0.0", Label: label, Offer: &report.Offer{RolloutID: "r", Version: "2.0.0", Stage: 100, State: report.Installed}}
		if i == 4 {
			row.Offer.RolloutID = "an earlier one"
		}
		[]*Census{c, other}[i%2].Add(row.Entry())
	}
	c.Merge(other)
	for form, want := range map[report.Form]int{"": 3, report.Alike: 1, report.IgnoreBuild: 0} {
		expect.Equal(t, c.mislabelled(form), want, "with the form %q, mislabelled are", form)
	}
}
