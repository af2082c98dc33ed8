package census

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"wavegate/shared/fleet/edgetype"
	"wavegate/shared/fleet/plant"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/calendar"
)

// AtPlants counts the boxes that a rollout reaches and does not tell because their plants take no updates now.
type AtPlants struct {
	// Window, Pause and OptedOut count the boxes by what they wait for, in so many Plants.
	Window   int `json:"window"`
	Pause    int `json:"pause"`
	OptedOut int `json:"optedOut,omitempty"`
	Plants   int `json:"plants"`
	// Overdue counts those of Window whose release is for security and past its deadline.
	Overdue int `json:"overdue,omitempty"`
	// OpensAt is when the next plant opens; nil: none within two weeks.
	OpensAt *time.Time `json:"opensAt,omitempty"`
	// Closed are the plants, those with the most boxes first; mostClosed at most.
	Closed []ClosedPlant `json:"closed,omitempty"`
}

// A ClosedPlant is a plant that takes no updates now.
type ClosedPlant struct {
	FactoryID      string     `json:"factoryId"`
	OrganizationID string     `json:"organizationId,omitempty"`
	TimeZone       string     `json:"timeZone,omitempty"`
	Boxes          int        `json:"boxes"` // that wait
	For            string     `json:"for"`
	OpensAt        *time.Time `json:"opensAt,omitempty"`
	Overdue        bool       `json:"overdue,omitempty"`
}

// mostClosed limits the plants of an answer.
const mostClosed = 100

// waiting finds for which plants the boxes of an active rollout wait, and tells the guard.
func (s *Reader) waiting(ctx context.Context, c *Census) (*AtPlants, error) {
	plants, err := s.plants(ctx, c.of.EdgeType, c.untoldAt())
	if err != nil {
		return nil, err
	}
	return c.wait(plants), nil
}

// plants reads plants, as the boxes of an edge type see them.
func (s *Reader) plants(ctx context.Context, edgeType string, ids []string) ([]plant.Plant, error) {
	list, err := plant.GetAll(ctx, s.db, ids)
	if err != nil {
		return nil, err
	}
	return s.allowed(ctx, edgeType, list)
}

// allowed are plants with no more of an opt-out than the manufacturer allows for an edge type.
func (s *Reader) allowed(ctx context.Context, edgeType string, list []plant.Plant) ([]plant.Plant, error) {
	now := s.db.Now()
	if !slices.ContainsFunc(list, func(p plant.Plant) bool { return p.Updates.OptedOut(now) }) {
		return list, nil
	}
	of, err := edgetype.NewStore(s.db).Read(ctx, edgeType)
	list = slices.Clone(list)
	for i := range list {
		list[i].Updates = list[i].Updates.Within(of.OptOut)
	}
	return list, err
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
		closed := ClosedPlant{p.FactoryID, p.OrganizationID, p.Updates.TimeZone, untold, w.For, w.OpensAt(), w.Overdue}
		if at := closed.OpensAt; at != nil && (sum.OpensAt == nil || at.Before(*sum.OpensAt)) {
			sum.OpensAt = at
		}
		switch w.For {
		case calendar.ForPause:
			sum.Pause += closed.Boxes
		case calendar.ForOptOut:
			sum.OptedOut += closed.Boxes
		default:
			sum.Window += closed.Boxes
		}
		if w.Overdue {
			sum.Overdue += closed.Boxes
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
	plants, err := s.plants(ctx, c.of.EdgeType, slices.Collect(maps.Keys(index)))
	for _, p := range plants {
		if f := &list[index[p.FactoryID]]; p.Updates != nil {
			w := p.Updates.Wait(c.of.Haste(), c.at)
			f.TimeZone, f.Waits, f.OpensAt, f.Overdue = p.Updates.TimeZone, w.For, w.OpensAt(), w.Overdue
		}
	}
	return err
}

// OptedOut is how many boxes of an organization are at plants that opted out.
type OptedOut struct {
	OrganizationID string         `json:"organizationId" stored:"identity"`
	Of             calendar.Scope `json:"of" stored:"identity"`
	Boxes          int            `json:"boxes"`
}

// mostOptedOut limits the organizations of an answer.
const mostOptedOut = 100

// atPlants counts the boxes of a channel at plants that take no ordinary updates at a time, and those at plants that opted out.
func atPlants(plants []plant.Plant, boxes map[string]int, at time.Time) (closed int, out []OptedOut) {
	for _, p := range plants {
		w, n := p.Updates.Wait(calendar.Haste{}, at), boxes[p.FactoryID]
		if w.For != calendar.ForOptOut {
			if w.For != "" {
				closed += n
			}
			continue
		}
		of := p.Updates.OptOut.Of
		i := slices.IndexFunc(out, func(o OptedOut) bool { return o.OrganizationID == p.OrganizationID && o.Of == of })
		if i < 0 {
			i, out = len(out), append(out, OptedOut{p.OrganizationID, of, 0})
		}
		out[i].Boxes += n
	}
	slices.SortFunc(out, func(a, b OptedOut) int {
		return cmp.Or(cmp.Compare(b.Boxes, a.Boxes), cmp.Compare(a.OrganizationID, b.OrganizationID), cmp.Compare(a.Of, b.Of))
	})
	return closed, out[:min(len(out), mostOptedOut)]
}
