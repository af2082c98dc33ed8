package command

import (
	"strings"
	"testing"
	"time"

	"wavegate/scripts/operator/api"
)

// judged is a view of a rollout that a guard watches.
func judged(verdict, reason string) view {
	v := view{rollout: api.Rollout{EdgeType: "gateway-x", Channel: "stable", PreviousVersion: "1.0.0", TargetVersion: "1.1.0",
		StagedPercent: 10, Status: "active", StartedAt: time.Now(), StageSince: time.Now(), StartedBy: api.Person{UserID: "olga"}}}
	v.progress = &api.Progress{AsOf: time.Now().Add(-20 * time.Second), StagedPercent: 10, Failures: map[string]int{"boot": 1, "health": 2},
		Stages: []api.StageProgress{{Percent: 1, Expected: 103, Installed: 102, Offered: 1}, {Percent: 10, Expected: 926, Installed: 96, Offered: 400, Working: 71, Failed: 3, Reverted: 1, NotYetPolled: 355},
			{Percent: 50, Expected: 4102}, {Percent: 100, Expected: 5130}},
		Guard: &api.Guard{Stage: 10, Verdict: verdict, Reason: reason, Sentence: "55 more clean boxes clear it,\x1b[2J 4 more bad ones halt it."}}
	return v
}

// shown is the text of a view.
func shown(v view) string {
	var b strings.Builder
	for _, l := range wrapped(v.lines(0, time.Now()), 0) {
		b.WriteString(l.text + "\n")
	}
	return b.String()
}

func TestView_ShowsStages_BadBoxes_AndTheGuardsSentence(t *testing.T) {
	text := shown(judged("hold", "SOAKING"))
	for _, want := range []string{"gateway-x/stable  1.0.0 → 1.1.0\nactive at 10 % since", "by olga\n", "counted 20 s ago",
		" stage  boxes  told  installed  on its way  failed  reverted\n",
		"  10 %    926   571         96         471       3         1\n", "so far  1,029   674        198         472       3         1\n", "  50 %  4,102\n",
		"failures  health 2, boot 1, reverted 1", "guard     55 more clean boxes clear it,[2J 4 more bad ones halt it.", "next      50 % (+4,102)"} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not show %q:\n%s", want, text)
		}
	}
	line := judged("hold", "SOAKING").brief()
	if want := "198 of 1,029 installed, 472 on its way, 3 failed, 1 reverted, 355 not told yet, 0 silent. Guard: 55 more clean"; !strings.Contains(line, want) {
		t.Errorf("the line is %s", line)
	}
}

func TestView_AgainstTheGuard(t *testing.T) {
	for _, c := range []struct {
		verdict, reason string
		against         bool
	}{
		{"halt", "TOO_MANY_BAD", true}, {"hold", "SOAKING", true}, {"hold", "PEOPLE_PROMOTE", false}, {"promote", "CLEAR", false}, {"complete", "CLEAR", false},
	} {
		if got := judged(c.verdict, c.reason).against(); got != c.against {
			t.Errorf("%s, %s: %v", c.verdict, c.reason, got)
		}
	}
	next := judged("promote", "CLEAR")
	if next.rollout.StagedPercent = 50; !next.against() {
		t.Error("the guard has not judged the stage yet, and nothing is against a promotion")
	}
	if (view{}).against() {
		t.Error("without a guard nothing is against a promotion")
	}
}

func TestEarlier_OfVersionsThatAreMadeOfNumbers(t *testing.T) {
	for _, c := range []struct {
		a, b    string
		earlier bool
	}{
		{"1.0.0", "1.1.0", true}, {"1.9.0", "1.10.0", true}, {"1.1.0", "1.1.0", false}, {"2.0", "1.9.9", false}, {"v1", "v2", true}, {"1.0.0-rc1", "2.0.0", false}, {"", "1", false},
	} {
		if got := earlier(c.a, c.b); got != c.earlier {
			t.Errorf("earlier(%q, %q) is %v", c.a, c.b, got)
		}
	}
}

// TestView_HasOneSetOfCounts: if the guard's sentence has fewer bad boxes than have failed, the view explains why.
func TestView_HasOneSetOfCounts(t *testing.T) {
	v := judged("halt", "TOO_MANY_BAD")
	v.progress.Guard.Halting.Bad = 2
	if text := shown(v); !strings.Contains(text, "failures  health 2, boot 1, reverted 1; the guard counted 2 as bad, because the others could still retry\n") {
		t.Errorf("it shows\n%s", text)
	}
	for stage, bad := range map[int]int{0: 4, 10: 4, 1: 0} {
		v.progress.Guard.Halting.Percent, v.progress.Guard.Halting.Bad = stage, bad
		if text := shown(v); strings.Contains(text, "the guard counted") {
			t.Errorf("%d bad of stage %d: it shows\n%s", bad, stage, text)
		}
	}
}

