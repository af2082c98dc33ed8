package census

import (
	"maps"
	"slices"

	"wavegate/shared/fleet/bell"
	"wavegate/shared/fleet/guard"
)

// youngDue reports whether it is time to look at the boxes that were registered since the start.
func (q Question) youngDue() bool {
	wait, last := q.policy.Guard.SilentAfter.Length(), q.last.Young
	return last == nil || q.at.Sub(last.At) >= wait
}

// lookAtYoung looks at the young boxes, given when those that were told were last seen, and then those that the release does not
// reach.
func (q Question) lookAtYoung(sightings []Sighting, sizes bell.Sizes) *guard.Young {
	g, y := q.Groups.young, guard.Young{At: q.at, Number: 1, By: map[string]guard.Share{}}
	if last := q.last.Young; last != nil {
		y.Number, y.Holds = last.Number+1, last.Holds && last.At.After(q.resumed)
	}
	organizations, harmed := map[string]bool{}, map[string]bool{}
	for key, of := range g.by {
		if s := of[together]; key[0] == guard.OfOrganization {
			y.Told, y.Bad = y.Told+s.Told, y.Bad+s.Bad
			organizations[key[1]], y.By[key[1]] = true, s
			if s.Bad > 0 {
				harmed[key[1]] = true
			}
		}
	}
	for key := range q.by {
		if key[0] == guard.OfOrganization {
			organizations[key[1]] = true
		}
	}
	for _, s := range append(slices.Clone(q.Groups.Stages[:]), q.Groups.Unreached) { // whoever has boxes here, told or not
		for _, e := range s.Chosen() {
			organizations[e.OrganizationID] = true
		}
	}
	told := g.Told.Chosen()
	for _, b := range q.watched(q.present(told, sightings), sizes) {
		one, known := g.newcomer(b)
		if !known || b.Bad(q.at, g.decideWithin, g.soaks[0]) {
			continue
		}
		y.Treated, y.By[b.OrganizationID] = y.Treated.Plus(one), y.By[b.OrganizationID].Plus(guard.Share{Treated: one})
		harmed[b.OrganizationID] = harmed[b.OrganizationID] || one.Silent > 0
	}
	for _, b := range q.watched(q.present(g.Unreached.Chosen(), sightings[len(told):]), sizes) {
		if one, known := g.newcomer(b); known {
			y.Control = y.Control.Plus(one)
		}
	}
	if y.Control.Boxes < guard.FewYoung { // others are compared with, as far as they were looked up
		y.Control = y.Control.Plus(q.last.Control)
	}
	maps.DeleteFunc(harmed, func(_ string, is bool) bool { return !is })
	y.Organizations, y.Alone = len(harmed), len(organizations) <= 1
	return &y
}

// newcomer is a young box. It is unknown unless it has called since it was registered: it may still be in a store room.
func (g *Groups) newcomer(b lookedUp) (guard.Group, bool) {
	one, known := g.one(b.seen.LastSeen)
	return one, known && !b.seen.LastSeen.Before(b.RegisteredAt)
}
