package guard_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"wavegate/shared/fleet/guard"
	"wavegate/shared/platform/input"
	"wavegate/shared/testing/expect"
)

func TestFor_TheSoakOfStage10_IsAWeekUnlessTheReleaseIsForSecurityOrItIsGiven(t *testing.T) {
	for name, c := range map[string]struct {
		policy   string
		security bool
		want     guard.Duration
		fast     bool
	}{
		"nothing given":                 {`{}`, false, "P7D", false},
		"other soaks given":             {`{"promote":{"soak":{"1":"P2D"}}}`, false, "P7D", false},
		"security":                      {`{}`, true, "P1D", true},
		"given":                         {`{"promote":{"soak":{"10":"P1D"}}}`, false, "P1D", true},
		"given, for security":           {`{"promote":{"soak":{"10":"P7D"}}}`, true, "P7D", false},
		"a week at stage 1":             {`{"promote":{"soak":{"1":"P7D","10":"P1D"}}}`, false, "P1D", false},
		"longer, by another time limit": {`{"guard":{"decideWithin":"P7D"},"promote":{"soak":{"10":"PT0S"}}}`, false, "PT0S", false},
	} {
		t.Run(name, func(t *testing.T) {
			read, faults := input.Parse([]byte(c.policy), func(o *input.Object) guard.Policy { return guard.Read(o, time.Minute) })
			p := read.For(c.security)
			if len(faults) > 0 || p.Promote.Soak.At10 != c.want {
				t.Errorf("soaks for %s, want %s; faults %v", p.Promote.Soak.At10, c.want, faults)
			}
			if fast := p.Fast(); (fast != "") != c.fast || c.fast && !strings.Contains(fast, "P1D instead of a week") {
				t.Errorf("fast: %q", fast)
			}
			if again := p.For(!c.security); again.Promote.Soak != p.Promote.Soak {
				t.Errorf("a settled policy changes to %v", again.Promote.Soak)
			}
		})
	}
}

// TestRead_ThePresetFast_IsHoursInsteadOfDays_ForBoxesThatPollOften.
func TestRead_ThePresetFast_IsHoursInsteadOfDays_ForBoxesThatPollOften(t *testing.T) {
	for name, c := range map[string]struct{ policy, fault string }{
		"alone":                 {`{"preset":"fast"}`, ""},
		"with other fields":     {`{"preset":"fast","onHalt":"return","guard":{"taken":0.9,"silentAfter":"PT20M"},"promote":{"windows":[{"days":["mon"],"from":"08:00","to":"20:00","timeZone":"UTC"}]}}`, ""},
		"with a soak":           {`{"preset":"fast","promote":{"soak":{"10":"PT1H"}}}`, "preset"},
		"with a longer silence": {`{"preset":"fast","guard":{"silentAfter":"PT2H"}}`, "preset"},
		"another":               {`{"preset":"slow"}`, "preset"},
	} {
		p, faults := guard.Parse([]byte(c.policy), time.Minute)
		expect.Must(t, (len(faults) > 0) == (c.fault != ""), "%s: faults %v", name, faults)
		if c.fault != "" {
			expect.That(t, strings.Contains(faults[0].Parameter+faults[0].Pointer, c.fault), "%s: faults %v", name, faults)
			continue
		}
		sum := time.Duration(0)
		for _, percent := range []int{1, 10, 50, 100} {
			sum += p.SoakAt(percent)
		}
		expect.That(t, p.Hurries() && p.Promote.Auto && sum == 10*time.Hour && p.SoakAt(1) == 2*time.Hour, "%s: soaks %v, %v in all", name, p.Promote.Soak, sum)
		expect.That(t, strings.Contains(p.Fast(), "what shows later hurts all"), "%s: %s", name, p.Fast())
		again, faults := guard.Parse([]byte(`{"preset":"fast"}`), time.Minute)
		expect.That(t, len(faults) == 0 && again.TooSlow(15*time.Minute) == "" && strings.Contains(again.TooSlow(time.Hour), "PT2H"), "boxes that poll hourly: %q", again.TooSlow(time.Hour))
	}
	expect.Equal(t, guard.Default().TooSlow(12*time.Hour), "", "any other policy is too fast for boxes that poll rarely:")
}

// TestFast_AtTen_WaitsForKindsThatTheStageDoesNotContain.
func TestFast_AtTen_WaitsForKindsThatTheStageDoesNotContain(t *testing.T) {
	kind := func(name, value string, reached, silent, others int) guard.Kind {
		return guard.Kind{Name: name, Value: value, Share: guard.Share{Told: reached, Decided: reached,
			Treated: guard.Group{Boxes: reached, Silent: silent}, Control: guard.Group{Boxes: others}}}
	}
	common := kind("revision", "A", 800, 0, 7000)
	for name, c := range map[string]struct {
		preset string
		at     int
		with   guard.Kind
		holds  bool
		named  string
	}{
		"a kind of forty, none of it reached":       {"fast", 10, kind("revision", "B", 0, 0, 40), true, "revision B (40 boxes)"},
		"one of it lives":                           {"fast", 10, kind("revision", "B", 1, 0, 39), false, ""},
		"one of it was reached, and is silent":      {"fast", 10, kind("revision", "B", 1, 1, 39), true, "revision B (40 boxes)"},
		"a kind of 25":                              {"fast", 10, kind("revision", "B", 0, 0, 25), false, "revision B (25 boxes)"},
		"a kind of 15":                              {"fast", 10, kind("revision", "B", 0, 0, 15), false, ""},
		"a plant of sixty":                          {"fast", 10, kind("factory", "plant-7", 0, 0, 60), false, "factory plant-7 (60 boxes)"},
		"a kind of forty, by a policy in no hurry":  {"", 10, kind("revision", "B", 0, 0, 40), false, "revision B (40 boxes)"},
		"a kind of forty, at 1":                     {"fast", 1, kind("revision", "B", 0, 0, 40), false, "revision B (40 boxes)"},
		"a kind of forty, at 50, where none is new": {"fast", 50, kind("revision", "B", 0, 0, 40), false, ""},
	} {
		e := healthy(c.at)
		e.Kinds = []guard.Kind{common, c.with, {Name: guard.OfAll, Share: common.Share}}
		p := acting()
		if p.Preset = c.preset; c.preset != "" {
			p.Promote.Soak = guard.Soak{}
		}
		v := guard.Decide(p, e, now)
		expect.That(t, slices.Contains(v.Reasons, guard.KindAbsent) == c.holds && (v.Action == guard.Promote) != c.holds, "%s: %s", name, v.Sentence)
		expect.That(t, strings.Contains(v.Sentence, c.named) && (c.named != "") == strings.Contains(v.Sentence, "no box has lived"), "%s: %s", name, v.Sentence)
	}
}
