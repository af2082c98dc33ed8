package rollouts

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/scripts/operator/terminal"
	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/report"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

// judged is a view of a rollout that a guard watches.
func judged(action guard.Action, reason guard.Reason) view {
	return view{
		rollout: rollout.Rollout{EdgeType: "gateway-x", Channel: "stable", PreviousVersion: "1.0.0", TargetVersion: "1.1.0", StagedPercent: 10,
			Status: rollout.Active, Terms: &rollout.Terms{}, StartedAt: time.Now(), StageSince: time.Now(), StartedBy: audit.Person{UserID: "olga"}},
		progress: &census.Progress{AsOf: time.Now().Add(-20 * time.Second), StagedPercent: 10,
			Failures: map[report.FailureCode]int{"boot": 1, "health": 2},
			Stages: []census.StageCounts{
				{Percent: 1, Counts: guard.Counts{Expected: 103, Installed: 102, Offered: 1}},
				{Percent: 10, Counts: guard.Counts{Expected: 926, Installed: 96, Offered: 400, Working: 71, Failed: 3,
					Reverted: 1, NotYetPolled: 355}},
				{Percent: 50, Counts: guard.Counts{Expected: 4102}}, {Percent: 100, Counts: guard.Counts{Expected: 5130}},
			},
			Guard: &census.Judgement{Verdict: guard.Verdict{Stage: 10, Action: action, Reason: reason,
				Sentence: "55 more clean boxes clear it,\x1b[2J 4 more bad ones halt it."}}},
	}
}

// shown is the text of a view.
func shown(v view) string {
	var b strings.Builder
	for _, l := range terminal.Wrapped(v.lines(0, time.Now()), 0) {
		b.WriteString(l.Text + "\n")
	}
	return b.String()
}

// shows fails unless the view shows some texts, and none of others.
func (v view) shows(t *testing.T, texts []string, not ...string) {
	t.Helper()
	text := shown(v)
	for _, want := range texts {
		expect.That(t, strings.Contains(text, want), "it does not show %q:\n%s", want, text)
	}
	for _, other := range not {
		expect.That(t, !strings.Contains(text, other), "it shows %q:\n%s", other, text)
	}
}

func TestView_ShowsStages_BadBoxes_AndTheGuardsSentence(t *testing.T) {
	judged(guard.Hold, guard.Soaking).shows(t,
		[]string{"gateway-x/stable  1.0.0 → 1.1.0\nactive at 10 % since", "by olga\n", "counted 20 s ago",
			" stage  boxes  told  installed  on its way  failed  reverted\n",
			"  10 %    926   571         96         471       3         1\n",
			"so far  1,029   674        198         472       3         1\n", "  50 %  4,102\n",
			"failures  health 2, boot 1, reverted 1", "guard     55 more clean boxes clear it,[2J 4 more bad ones halt it.",
			"next      50 % (+4,102)"})
	line := judged(guard.Hold, guard.Soaking).brief()
	want := "198 of 1,029 installed, 472 on its way, 3 failed, 1 reverted, 355 not told yet, 0 silent. Guard: 55 more clean"
	expect.That(t, strings.Contains(line, want), "the line is %s", line)
}

func TestView_AgainstTheGuard(t *testing.T) {
	other := judged(guard.Promote, guard.Clear)
	other.rollout.StagedPercent = 50
	for name, c := range map[string]struct {
		view    view
		against bool
	}{
		"it would halt":                 {judged(guard.Halt, guard.TooManyBad), true},
		"it soaks":                      {judged(guard.Hold, guard.Soaking), true},
		"people promote":                {judged(guard.Hold, guard.PeoplePromote), false},
		"it would promote":              {judged(guard.Promote, guard.Clear), false},
		"it would complete":             {judged(guard.Complete, guard.Clear), false},
		"it has not judged this stage":  {other, true},
		"there is no guard":             {view{}, false},
		"a release that is not counted": {view{rollout: other.rollout}, false},
	} {
		t.Run(name, func(t *testing.T) {
			expect.Equal(t, c.view.against(), c.against, "against it:")
		})
	}
}

