package census

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"wavegate/shared/fleet/plant"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/calendar"
)

// AtPlants counts the boxes that a rollout reaches and does not tell because their plants take no updates now.
type AtPlants struct {
	// Window and Pause count the boxes by what they wait for, in so many Plants.
	Window int `json:"window"`
	Pause  int `json:"pause"`
	Plants int `json:"plants"`
	// OpensAt is when the next plant opens; nil: none within two weeks.
	OpensAt *time.Time `json:"opensAt,omitempty"`
	// Closed are the plants, those with the most boxes first; mostClosed at most.
	Closed []ClosedPlant `json:"closed,omitempty"`
}

// A ClosedPlant is a plant that takes no updates now.
type ClosedPlant struct {
	FactoryID string     `json:"factoryId"`
	TimeZone  string     `json:"timeZone,omitempty"`
	Boxes     int        `json:"boxes"` // that wait
	For       string     `json:"for"`
	OpensAt   *time.Time `json:"opensAt,omitempty"`
}

// mostClosed limits the plants of an answer.
const mostClosed = 100

// waiting finds for which plants the boxes of an active rollout wait, and tells the guard.
func (s *Reader) waiting(ctx context.Context, c *Census) (*AtPlants, error) {
	plants, err := plant.GetAll(ctx, s.db, c.untoldAt())
	if err != nil {
		return nil, err
	}
	return c.wait(plants), nil
}

// untold counts the boxes of a factory that the rollout reaches and has not told; 0 once it has ended.
func (c *Census) untold(factoryID string) int {
	if factoryID == "" || c.of.Status != rollout.Active {
		return 0
	}
	return c.Factories[factoryID].NotYetPolled
}

// untoldAt lists the factories with such boxes.
func (c *Census) untoldAt() (ids []string) {
	for id := range c.Factories {
		if c.untold(id) > 0 {
			ids = append(ids, id)
		}
	}
	return ids
}

// wait counts the boxes that wait for plants; nil: none does.
func (c *Census) wait(plants []plant.Plant) *AtPlants {
	var sum AtPlants
	waits := map[string]calendar.Wait{}
	for _, p := range plants {
		w, untold := p.Updates.Wait(c.of.Haste(), c.at), c.untold(p.FactoryID)
		if w.For == "" || untold == 0 {
			continue
		}
		waits[p.FactoryID] = w
		closed := ClosedPlant{FactoryID: p.FactoryID, TimeZone: p.Updates.TimeZone, Boxes: untold, For: w.For, OpensAt: w.OpensAt()}
		if at := closed.OpensAt; at != nil && (sum.OpensAt == nil || at.Before(*sum.OpensAt)) {
			sum.OpensAt = at
		}
		if w.For == calendar.ForPause {
			sum.Pause += closed.Boxes
		} else {
			sum.Window += closed.Boxes
		}
		sum.Plants++
		sum.Closed = append(sum.Closed, closed)
	}
	if c.Groups != nil {
		c.Groups.waits, c.Groups.young.waits = waits, waits
	}
	if sum.Plants == 0 {
		return nil
	}
	slices.SortFunc(sum.Closed, func(a, b ClosedPlant) int {
		return cmp.Or(cmp.Compare(b.Boxes, a.Boxes), cmp.Compare(a.FactoryID, b.FactoryID))
	})
	sum.Closed = sum.Closed[:min(len(sum.Closed), mostClosed)]
	return &sum
}

// openings adds to the factories of an active rollout when they take updates.
func (s *Reader) openings(ctx context.Context, c *Census, list []FactoryCounts) error {
	if c.of.Status != rollout.Active {
		return nil
	}
	index := map[string]int{}
	for i, f := range list {
		if f.FactoryID != "" {
			index[f.FactoryID] = i
		}
	}
	plants, err := plant.GetAll(ctx, s.db, slices.Collect(maps.Keys(index)))
	for _, p := range plants {
		if f := &list[index[p.FactoryID]]; p.Updates != nil {
			w := p.Updates.Wait(c.of.Haste(), c.at)
			f.TimeZone, f.Waits, f.OpensAt = p.Updates.TimeZone, w.For, w.OpensAt()
		}
	}
	return err
}
