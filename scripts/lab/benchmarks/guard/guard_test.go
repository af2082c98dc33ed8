package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"wavegate/shared/fleet/guard"
)

// trials of each row; the tables of the results take two hundred times as many.
const trials = 500

// most is how many trials may be wrong if a rule is wrong with a chance. More are seen less than once in a million
// runs.
func most(chance float64) int {
	const improbable = 1e-6
	term := math.Exp(trials * math.Log1p(-chance)) // of 0 trials
	sum := term
	for k := 0; ; k++ {
		if 1-sum < improbable {
			return k
		}
		term *= float64(trials-k) / float64(k+1) * chance / (1 - chance)
		sum += term
	}
}

// ofGuard is what became of the guard's trials.
func ofGuard(tallies []tally) [3]int { return tallies[0].of }

func TestFailures_TheGuardIsWrongNoMoreOftenThanItSays(t *testing.T) {
	for _, o := range orders {
		if o.clustered {
			continue // Wald's limits are for independent boxes
		}
		// Wald's bound for halts, for any number of looks.
		if got := ofGuard(failureRow(0.01, o, trials)); got[halted] > most(guard.Alpha/(1-guard.Beta)) {
			t.Errorf("%s: %d of %d acceptable releases were halted", o.name, got[halted], trials)
		}
		if got := ofGuard(failureRow(0.05, o, trials)); got[promoted] > most(guard.Beta) {
			t.Errorf("%s: %d of %d intolerable releases were promoted", o.name, got[promoted], trials)
		}
	}
}

func TestSilence_TheGuardIsWrongNoMoreOftenThanItSays(t *testing.T) {
	for _, s := range scenarios {
		if got := ofGuard(s.run(trials)); got[halted] > most(guard.Alpha) {
			t.Errorf("%s: %d of %d acceptable releases were halted", s.name(), got[halted], trials)
		}
		s.bricked = 0.05
		got, allowed := ofGuard(s.run(trials)), most(guard.Beta)
		if s.treated < test.Needs() {
			// All boxes of a small stage may be well by chance, and no rule can tell.
			allowed = most(math.Pow(1-s.bricked, float64(s.treated)))
		}
		if got[promoted] > allowed {
			t.Errorf("%s: %d of %d releases that brick 5 percent were promoted", s.name(), got[promoted], trials)
		}
	}
}

func TestSilence_ReleasesThatBrick_AreHalted(t *testing.T) {
	for _, s := range scenarios[:3] { // where few plants are off
		s.bricked = 0.05
		if got := ofGuard(s.run(trials)); got[halted] < trials*9/10 {
			t.Errorf("%s: %d of %d releases that brick 5 percent were halted", s.name(), got[halted], trials)
		}
	}
}

func TestSilence_PlantsThatGoDarkTogether_NeitherHaltNorPromote(t *testing.T) {
	i := slices.IndexFunc(scenarios, func(s scenario) bool { return strings.Contains(s.weather.name, "together") })
	if got := ofGuard(scenarios[i].run(trials)); got[held] < trials*9/10 {
		t.Errorf("%d of %d releases were held", got[held], trials)
	}
}

// TestDecide_DoesWhatIsSimulated compares the guard's decision with that of the simulated parts.
func TestDecide_DoesWhatIsSimulated(t *testing.T) {
	policy, now := guard.Default(), time.Date(2026, 3, 11, 12, 0, 0, 0, time.UTC)
	r := rand.New(rand.NewPCG(17, 17))
	for range 200 {
		decided := r.IntN(stageSize + 1)
		bad := min(decided, r.IntN(60))
		treated, control := guard.Group{Boxes: 800 + r.IntN(200)}, guard.Group{Boxes: 800 + r.IntN(200)}
		treated.Silent, control.Silent = r.IntN(200), r.IntN(200)
		minute := 30 + r.IntN(2*soak)
		e := guard.Evidence{
			Active: true, Stage: 10, CountedAt: 10, Since: now.Add(-time.Duration(minute) * time.Minute), AsOf: now, Interval: time.Minute,
			Stages: []guard.Boxes{
				{Percent: 10, Expected: stageSize, Offered: stageSize - decided, Installed: decided - bad, Reverted: bad},
				{Percent: 50, Expected: 4 * stageSize},
			},
			Silence: guard.Silence{Treated: treated, Control: control},
		}
		l := look{treated: treated, control: control, minute: minute}
		want := held
		switch failures := failureRules[0].look(stageSize, decided, bad, true); {
		case failures == halted || silenceRules[0].halts(l):
			want = halted
		case failures == promoted && minute >= soak && silenceRules[0].passes(l):
			want = promoted
		}
		v := guard.Decide(policy, e, now)
		if got := map[guard.Action]outcome{guard.Hold: held, guard.Halt: halted, guard.Promote: promoted}[v.Action]; got != want {
			t.Errorf("%d bad of %d, %+v, minute %d: %s", bad, decided, l, minute, v.Sentence)
		}
	}
}

func TestRun_GivesTheSameTableAgain(t *testing.T) {
	a, b := failureRow(0.05, orders[0], 100), failureRow(0.05, orders[0], 100)
	for i := range a {
		if a[i].cell() != b[i].cell() {
			t.Errorf("%s: %s, and then %s", failureRules[i].name, a[i].cell(), b[i].cell())
		}
	}
}