// TestView_NothingIsTold_ThatWasNotRead: before the first count, and before the guard has judged.
func TestView_NothingIsTold_ThatWasNotRead(t *testing.T) {
	v := judged("hold", "SOAKING")
	v.progress.Guard = nil
	if text := shown(v); !strings.Contains(text, "guard     it has not judged the rollout yet") {
		t.Errorf("it shows\n%s", text)
	}
	v.progress = nil
	text := shown(v)
	if !strings.Contains(text, "its boxes have not been counted yet") {
		t.Errorf("it shows\n%s", text)
	}
	for _, not := range []string{"guard", "silent", "next", "stage", "failures"} {
		if strings.Contains(text, "\n"+not) {
			t.Errorf("it tells of %s:\n%s", not, text)
		}
	}
	if got := v.moreBoxes(50); !strings.Contains(got, "not been counted yet") {
		t.Errorf("a question says %q", got)
	}
}

func TestView_IsActiveSinceItsStageBegan_WhateverWasChangedSince(t *testing.T) {
	v := judged("hold", "SOAKING")
	at := time.Date(2026, 3, 2, 8, 15, 0, 0, time.Local)
	v.rollout.StartedAt, v.rollout.StageSince, v.rollout.UpdatedAt = at.Add(-time.Hour), at, at.Add(time.Hour)
	if got := v.standing(at.Add(2 * time.Hour)); got != "active at 10 % since 2026-03-02 08:15, started 2026-03-02 07:15 by olga" {
		t.Errorf("it is %s", got)
	}
}

func TestHealth_SaysItInAFewWords(t *testing.T) {
	for name, c := range map[string]struct {
		trouble string
		change  func(*view)
		want    string
	}{
		"two bad boxes from a halt": {"near", func(v *view) { v.progress.Guard.Distance.MoreBad = 2 }, "! 2 more bad boxes would halt it"},
		"one silent box from a halt": {"near", func(v *view) {
			v.progress.Guard.Distance.MoreBad, v.progress.Guard.Distance.MoreSilent, v.progress.Guard.Treated.Silent = 4, 1, 3
		}, "! 1 more silent box would halt it"},
		"healthy":                   {"none", func(v *view) { v.progress.Guard.Distance.MoreBad = 5 }, "5 more bad boxes would halt it"},
		"the guard would halt it":   {"halting", func(*view) {}, "! the guard would halt it"},
		"bad for one organization":  {"bad", func(v *view) { v.progress.Guard.Organization = "acme" }, "! bad only for acme"},
		"bad for everybody":         {"bad", func(*view) {}, "! going bad, and all boxes get it"},
		"not counted lately":        {"stale", func(*view) {}, "! not counted for 3 min"},
		"never counted":             {"stale", func(v *view) { v.progress = nil }, "! never counted, active for 3 min"},
		"few take it":               {"stuck", func(*view) {}, "! too few boxes take it"},
		"people have to approve":    {"waiting", func(v *view) { v.progress.Guard.Reason = "APPROVAL_REQUIRED" }, "waits for the approval of 50 %"},
		"people have to promote":    {"waiting", func(v *view) { v.progress.Guard.Reason = "PEOPLE_PROMOTE" }, "waits for people to promote"},
		"not counted yet":           {"none", func(v *view) { v.progress = nil }, "not counted yet"},
		"changed since the verdict": {"none", func(v *view) { v.rollout.Revision = 9 }, "not judged since the last change"},
		"no guard":                  {"none", func(v *view) { v.rollout.Guard, v.progress.Guard = "none", nil }, "3 failed, 1 reverted"},
		"soaking, far from a halt": {"none", func(v *view) {
			v.progress.Guard.Distance.MoreBad, v.progress.Guard.Distance.SoakedSeconds, v.progress.Guard.Distance.SoakSeconds = -1, 7200, 86400
		}, "soaked 2 h of 24 h"},
		"approved since the last count": {"none", func(v *view) {
			v.rollout.Revision, v.rollout.Terms = 9, &api.Terms{Approvals: []api.Approval{{Stage: 50, By: api.Person{UserID: "anna"}}}}
		}, "50 % is approved by anna; not judged since the last change"},
	} {
		v := judged("hold", "SOAKING")
		c.change(&v)
		if got := v.health(c.trouble, 3*time.Minute); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
