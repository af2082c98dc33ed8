package guard_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"wavegate/shared/fleet/guard"
	"wavegate/shared/testing/expect"
)

// young are boxes that were registered since the start.
func young(change func(*guard.Young)) guard.Young {
	y := guard.Young{At: now, Number: 1, Told: 40, Treated: guard.Group{Boxes: 40}, Control: guard.Group{Boxes: 300}, Organizations: 2}
	change(&y)
	return y
}

// TestYoung_HarmedBoxesThatAreNew_HoldAndStop_ButNotThoseOfOneOrganizationForAll.
func TestYoung_HarmedBoxesThatAreNew_HoldAndStop_ButNotThoseOfOneOrganizationForAll(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*guard.Young)
		holds  bool
	}{
		"all well":                         {func(*guard.Young) {}, false},
		"all of them are silent":           {func(y *guard.Young) { y.Treated.Silent = 40 }, true},
		"all of them fail":                 {func(y *guard.Young) { y.Bad = 40 }, true},
		"two are silent":                   {func(y *guard.Young) { y.Treated.Silent = 2 }, false},
		"as silent as those without it":    {func(y *guard.Young) { y.Treated.Silent, y.Control.Silent = 20, 150 }, false},
		"all of one organization's":        {func(y *guard.Young) { y.Treated.Silent, y.Organizations = 40, 1 }, false},
		"there is only one organization":   {func(y *guard.Young) { y.Treated.Silent, y.Organizations, y.Alone = 4, 1, true }, true},
		"few, of two among 1,000 others":   {func(y *guard.Young) { y.Told, y.Treated, y.Bad = 4, guard.Group{Boxes: 4, Silent: 4}, 0 }, false},
		"nobody to compare with, and most": {func(y *guard.Young) { y.Treated.Silent, y.Control = 40, guard.Group{} }, true},
		"nobody to compare with, and some": {func(y *guard.Young) { y.Treated.Silent, y.Control = 10, guard.Group{} }, false},
	} {
		e := healthy(10)
		e.Young, e.YoungNew = new(young(c.change)), true
		v := guard.Decide(acting(), e, now)
		expect.That(t, slices.Contains(v.Reasons, guard.YoungHarmed) == c.holds && v.Stops == c.holds && (v.Action == guard.Promote) != c.holds, "%s: %s", name, v.Sentence)
		expect.That(t, c.holds || strings.Contains(v.Sentence, "this does not rest on"), "%s: %s", name, v.Sentence)
	}
}

// TestYoung_WhatHeldTheRollout_HoldsIt_UntilAPersonLetsItGoOn: later looks have lower levels.
func TestYoung_WhatHeldTheRollout_HoldsIt_UntilAPersonLetsItGoOn(t *testing.T) {
	for resumed, holds := range map[time.Time]bool{{}: true, now.Add(time.Minute): false} {
		e := healthy(10)
		e.Young, e.YoungNew, e.Resumed = new(young(func(y *guard.Young) { y.Number, y.Holds = 50, true })), true, resumed
		v := guard.Decide(acting(), e, now)
		expect.Equal(t, v.Young.Holds, holds, "%s: it holds", v.Sentence)
	}
}
