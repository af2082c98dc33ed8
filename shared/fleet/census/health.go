package census

import (
	"context"
	"slices"
	"time"

	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/rollout"
)

// recent is the age up to which a health number counts. It is as old as what a number sums up.
const recent = 24 * time.Hour

// Workers are the boxes of a survey, which are asked for health numbers.
func (g *Groups) Workers(boxes []Surveyed) []guard.Worker {
	list := []guard.Worker{}
	if len(g.policy.Health) == 0 {
		return list
	}
	for _, box := range boxes {
		if box.Trace {
			continue
		}
		w := guard.Worker{Reached: box.reached, Watched: box.watched, Factory: box.FactoryID, Organization: box.OrganizationID}
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

// mostWork limits the times at which a count keeps the health numbers. Beyond it, every second one is dropped.
const mostWork = 64

// work continues the course of the health numbers, in a tick at most once an hour, and ten times in a shorter soak.
func (s *Store) work(ctx context.Context, c *Census, was []guard.Reading) ([]guard.Reading, error) {
	g := c.Groups
	every := min(time.Hour, g.policy.SoakAt(c.of.StagedPercent)/10)
	if len(g.policy.Health) == 0 || c.of.Status != rollout.Active || len(was) > 0 && g.at.Sub(was[len(was)-1].At) < every {
		return was, nil
	}
	var boxes []Surveyed
	for i, sample := range append(slices.Clone(g.Stages), g.Unreached) {
		for _, e := range sample.Chosen() {
			boxes = append(boxes, Surveyed{IndexEntry: e, reached: i < len(g.Stages), watched: true})
		}
	}
	if err := s.attributes(ctx, c.of.ID, boxes, false); err != nil {
		return was, err
	}
	readings := append(slices.Clone(was), g.policy.Readings(g.Workers(boxes), g.at)...)
	if len(readings) > mostWork*len(g.policy.Health) {
		drops, last := true, time.Time{}
		readings = slices.DeleteFunc(readings, func(r guard.Reading) bool {
			drops, last = drops != !r.At.Equal(last), r.At
			return drops
		})
	}
	return readings, nil
}