func TestEarlier_OfVersionsThatAreMadeOfNumbers(t *testing.T) {
	for _, c := range []struct {
		a, b    string
		earlier bool
	}{
		{"1.0.0", "1.1.0", true}, {"1.9.0", "1.10.0", true}, {"1.1.0", "1.1.0", false}, {"2.0", "1.9.9", false},
		{"v1", "v2", true}, {"1.0.0-rc1", "2.0.0", false}, {"", "1", false},
	} {
		t.Run(c.a+" and "+c.b, func(t *testing.T) {
			expect.Equal(t, earlier(c.a, c.b), c.earlier, "earlier:")
		})
	}
}

// TestView_HasOneSetOfCounts: if the guard's sentence has fewer bad boxes than have failed, the view explains why.
func TestView_HasOneSetOfCounts(t *testing.T) {
	v := judged(guard.Halt, guard.TooManyBad)
	v.progress.Guard.Halting.Bad = 2
	v.shows(t, []string{"failures  health 2, boot 1, reverted 1; the guard counted 2 as bad, because the others could still retry\n"})
	for stage, bad := range map[int]int{0: 4, 10: 4, 1: 0} {
		v.progress.Guard.Halting.Percent, v.progress.Guard.Halting.Bad = stage, bad
		v.shows(t, nil, "the guard counted")
	}
}

// TestView_NothingIsTold_ThatWasNotRead: before the first count, and before the guard has judged.
func TestView_NothingIsTold_ThatWasNotRead(t *testing.T) {
	v := judged(guard.Hold, guard.Soaking)
	v.progress.Guard = nil
	v.shows(t, []string{"guard     it has not judged the rollout yet"})
	v.progress = nil
	v.shows(t, []string{"its boxes have not been counted yet"}, "\nguard", "\nsilent", "\nnext", "\nstage", "\nfailures")
	got := v.moreBoxes(50)
	expect.That(t, strings.Contains(got, "not been counted yet"), "a question says %q", got)
}

func TestView_IsActiveSinceItsStageBegan_WhateverWasChangedSince(t *testing.T) {
	v := judged(guard.Hold, guard.Soaking)
	at := time.Date(2026, 3, 2, 8, 15, 0, 0, time.Local)
	v.rollout.StartedAt, v.rollout.StageSince, v.rollout.UpdatedAt = at.Add(-time.Hour), at, at.Add(time.Hour)
	expect.Equal(t, v.standing(at.Add(2*time.Hour)), "active at 10 % since 2026-03-02 08:15, started 2026-03-02 07:15 by olga", "the standing is")
}

