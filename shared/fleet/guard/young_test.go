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

// TestYoung_ThreeHarmedBoxesOfOneOrganization_StopItsNewBoxes_AndNobodyElse.
func TestYoung_ThreeHarmedBoxesOfOneOrganization_StopItsNewBoxes_AndNobodyElse(t *testing.T) {
	dead := guard.Share{Told: 3, Treated: guard.Group{Boxes: 3, Silent: 3}}
	for name, c := range map[string]struct {
		by      map[string]guard.Share
		stopped []string
		want    []string
	}{
		"three of one":             {map[string]guard.Share{"acme": dead, "initech": {Told: 37, Treated: guard.Group{Boxes: 37}}}, nil, []string{"acme"}},
		"three of two":             {map[string]guard.Share{"acme": dead, "initech": dead}, nil, []string{"acme", "initech"}},
		"three of one, once more":  {map[string]guard.Share{"acme": dead}, []string{"acme"}, nil},
		"two of one":               {map[string]guard.Share{"acme": {Told: 2, Treated: guard.Group{Boxes: 2, Silent: 2}}}, nil, nil},
		"three that failed":        {map[string]guard.Share{"acme": {Told: 3, Bad: 3}}, nil, []string{"acme"}},
		"three of 300 that failed": {map[string]guard.Share{"acme": {Told: 300, Bad: 3}}, nil, nil},
	} {
		e := healthy(10)
		e.Young, e.YoungNew = new(young(func(y *guard.Young) { y.By, y.Organizations = c.by, 1 })), true
		e.Newcomers.Stopped = c.stopped
		v := guard.Decide(acting(), e, now)
		expect.Equal(t, v.YoungStop, c.want, "%s: %s: it stops", name, v.Sentence)
		expect.That(t, v.Action == guard.Promote && !v.Stops, "%s: %s", name, v.Sentence)
		p := acting()
		p.Promote.Auto = false
		needs := guard.Decide(p, e, now).Needs
		expect.Equal(t, needs.Reason == guard.YoungHarmed, c.stopped != nil, "%s: a person is needed", name)
		p.Mode = guard.Advise
		expect.That(t, guard.Decide(p, e, now).YoungStop == nil, "%s: it only advises", name)
	}
}

// TestYoung_BeforeTheCompletion_LessHolds: then everybody is told.
func TestYoung_BeforeTheCompletion_LessHolds(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(*guard.Young)
		stopped []string
		holds   bool
	}{
		"all well":                      {func(*guard.Young) {}, nil, false},
		"two of two are silent":         {func(y *guard.Young) { y.Told, y.Treated = 2, guard.Group{Boxes: 2, Silent: 2} }, nil, true},
		"one is":                        {func(y *guard.Young) { y.Told, y.Treated = 1, guard.Group{Boxes: 1, Silent: 1} }, nil, false},
		"two are, as many others are":   {func(y *guard.Young) { y.Treated.Silent, y.Control.Silent = 2, 15 }, nil, false},
		"those of one were stopped":     {func(*guard.Young) {}, []string{"acme"}, true},
		"many looks were taken before":  {func(y *guard.Young) { y.Number, y.Treated.Silent = 500, 10 }, nil, true},
		"of one organization of two is": {func(y *guard.Young) { y.Treated.Silent, y.Organizations = 10, 1 }, nil, true},
	} {
		e := healthy(100)
		e.Young, e.Newcomers.Stopped = new(young(c.change)), c.stopped
		v := guard.Decide(acting(), e, now)
		expect.That(t, slices.Contains(v.Reasons, guard.YoungHarmed) == c.holds && (v.Action == guard.Complete) != c.holds, "%s: %s", name, v.Sentence)
	}
}

// TestYoung_ManyThatAreNotTold_KeepTheRolloutFromItsEnd_AndCome: at most a soak a stage, and not for ever.
func TestYoung_ManyThatAreNotTold_KeepTheRolloutFromItsEnd_AndCome(t *testing.T) {
	few, many := 400, 4000
	for name, c := range map[string]struct {
		of           guard.Newcomers
		waits, steps bool
	}{
		"none":                      {guard.Newcomers{Steps: 3, At: now.Add(-25 * time.Hour)}, false, false},
		"few":                       {guard.Newcomers{Untold: few, Steps: 3, At: now.Add(-25 * time.Hour)}, false, false},
		"many":                      {guard.Newcomers{Untold: many, Steps: 3, At: now.Add(-25 * time.Hour)}, true, true},
		"many, less than a soak":    {guard.Newcomers{Untold: many, Steps: 3, At: now.Add(-time.Hour)}, true, false},
		"many, again and again":     {guard.Newcomers{Untold: many, Steps: 8, At: now.Add(-25 * time.Hour)}, false, false},
		"many, and people promoted": {guard.Newcomers{Untold: many}, false, false},
	} {
		e := healthy(100)
		e.Newcomers = c.of
		v := guard.Decide(acting(), e, now)
		expect.That(t, slices.Contains(v.Reasons, guard.YoungWaiting) == c.waits && v.Steps == c.steps && (v.Action == guard.Complete) != c.waits, "%s: steps %t, %s", name, v.Steps, v.Sentence)
		expect.That(t, v.Needs == nil, "%s: a person is needed: %+v", name, v.Needs)
		e.Stages[3].Bad = 900
		expect.That(t, !guard.Decide(acting(), e, now).Steps, "%s: it steps although boxes are bad", name)
	}
}
