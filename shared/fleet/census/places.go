package census

import (
	"cmp"
	"maps"
	"slices"

	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/report"
)

// places are the factories and organizations of a channel's boxes, by kind and id.
type places map[[2]string]*guard.Place

func (p places) of(key [2]string) *guard.Place {
	if p[key] == nil {
		p[key] = &guard.Place{Kind: key[0], ID: key[1]}
	}
	return p[key]
}

// each changes the places that a box is in.
func (p places) each(e report.IndexEntry, change func(*guard.Place)) {
	if e.FactoryID != "" {
		change(p.of([2]string{"factory", e.FactoryID}))
	}
	if e.OrganizationID != "" {
		change(p.of([2]string{"organization", e.OrganizationID}))
	}
}

// list returns the places in a fixed order. A kind with only one place is left out: that place is the whole fleet.
func (p places) list() []guard.Place {
	kinds := map[string]int{}
	for key := range p {
		kinds[key[0]]++
	}
	var list []guard.Place
	for _, key := range slices.SortedFunc(maps.Keys(p), func(a, b [2]string) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) }) {
		if kinds[key[0]] > 1 {
			list = append(list, *p[key])
		}
	}
	return list
}

// look adds the sightings of boxes to their places: those that were seen since a stage began, and not silent when the
// rollout was resumed.
func (g *Groups) look(boxes []report.IndexEntry, sightings []Sighting, stage int, group func(*guard.Place) *guard.Group) {
	silentAfter := g.policy.Guard.SilentAfter.Length()
	for i, box := range sightings {
		if box.LastSeen.Before(g.starts[stage]) || box.LastSeen.Before(g.resumed.Add(-silentAfter)) {
			continue
		}
		one := guard.Group{Boxes: 1}
		if g.at.Sub(box.LastSeen) >= silentAfter {
			one.Silent = 1
		}
		g.places.each(boxes[i], func(p *guard.Place) {
			in := group(p)
			*in = in.Plus(one)
		})
	}
}