func TestHealth_SaysItInAFewWords(t *testing.T) {
	for name, c := range map[string]struct {
		trouble census.Trouble
		change  func(*view, *census.Judgement)
		want    string
	}{
		"two bad boxes from a halt": {census.Near, func(_ *view, g *census.Judgement) { g.Distance.MoreBad = 2 },
			"! 2 more bad boxes would halt it"},
		"one silent box from a halt": {census.Near, func(_ *view, g *census.Judgement) {
			g.Distance.MoreBad, g.Distance.MoreSilent, g.Treated.Silent = 4, 1, 3
		}, "! 1 more silent box would halt it"},
		"healthy": {census.None, func(_ *view, g *census.Judgement) { g.Distance.MoreBad = 5 },
			"5 more bad boxes would halt it"},
		"the guard would halt it":  {census.Halting, nil, "! the guard would halt it"},
		"bad for one organization": {census.Bad, func(_ *view, g *census.Judgement) { g.Organization = "acme" }, "! bad only for acme"},
		"bad for everybody":        {census.Bad, nil, "! going bad, and all boxes get it"},
		"not counted lately":       {census.Stale, nil, "! not counted for 3 min"},
		"never counted":            {census.Stale, func(v *view, _ *census.Judgement) { v.progress = nil }, "! never counted, active for 3 min"},
		"many failed, and may recover": {census.Failing, func(_ *view, g *census.Judgement) {
			g.Retrying = &guard.Retrying{Boxes: 5, Told: 9, Halts: true, Until: time.Date(2026, 3, 2, 3, 21, 0, 0, time.Local)}
		}, "! 5 failed; unless they recover by 2026-03-02 03:21, it halts"},
		"it waits for a person": {census.Needs, func(_ *view, g *census.Judgement) {
			g.Needs = &guard.Need{Reason: guard.TooFewTaken, Do: "look at the boxes; then halt it", Counts: 10}
		}, "! needs you: look at the boxes"},
		"few take it": {census.Stuck, nil, "! too few boxes take it"},
		"people have to approve": {census.Waiting,
			func(_ *view, g *census.Judgement) { g.Reason = guard.ApprovalRequired }, "waits for the approval of 50 %"},
		"people have to promote": {census.Waiting, func(_ *view, g *census.Judgement) { g.Reason = guard.PeoplePromote },
			"waits for people to promote"},
		"not counted yet": {census.None, func(v *view, _ *census.Judgement) { v.progress = nil }, "not counted yet"},
		"changed since the verdict": {census.None, func(v *view, _ *census.Judgement) { v.rollout.Revision = 9 },
			"not judged since the last change"},
		"no guard": {census.None,
			func(v *view, _ *census.Judgement) { v.rollout.Terms, v.progress.Guard = nil, nil }, "3 failed, 1 reverted"},
		"soaking, far from a halt": {census.None, func(_ *view, g *census.Judgement) {
			g.Distance.MoreBad, g.Distance.Soaked, g.Distance.Soak = -1, 7200, 86400
		}, "soaked 2 h of 24 h"},
		"approved since the last count": {census.None, func(v *view, _ *census.Judgement) {
			v.rollout.Revision, v.rollout.Terms.Approvals = 9, []rollout.Approval{{Stage: 50, By: audit.Person{UserID: "anna"}}}
		}, "50 % is approved by anna; not judged since the last change"},
	} {
		t.Run(name, func(t *testing.T) {
			v := judged(guard.Hold, guard.Soaking)
			if c.change != nil {
				c.change(&v, v.progress.Guard)
			}
			expect.Equal(t, v.health(c.trouble, 3*time.Minute), c.want, "the health is")
		})
	}
}

// TestTable_EachCountIsOnce: the stages add up to the total, on a wide screen and on a narrow one.
func TestTable_EachCountIsOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := judged(guard.Hold, guard.Soaking)
		some := rapid.IntRange(0, 200_000)
		var sum guard.Counts
		for i := range v.progress.Stages {
			c := guard.Counts{NotYetPolled: some.Draw(t, "waiting"), Offered: some.Draw(t, "offered"), Working: some.Draw(t, "working"),
				Deferred: some.Draw(t, "deferred"), Installed: some.Draw(t, "installed"), Failed: some.Draw(t, "failed"),
				Reverted: some.Draw(t, "reverted")}
			c.Expected = c.NotYetPolled + onItsWay(c) + c.Installed + c.Failed + c.Reverted
			if told(c) != onItsWay(c)+c.Installed+c.Failed+c.Reverted {
				t.Fatalf("%d were told of %+v", told(c), c)
			}
			if v.progress.Stages[i].Counts = c; v.progress.Stages[i].Percent <= 10 {
				sum.Expected, sum.Installed, sum.Failed, sum.Reverted = sum.Expected+c.Expected, sum.Installed+c.Installed,
					sum.Failed+c.Failed, sum.Reverted+c.Reverted
			}
		}
		for _, columns := range []int{40, 140} {
			table := v.table(columns)
			expect.Must(t, len(table) == 6 && strings.HasPrefix(table[3], "so far"), "the table is %q", table)
			for _, n := range []int{sum.Expected, sum.Installed, sum.Failed, sum.Reverted} {
				if !strings.Contains(table[3], count(n)) {
					t.Fatalf("%d is not in %q", n, table[3])
				}
			}
		}
	})
}

// FuzzWithoutComments checks that a document without comments stays unchanged, and that only whole lines are dropped.
func FuzzWithoutComments(f *testing.F) {
	f.Add([]byte("// what for\n{\n  // and why\n  \"a\": \"// not this\"\n}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		want := strings.Split(string(text), "\n")
		for i, line := range want {
			if strings.HasPrefix(strings.TrimSpace(line), "//") {
				want[i] = ""
			}
		}
		got := string(withoutComments(text))
		expect.Must(t, got == strings.Join(want, "\n"), "%q became %q", text, got)
	})
}
