package command

import (
	"strings"
	"testing"
	"time"

	"wavegate/scripts/operator/api"
)

// judged is a view of a rollout that a guard watches.
func judged(verdict, reason string) view {
	v := view{document: []byte("{}"), rollout: api.Rollout{EdgeType: "gateway-x", Channel: "stable", PreviousVersion: "1.0.0", TargetVersion: "1.1.0",
		StagedPercent: 10, Status: "active", UpdatedAt: time.Now()}}
	v.progress = api.Progress{AsOf: time.Now().Add(-20 * time.Second), StagedPercent: 10, Failures: map[string]int{"boot": 1, "health": 2},
		Stages: []api.StageProgress{{Percent: 1, Expected: 103, Installed: 102, Offered: 1}, {Percent: 10, Expected: 926, Installed: 96, Offered: 400, Working: 71, Failed: 3, Reverted: 1, NotYetPolled: 355},
			{Percent: 50, Expected: 4102}, {Percent: 100, Expected: 5130}},
		Guard: &api.Guard{Stage: 10, Verdict: verdict, Reason: reason, Sentence: "55 more clean boxes clear it,\x1b[2J 4 more bad ones halt it."}}
	return v
}

func TestView_ShowsStages_BadBoxes_AndTheGuardsSentence(t *testing.T) {
	text := judged("hold", "SOAKING").block(paint{})
	for _, want := range []string{"gateway-x/stable  1.0.0 → 1.1.0  at 10 %, active since", "counted 20s ago", "10 %    926         96         471       3         1         355",
		"bad       4: health 2, boot 1, reverted 1", "guard     55 more clean boxes clear it,[2J 4 more bad ones halt it.", "next      50 % (+4102)"} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not show %q:\n%s", want, text)
		}
	}
	line := judged("hold", "SOAKING").line()
	if want := "198 of 1029 installed, 472 on its way, 3 failed, 1 reverted, 355 not polled, 0 silent. Guard: 55 more clean"; !strings.Contains(line, want) {
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
		t.Error("the guard has not judged the stage yet, and nothing is against a raise")
	}
	if (view{}).against() {
		t.Error("without a guard nothing is against a raise")
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
