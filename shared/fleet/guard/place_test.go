package guard_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"wavegate/shared/fleet/guard"
	"wavegate/shared/testing/expect"
)

// at10 judges a stage at which all is well, apart from some places.
func at10(change func(*guard.Evidence), places ...guard.Kind) guard.Verdict {
	e := healthy(10)
	e.Places = places
	if change != nil {
		change(&e)
	}
	return guard.Decide(acting(), e, now)
}

func factory(id string, bad, of int) guard.Kind {
	return guard.Kind{Name: "factory", Value: id, Share: guard.Share{Decided: of, Bad: bad}}
}

func TestDecide_APlaceWhereMostBoxesAreBad_IsLeftToAPerson(t *testing.T) {
	for _, c := range []struct {
		bad, of int
		holds   bool
	}{{4, 4, false}, {5, 5, true}, {5, 6, false}, {6, 7, true}, {7, 10, false}, {8, 10, true}, {12, 20, false}, {13, 20, true}, {1, 1, false}, {0, 100, false}, {50, 1000, false}} {
		v := at10(nil, factory("munich", c.bad, c.of), factory("lyon", 0, 100))
		if got := slices.Contains(v.Reasons, guard.FactoryBad); got != c.holds || v.Stops != c.holds {
			t.Errorf("%d of %d bad: %s, stops telling: %t", c.bad, c.of, v.Sentence, v.Stops)
		}
		if want := fmt.Sprintf("%d of %d boxes of factory munich are bad", c.bad, c.of); c.holds && !strings.Contains(v.Sentence, want) {
			t.Errorf("the culprit is not named: %s", v.Sentence)
		}
	}
}

func TestDecide_APlaceThatGoesSilent_IsComparedWithItself(t *testing.T) {
	for name, c := range map[string]struct {
		treated, control guard.Group
		holds            bool
	}{
		"only the boxes with the release":    {guard.Group{Boxes: 6, Silent: 6}, guard.Group{Boxes: 6}, true},
		"the whole place, as in a power cut": {guard.Group{Boxes: 6, Silent: 6}, guard.Group{Boxes: 6, Silent: 6}, false},
		"nobody to compare with":             {guard.Group{Boxes: 6, Silent: 6}, guard.Group{}, false},
		"one of many":                        {guard.Group{Boxes: 60, Silent: 1}, guard.Group{Boxes: 60}, false},
	} {
		v := at10(nil, guard.Kind{Name: "organization", Value: "acme", Share: guard.Share{Treated: c.treated, Control: c.control}})
		expect.That(t, slices.Contains(v.Reasons, guard.FactoryBad) == c.holds, "%s: %s", name, v.Sentence)
	}
}

// TestDecide_OfManyPlaces_SomeLookSilentByChance: six of six boxes against none of six are one case in 924, so of 100 places
// one may look like that. In a place with more boxes without the release, six are enough.
func TestDecide_OfManyPlaces_SomeLookSilentByChance(t *testing.T) {
	for name, c := range map[string]struct {
		control int
		holds   bool
	}{"as many without the release": {6, false}, "ten times as many": {60, true}} {
		var places []guard.Kind
		for i := range 100 {
			p := guard.Kind{Name: "organization", Value: fmt.Sprint("o", i), Share: guard.Share{Treated: guard.Group{Boxes: 6, Silent: 3}, Control: guard.Group{Boxes: c.control, Silent: c.control / 2}}}
			if i == 0 {
				p.Treated.Silent, p.Control.Silent = 6, 0
			}
			places = append(places, p)
		}
		v := at10(nil, places...)
		expect.That(t, slices.Contains(v.Reasons, guard.FactoryBad) == c.holds, "%s: %s", name, v.Sentence)
	}
}

func TestDecide_TellingIsStoppedOnce_AtAnyStage(t *testing.T) {
	place := factory("munich", 5, 5)
	if v := at10(func(e *guard.Evidence) { e.Stopped = true }, place); v.Stops || v.Suspicion() != guard.FactoryBad {
		t.Errorf("stops again: %s", v.Sentence)
	}
	if v := at10(func(e *guard.Evidence) { e.Active = false }, place); v.Stops {
		t.Errorf("stops an ended rollout: %s", v.Sentence)
	}
	all := healthy(100)
	all.Places = []guard.Kind{place}
	if v := guard.Decide(acting(), all, now); !v.Stops || !slices.Contains(v.Reasons, guard.FactoryBad) {
		t.Errorf("at 100 percent, where boxes may not have polled yet: %s", v.Sentence)
	}
}
