package census

import (
	"time"

	"wavegate/shared/fleet/guard"
)

// recent is the age up to which a health number counts. It is as old as what a number sums up.
const recent = 24 * time.Hour

// Workers are the boxes of a survey that are asked for health numbers: those that the guard watches.
func (g *Groups) Workers(boxes []Surveyed) []guard.Worker {
	list := []guard.Worker{}
	if len(g.policy.Health) == 0 {
		return list
	}
	for _, box := range boxes {
		if !box.watched || box.Trace {
			continue
		}
		w := guard.Worker{Reached: box.reached, Factory: box.FactoryID, Organization: box.OrganizationID}
		if w.Factory == "" {
			w.Factory = "of " + box.OrganizationID // without a factory
		}
		if h := box.Health; h != nil && h.Version == g.of.TargetVersion {
			if w.Before = h.Before; g.at.Sub(h.At) < recent && h.Running == box.Running {
				w.Now = h.Now
			}
		}
		list = append(list, w)
	}
	return list
}
