package guard

import (
	"fmt"

	"wavegate/shared/fleet/stats"
)

// A Place is one factory or one organization, with what its boxes contribute to all stages together.
type Place struct {
	Kind string // factory or organization
	ID   string
	// Decided boxes were told the release, and their outcome is final, or they are bad now. Bad ones count against it.
	Decided, Bad int
	// Treated are its boxes of all reached stages that were looked up, and Control those that the release never reached.
	Treated, Control Group
}

// How bad a place must be. A release that fails in one place only is too rare among all boxes for the other tests. So
// many of a place's boxes must be bad or silent that chance would not explain it even if three in ten were: 5 of 5, 6 of
// 7, 8 of 10.
const (
	placeShare = 0.3
	placeLevel = 0.004
)

func mostOf(n, of int) bool { return stats.AtLeast(n, of, placeShare) <= placeLevel }

// fails reports whether the failures in a place need a person's look.
func (p Place) fails() bool { return mostOf(p.Bad, p.Decided) }

// placesSilent is the probability that the silence in any place needs a person's look by chance, at one look. There is one
// each half hour, but what is switched off stays so for a night or a weekend.
const placesSilent = 0.002

// silent is the place whose silence needs a person's look; nil: there is none. Its boxes must also be silent more often than
// those of the same place without the release, so that a power cut is in both groups.
func (e Evidence) silent() *Culprit {
	var kinds []Kind
	for _, p := range e.Places {
		kinds = append(kinds, Kind{Name: p.Kind, Value: p.ID, Treated: p.Treated, Control: p.Control})
	}
	tests := silences(kinds)
	for i, t := range tests {
		tests[i].chance = func(hits int) float64 {
			if !mostOf(hits, t.culprit.Boxes) {
				return 1
			}
			return t.chance(hits)
		}
	}
	return harmed(tests, placesSilent, 1, nil)
}

// bad is the place with the most bad or silent boxes among those that need a look; false: there is none.
func (e Evidence) bad() (worst Place, found bool) {
	silent := e.silent()
	for _, p := range e.Places {
		is := p.fails() || silent != nil && silent.Name == p.Kind && silent.Value == p.ID
		if is && (!found || p.Bad+p.Treated.Silent > worst.Bad+worst.Treated.Silent) {
			worst, found = p, true
		}
	}
	return worst, found
}

// sentence names the place, and compares it with all others.
func (p Place) sentence(told int) string {
	if p.fails() {
		return fmt.Sprintf("%d of %s of %s %s are bad, of %d that were told in all", p.Bad, boxes(p.Decided), p.Kind, p.ID, told)
	}
	return fmt.Sprintf("%d of %s of %s %s with the release are silent, and %d of %s there that it did not reach",
		p.Treated.Silent, boxes(p.Treated.Boxes), p.Kind, p.ID, p.Control.Silent, boxes(p.Control.Boxes))
}
