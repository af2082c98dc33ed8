package census

import (
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

func byName(a, b [2]string) int { return slices.Compare(a[:], b[:]) }

// single is a group of one box.
func single(silent bool) guard.Group {
	if silent {
		return guard.Group{Boxes: 1, Silent: 1}
	}
	return guard.Group{Boxes: 1}
}

// list returns the places in a fixed order. A kind with only one place is left out: that place is the whole fleet.
func (p places) list() []guard.Place {
	kinds := map[string]int{}
	for key := range p {
		kinds[key[0]]++
	}
	var list []guard.Place
	for _, key := range slices.SortedFunc(maps.Keys(p), byName) {
		if kinds[key[0]] > 1 {
			list = append(list, *p[key])
		}
	}
	return list
}

// look adds the sightings of boxes to their places: those that were seen since the rollout began, whenever it reached them, and
// not silent when it was resumed.
func (g *Groups) look(boxes []report.IndexEntry, sightings []Sighting, group func(*guard.Place) *guard.Group) {
	silentAfter := g.policy.Guard.SilentAfter.Length()
	for i, box := range sightings {
		if box.LastSeen.Before(g.of.StartedAt) || box.LastSeen.Before(g.resumed.Add(-silentAfter)) {
			continue
		}
		one := single(g.at.Sub(box.LastSeen) >= silentAfter)
		g.places.each(boxes[i], func(p *guard.Place) {
			in := group(p)
			*in = in.Plus(one)
		})
	}
}
