package report_test

import (
	"maps"
	"math"
	"strings"
	"testing"
	"time"

	"wavegate/shared/fleet/report"
	"wavegate/shared/testing/expect"
)

func TestNumbersOf_KeepsWhatWasAskedFor(t *testing.T) {
	asked := []string{"cycle", "crashes"}
	for said, want := range map[string]map[string]float64{
		"":                         nil,
		"cycle:12.5":               {"cycle": 12.5},
		"cycle:12.5 crashes:0":     {"cycle": 12.5, "crashes": 0},
		"cycle:1e12":               {"cycle": 1e12},
		"cycle:1e13 crashes:1":     {"crashes": 1},
		"cycle:1e300":              nil,
		"cycle:1e-13":              nil,
		"cycle:NaN crashes:Inf":    nil,
		"cycle:-1 crashes:-0":      nil,
		"cycle:0x10 crashes:1_0":   nil,
		"heat:1 Cycle:1 cycle":     nil,
		"cycle:1 cycle:2":          nil,
		"cycle:x cycle:2":          nil,
		"cycle:1 crashes:1 heat:1": {"cycle": 1, "crashes": 1},
	} {
		got := report.NumbersOf(strings.Fields(said), asked)
		expect.That(t, maps.Equal(got, want) && (got == nil) == (want == nil), "%q: %v, want %v", said, got, want)
	}
	got := report.NumbersOf(append(make([]string, 32), "cycle:1"), asked)
	expect.That(t, got == nil, "after many others: %v", got)
}

// FuzzNumbersOf: whatever a box says, only sane numbers that it was asked for count.
func FuzzNumbersOf(f *testing.F) {
	for _, said := range []string{"cycle:1 crashes:0", "cycle:1 cycle:2", "cycle:NaN", "cycle:-0", "cycle:1e309", "heat:0x1p-2", "cycle:1_0", ":", "cycle:\x00"} {
		f.Add(said)
	}
	f.Fuzz(func(t *testing.T, text string) {
		said := strings.Split(text, " ")
		for name, n := range report.NumbersOf(said, []string{"cycle", "crashes"}) {
			times := 0
			for _, s := range said {
				if strings.HasPrefix(s, name+":") || s == name {
					times++
				}
			}
			if (name != "cycle" && name != "crashes") || !(n == 0 || n >= 1e-12 && n <= 1e12) || math.Signbit(n) || times != 1 && len(said) <= 32 {
				t.Errorf("%q: %s is %v", text, name, n)
			}
		}
	})
}

// TestHealth_BeforeIsWhatABoxSaidWithoutTheTarget, and its row changes once an hour, or with the version.
func TestHealth_BeforeIsWhatABoxSaidWithoutTheTarget(t *testing.T) {
	now := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	row := report.Row{}.Registered(report.Registration{EdgeID: "b", EdgeType: "x", Channel: "s", OrganizationID: "acme", At: now})
	says := func(after time.Duration, running, target string, cycle float64) (changed bool) {
		now = now.Add(after)
		p := report.Polled{Told: "2", Running: running, Subject: "b", At: now, NumbersFor: target}
		if cycle > 0 {
			p.Numbers = map[string]float64{"cycle": cycle}
		}
		row, changed = report.Next(row, p)
		return changed
	}
	is := func(step string, before, at float64) {
		t.Helper()
		expect.Equal(t, [2]float64{row.Health.Before["cycle"], row.Health.Now["cycle"]}, [2]float64{before, at}, "%s: before and now", step)
	}
	says(0, "1", "2", 10)
	is("the first", 10, 10)
	expect.That(t, !says(40*time.Minute, "1", "2", 11), "the row changes within an hour")
	says(20*time.Minute, "1", "2", 12)
	is("an hour later", 10, 12)
	says(time.Minute, "2", "2", 0)
	is("with the target, without a number", 10, 12)
	expect.Equal(t, row.Health.Running, "1", "of the number")
	says(time.Minute, "2", "2", 13)
	is("with the target", 10, 13)
	says(2*time.Hour, "1", "2", 14)
	is("after it fell back", 10, 14)
	says(0, "1", "3", 15)
	is("for another target", 15, 15)
	says(time.Hour, "3", "4", 16)
	says(time.Hour, "4", "4", 17)
	is("for the next target", 16, 17)
	row.Health = nil
	says(time.Hour, "4", "4", 18)
	is("for the first time with the target", 0, 18)
	moved := row.Registered(report.Registration{EdgeID: "b", EdgeType: "x", Channel: "s", OrganizationID: "other", At: now})
	if moved.Health != nil || row.Registered(report.Registration{EdgeID: "b", EdgeType: "x", Channel: "c", OrganizationID: "acme", At: now}).Health == nil {
		t.Error("the numbers of another organization stay, or a move removes them")
	}
}
