package method

import (
	"testing"
	"time"
)

func TestBusy_WhileSomethingGoesOn(t *testing.T) {
	idle := 5 * time.Minute
	changed := hour(1)
	for name, c := range map[string]struct {
		list Effectivity
		at   time.Time
		want bool
	}{
		"just changed":                {nil, changed.Add(time.Minute), true},
		"changed long ago":            {Effectivity{all(1, 0)}, hour(3), false},
		"a trial":                     {Effectivity{all(1, 0), trial(2, 1, "a")}, hour(3), true},
		"a release in nine minutes":   {Effectivity{all(1, 0), all(2, 4)}, hour(4).Add(-9 * time.Minute), true},
		"a release in eleven minutes": {Effectivity{all(1, 0), all(2, 4)}, hour(4).Add(-11 * time.Minute), false},
	} {
		m := Method{UpdatedAt: &changed, Effectivity: c.list}
		if got := m.busy(c.at, idle); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
