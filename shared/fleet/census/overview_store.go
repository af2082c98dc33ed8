package census

import (
	"context"

	"wavegate/shared/fleet/freeze"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
)

// Bounds of an overview.
const (
	// MostActive is how many active rollouts are checked, the latest first.
	MostActive      = 1000
	overviewDefault = 50
	overviewMost    = 100
)

// OfActive is a request for an overview.
type OfActive struct {
	rollout.Filter
	Limit, Skip int
}

// OfActiveOf reads the query parameters of an overview. Rows move all the time, so there is no cursor.
func OfActiveOf(in *input.Reader) OfActive {
	var r OfActive
	r.EdgeType, _ = in.Query("edgeType", input.Name)
	r.Channel, _ = in.Query("channel", input.Name)
	r.Limit, r.Skip = in.QueryInteger("limit", limitRule, overviewDefault), in.QueryInteger("skip", skipRule, 0)
	return r
}

var (
	limitRule = &input.Integer{Least: 1, Most: overviewMost}
	skipRule  = &input.Integer{Most: MostActive}
)

// Overview returns the active rollouts of a filter with their last counts. It neither counts nor judges: the ticks do,
// once a minute.
func (s *Reader) Overview(ctx context.Context, f rollout.Filter, limit, skip int) (Overview, error) {
	f.Status = rollout.Active
	var held *freeze.Freeze
	var rows []Row
	more := false
	err := dynamo.Together(ctx,
		func(ctx context.Context) (err error) {
			held, err = s.freezes.Holding(ctx)
			return err
		},
		func(ctx context.Context) error {
			page, err := s.rollouts.List(ctx, f, dynamo.Span{Limit: MostActive})
			if err != nil {
				return err
			}
			more = page.More
			rows, err = s.rows(ctx, page.Items)
			return err
		})
	o := NewOverview(rows, limit, skip)
	o.AsOf, o.Freeze, o.More = s.db.Now(), held, more
	return o, err
}

// rows reads the last counts of rollouts.
func (s *Reader) rows(ctx context.Context, active []rollout.Rollout) ([]Row, error) {
	if len(active) == 0 {
		return nil, nil
	}
	var keys []dynamo.Key
	for _, r := range active {
		keys = append(keys, dynamo.Key{"subject": r.ID, "part": partLatest})
	}
	heads, err := dynamo.GetAll[head[Progress]](ctx, s.db, dynamo.Progress, keys)
	if err != nil {
		return nil, err
	}
	last := map[string]*Progress{}
	for _, h := range heads {
		if last[h.Subject] = h.Answer; h.Answer != nil {
			h.Answer.Work = nil // only the rollout's own answer has it
		}
	}
	var rows []Row
	for _, r := range active {
		rows = append(rows, NewRow(r, last[r.ID], s.db.Now()))
	}
	return rows, nil
}
