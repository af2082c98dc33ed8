package method

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	_ "wavegate/shared/testing/raced" // few cases under the race detector

	"wavegate/shared/testing/expect"
)

func hour(n int) time.Time { return start.Add(time.Duration(n) * time.Hour) }

// all is a release of a version; trial is a trial.
func all(version int64, from int) Decision { return Decision{Version: version, From: hour(from)} }

func trial(version int64, from int, machines ...string) Decision {
	return Decision{Version: version, From: hour(from), Machines: machines}
}

func TestAt_TheLatestDecisionThatHasBegunHolds(t *testing.T) {
	for name, c := range map[string]struct {
		list Effectivity
		at   int
		want map[string]int64 // version by machine
	}{
		"nothing decided":                     {nil, 0, map[string]int64{"a": 0}},
		"before a release":                    {Effectivity{all(1, 2)}, 1, map[string]int64{"a": 0}},
		"from a release on":                   {Effectivity{all(1, 2)}, 2, map[string]int64{"a": 1}},
		"a trial on one machine":              {Effectivity{all(1, 0), trial(2, 1, "a")}, 1, map[string]int64{"a": 2, "b": 1}},
		"a release after a trial":             {Effectivity{all(1, 0), trial(2, 1, "a"), all(3, 2)}, 2, map[string]int64{"a": 3, "b": 3}},
		"a trial decided after a later start": {Effectivity{all(1, 5), trial(2, 1, "a")}, 6, map[string]int64{"a": 2, "b": 1}},
		"an earlier start decided later":      {Effectivity{all(1, 5), all(2, 3)}, 6, map[string]int64{"a": 2}},
	} {
		for machine, want := range c.want {
			expect.Equal(t, c.list.versionAt(machine, hour(c.at)), want, "%s: machine %s has", name, machine)
		}
	}
}

func TestNext_IsTheNextDecisionThatHolds(t *testing.T) {
	list := Effectivity{all(1, 0), all(4, 9), all(2, 5), trial(3, 3, "a")}
	for _, c := range []struct {
		machine string
		at      int
		version int64
		from    int
	}{{"a", 1, 3, 3}, {"a", 3, 0, 0}, {"b", 1, 2, 5}, {"b", 4, 2, 5}, {"b", 6, 0, 0}} {
		next, ok := list.Next(c.machine, hour(c.at))
		if next.Version != c.version || ok != (c.version > 0) || ok && !next.From.Equal(hour(c.from)) {
			t.Errorf("machine %s at %d: %+v, %v", c.machine, c.at, next, ok)
		}
	}
}

func TestWithout_RestoresNoSupersededVersion(t *testing.T) {
	for name, c := range map[string]struct {
		list     Effectivity
		withdraw int64
		at       int
		want     map[string]int64
	}{
		"the only decision":                 {Effectivity{all(1, 0)}, 1, 1, map[string]int64{"a": 0}},
		"a version that superseded another": {Effectivity{all(1, 0), all(2, 1)}, 2, 2, map[string]int64{"a": 0}},
		"a trial":                           {Effectivity{all(1, 0), trial(2, 1, "a")}, 2, 2, map[string]int64{"a": 1, "b": 1}},
		"during a trial that remains":       {Effectivity{all(1, 0), trial(2, 1, "a")}, 1, 2, map[string]int64{"a": 2, "b": 0}},
		"before it takes effect":            {Effectivity{all(1, 0), all(2, 5)}, 2, 2, map[string]int64{"a": 1}},
	} {
		got := c.list.without(c.withdraw, hour(c.at))
		for machine, want := range c.want {
			expect.Equal(t, got.versionAt(machine, hour(c.at)), want, "%s: machine %s has", name, machine)
		}
	}
}

// TestHoldings_AgreeWithAt: each listed version holds on its machines, and no longer than listed.
func TestHoldings_AgreeWithAt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list, at := drawList(t), rapid.IntRange(0, 12).Draw(t, "at")
		now, next := list.Holdings(hour(at))
		on := map[string]int64{}
		rest := int64(0)
		for _, h := range now {
			if len(h.Machines) == 0 {
				rest = h.Version
			}
			for _, machine := range h.Machines {
				on[machine] = h.Version
			}
			if h.Until != nil {
				for _, machine := range append([]string{"d"}, h.Machines...) {
					if d, held := list.At(machine, *h.Until); held && d.From.Equal(h.From) && d.Version == h.Version && (len(h.Machines) == 0) == d.everywhere() {
						t.Fatalf("%+v still holds on %s at %s", h, machine, h.Until)
					}
				}
			}
		}
		for _, machine := range []string{"a", "b", "c", "d"} {
			want := list.versionAt(machine, hour(at))
			got, trial := on[machine]
			if !trial {
				got = rest
			}
			expect.Must(t, got == want, "machine %s: %d is listed, %d holds: %+v of %v", machine, got, want, now, list)
		}
		for _, h := range next {
			expect.Must(t, h.From.After(hour(at)), "%+v follows, but has begun", h)
		}
	})
}

func drawList(t *rapid.T) Effectivity {
	var list Effectivity
	for range rapid.IntRange(0, 8).Draw(t, "decisions") {
		d := all(int64(rapid.IntRange(1, 6).Draw(t, "version")), rapid.IntRange(0, 12).Draw(t, "from"))
		if rapid.Bool().Draw(t, "trial") {
			d.Machines = rapid.SampledFrom([][]string{{"a"}, {"b"}, {"a", "b"}, {"a", "b", "c"}}).Draw(t, "machines")
		}
		list = append(list, d)
	}
	return list
}

func TestPrune_DoesNotChangeWhichVersionHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list, now := drawList(t), rapid.IntRange(0, 12).Draw(t, "now")
		kept := list.Prune(hour(now))
		for _, machine := range []string{"a", "b", "c", "d"} {
			for at := now; at <= 14; at++ {
				expect.Must(t, kept.versionAt(machine, hour(at)) == list.versionAt(machine, hour(at)),
					"machine %s at %d: %v, was %v", machine, at, kept, list)
			}
		}
		again := kept.Prune(hour(now))
		expect.Must(t, len(again) == len(kept), "pruned twice: %v, once: %v", again, kept)
	})
}

func TestNext_AgreesWithAt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list, at := drawList(t), rapid.IntRange(0, 12).Draw(t, "at")
		machine := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "machine")
		want := "nothing"
		for later := at + 1; later <= 13; later++ {
			if v := list.versionAt(machine, hour(later)); v != list.versionAt(machine, hour(at)) {
				want = fmt.Sprintf("%d at %d", v, later)
				break
			}
		}
		got := "nothing"
		if next, ok := list.Next(machine, hour(at)); ok {
			got = fmt.Sprintf("%d at %.0f", next.Version, next.From.Sub(start).Hours())
		}
		expect.Must(t, got == want, "%s, want %s; %v", got, want, list)
	})
}

func TestWithout_NeverHoldsAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list, now := drawList(t), rapid.IntRange(0, 12).Draw(t, "now")
		version := int64(rapid.IntRange(1, 6).Draw(t, "withdrawn"))
		rest := list.without(version, hour(now))
		expect.Must(t, !slices.ContainsFunc(rest, func(d Decision) bool { return d.Version == version }), "%v", rest)
	})
}
