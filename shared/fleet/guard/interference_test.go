package guard_test

import (
	"slices"
	"testing"
	"time"

	"wavegate/shared/fleet/guard"
	"wavegate/shared/testing/expect"
)

// TestInterference_TwoPlantsThatGoDownWithTheirTold_HoldAndStop_ButNoNight.
func TestInterference_TwoPlantsThatGoDownWithTheirTold_HoldAndStop_ButNoNight(t *testing.T) {
	for name, c := range map[string]struct {
		plants guard.Plants
		holds  bool
	}{
		"none":                                    {guard.Plants{Told: 3, Others: 27}, false},
		"two of three, and no other":              {guard.Plants{Told: 3, Down: 2, Others: 27}, true},
		"all of three, and there is no other":     {guard.Plants{Told: 3, Down: 3}, true},
		"two of two, and one other is lit":        {guard.Plants{Told: 2, Down: 2, Others: 1}, true},
		"one":                                     {guard.Plants{Told: 1, Down: 1, Others: 29}, false},
		"two of three, as many others at night":   {guard.Plants{Told: 3, Down: 2, Others: 27, OthersDark: 18}, false},
		"two of three, and a third of the others": {guard.Plants{Told: 3, Down: 2, Others: 27, OthersDark: 9}, false},
		"two of two, and one of two others":       {guard.Plants{Told: 2, Down: 2, Others: 2, OthersDark: 1}, true},
		"a third of the told, at night":           {guard.Plants{Told: 90, Down: 30}, false},
		"all told, and all others, who are few":   {guard.Plants{Told: 90, Down: 90, Others: 3, OthersDark: 3}, false},
		"two of ninety":                           {guard.Plants{Told: 90, Down: 2, Others: 10}, false},
		"three of four, and one of twenty others": {guard.Plants{Told: 4, Down: 3, Others: 20, OthersDark: 1}, true},
	} {
		e := healthy(10)
		e.Plants = c.plants
		v := guard.Decide(acting(), e, now)
		expect.That(t, slices.Contains(v.Reasons, guard.PlantsDown) == c.holds && v.Stops == c.holds && (v.Action == guard.Promote) != c.holds, "%s: %s", name, v.Sentence)
		expect.Equal(t, v.Needs != nil, c.holds, "%s: a person is needed", name)
	}
}

// TestInterference_HoldsUntilTheNextLook_OrAPersonResumes, also where the guard only advises: a count between two looks sees no plants.
func TestInterference_HoldsUntilTheNextLook_OrAPersonResumes(t *testing.T) {
	e, p := healthy(10), acting()
	p.Mode = guard.Advise
	e.Plants = guard.Plants{At: now.Add(-time.Hour), Told: 3, Down: 2, Others: 27}
	v := guard.Decide(p, e, now)
	expect.Must(t, v.Plants != nil && v.Needs != nil && v.Needs.Reason == guard.PlantsDown, "%+v", v)
	e.Plants = *v.Plants
	expect.That(t, guard.Decide(p, e, now.Add(10*time.Minute)).Plants != nil, "it is forgotten before the next look")
	e.Resumed = now
	expect.That(t, guard.Decide(p, e, now.Add(10*time.Minute)).Plants == nil, "it holds although a person resumed the rollout")
}
