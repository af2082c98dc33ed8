package guard

import (
	"fmt"

	"wavegate/shared/fleet/stats"
)

// How bad a place must be. A release that fails in one place only is too rare among all boxes for the other tests. So
// many of a place's boxes must be bad or silent that chance would not explain it even if three in ten were: 5 of 5, 6 of
// 7, 8 of 10.
const (
	placeShare = 0.3
	placeLevel = 0.004
)

func mostOf(n, of int) bool { return stats.AtLeast(n, of, placeShare) <= placeLevel }

// placesSilent is the probability that the silence in any place needs a person's look by chance, at one look. There is one
// each half hour, but what is switched off stays so for a night or a weekend.
const placesSilent = 0.002

// places is the test of single factories and organizations: the one with the most bad or silent boxes, if they need a person's
// look. Its silent boxes must be more than among those of the same place without the release, so that a power cut is in both groups.
func (d decision) places() (list findings) {
	tests := silences(d.evidence.Places)
	for i, t := range tests {
		tests[i].chance = func(hits int) float64 {
			if !mostOf(hits, t.culprit.Boxes) {
				return 1
			}
			return t.chance(hits)
		}
	}
	silent, worst := harmed(tests, placesSilent, 1, nil), Kind{}
	for _, p := range d.evidence.Places {
		is := mostOf(p.Bad, p.Decided) || silent != nil && silent.Name == p.Name && silent.Value == p.Value
		if is && (worst.Name == "" || p.Bad+p.Treated.Silent > worst.Bad+worst.Treated.Silent) {
			worst = p
		}
	}
	told, _ := d.evidence.totals()
	list.add(worst.Name != "", FactoryBad, worst.sentence(told))
	return list
}

// sentence names a factory or an organization, and compares it with all others.
func (k Kind) sentence(told int) string {
	if mostOf(k.Bad, k.Decided) {
		return fmt.Sprintf("%d of %s of %s %s are bad, of %d that were told in all", k.Bad, boxes(k.Decided), k.Name, k.Value, told)
	}
	return fmt.Sprintf("%d of %s of %s %s with the release are silent, and %d of %s there that it did not reach",
		k.Treated.Silent, boxes(k.Treated.Boxes), k.Name, k.Value, k.Control.Silent, boxes(k.Control.Boxes))
}
