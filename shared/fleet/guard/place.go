package guard

import (
	"fmt"

	"wavegate/shared/fleet/stats"
)

// A Place is one factory or one organization, with what its boxes contribute to all stages together.
type Place struct {
	Kind string // factory or organization
	ID   string
	// Decided boxes were told the release, and their outcome is final. Bad ones count against it.
	Decided, Bad int
	// Treated are its boxes of all reached stages that were looked up, and Control those that the release never reached.
	Treated, Control Group
}

// How bad a place must be. A release that fails in one place only is too rare among all boxes for the other tests. So
// many of a place's boxes must be bad or silent that chance would not explain it even if three in ten were: 5 of 5, 6 of
// 7, 8 of 10. Silent boxes must also be silent more often than boxes of the same place without the release, so that a
// power cut is in both groups.
const (
	placeShare = 0.3
	placeLevel = 0.004
)

func mostOf(n, of int) bool { return stats.AtLeast(n, of, placeShare) <= placeLevel }

// fails reports whether the failures in a place need a person's look.
func (p Place) fails() bool { return mostOf(p.Bad, p.Decided) }

// silent reports whether the silence in a place needs a person's look.
func (p Place) silent() bool {
	t, c := p.Treated, p.Control
	return mostOf(t.Silent, t.Boxes) && c.Boxes > 0 && stats.Fisher(t.Silent, t.Boxes, c.Silent, c.Boxes) <= contradiction
}

// Dark reports whether a place is switched off: most of its boxes are silent, and also most of those without the release.
func (p Place) Dark() bool {
	all := p.Treated.Plus(p.Control)
	return all.Boxes >= enoughDark && all.MostSilent() && (p.Control.Boxes == 0 || p.Control.MostSilent())
}

// enoughDark is how many boxes of a place must have been looked up, and darkShare is the share of them from which on its
// silence is its own.
const (
	enoughDark = 3
	darkShare  = 0.7
)

// MostSilent reports whether nearly all boxes of a group are silent.
func (g Group) MostSilent() bool { return float64(g.Silent) >= darkShare*float64(g.Boxes) }

// bad is the place with the most bad or silent boxes among those that need a look; false: there is none.
func (e Evidence) bad() (worst Place, found bool) {
	for _, p := range e.Places {
		if (p.fails() || p.silent()) && (!found || p.Bad+p.Treated.Silent > worst.Bad+worst.Treated.Silent) {
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
