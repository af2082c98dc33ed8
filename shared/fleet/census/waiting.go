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
	// Closed are the plants, those with the most boxes first; MostWaiting at most.
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

// MostWaiting limits the plants of an answer.
const MostWaiting = 100

// waiting finds for which plants the boxes of an active rollout wait, and tells the guard.
func (s *Reader) waiting(ctx context.Context, r rollout.Rollout, c *Census) (*AtPlants, error) {
	var ids []string
	for id, n := range c.Factories {
		if id != "" && n.NotYetPolled > 0 {
			ids = append(ids, id)
		}
	}
	if r.Status != rollout.Active || len(ids) == 0 {
		return nil, nil
	}
	plants, err := plant.GetAll(ctx, s.db, ids)
	if err != nil {
		return nil, err
	}
	return c.wait(r, plants), nil
}

// wait counts the boxes that wait for plants.
func (c *Census) wait(r rollout.Rollout, plants []plant.Plant) *AtPlants {
	var sum AtPlants
	waits := map[string]calendar.Wait{}
	for _, p := range plants {
		w := p.Updates.Wait(r.Haste(), c.at)
		if w.For == "" {
			continue
		}
		waits[p.FactoryID] = w
		closed := ClosedPlant{FactoryID: p.FactoryID, TimeZone: p.Updates.TimeZone, Boxes: c.Factories[p.FactoryID].NotYetPolled, For: w.For}
		if opens := w.Opens; !opens.IsZero() {
			closed.OpensAt = &opens
			if sum.OpensAt == nil || opens.Before(*sum.OpensAt) {
				sum.OpensAt = &opens
			}
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
	sum.Closed = sum.Closed[:min(len(sum.Closed), MostWaiting)]
	return &sum
}

// openings adds to the factories of an active rollout when they take updates.
func (s *Reader) openings(ctx context.Context, r rollout.Rollout, at time.Time, list []FactoryCounts) error {
	index := map[string]int{}
	for i, f := range list {
		if f.FactoryID != "" {
			index[f.FactoryID] = i
		}
	}
	if r.Status != rollout.Active {
		return nil
	}
	plants, err := plant.GetAll(ctx, s.db, slices.Collect(maps.Keys(index)))
	for _, p := range plants {
		if f := &list[index[p.FactoryID]]; p.Updates != nil {
			w := p.Updates.Wait(r.Haste(), at)
			if f.TimeZone, f.Waits = p.Updates.TimeZone, w.For; !w.Opens.IsZero() {
				f.OpensAt = &w.Opens
			}
		}
	}
	return err
}
