package census

import (
	"context"
	"slices"

	"wavegate/shared/fleet/freeze"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
)

// Bounds of an overview.
const (
	// MostActive is how many active rollouts are checked, and MostHalted how many halted ones, the latest first.
	MostActive      = 1000
	MostHalted      = 200
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

// Overview returns the active rollouts of a filter with their last counts, and the halted ones that nothing has followed.
// It neither counts nor judges: the ticks do, once a minute.
func (s *Reader) Overview(ctx context.Context, f rollout.Filter, limit, skip int) (Overview, error) {
	var held *freeze.Freeze
	var rows, halted []Row
	more := false
	err := dynamo.Together(ctx,
		func(ctx context.Context) (err error) {
			held, err = s.freezes.Holding(ctx)
			return err
		},
		func(ctx context.Context) error {
			f := f
			f.Status = rollout.Active
			page, err := s.rollouts.List(ctx, f, dynamo.Span{Limit: MostActive})
			if err != nil {
				return err
			}
			more = page.More
			rows, err = s.rows(ctx, page.Items)
			return err
		},
		func(ctx context.Context) error {
			f := f
			f.Status = rollout.Halted
			page, err := s.rollouts.List(ctx, f, dynamo.Span{Limit: MostHalted})
			if err != nil {
				return err
			}
			halted, err = s.unfollowed(ctx, page.Items)
			return err
		})
	// The index by status is a moment behind, so that a rollout can be in neither list, or in both.
	rows = slices.DeleteFunc(rows, func(r Row) bool { return r.Rollout.Status != rollout.Active })
	o := NewOverview(rows, halted, limit, skip)
	o.AsOf, o.Freeze, o.More = s.db.Now(), held, more
	return o, err
}

// unfollowed are the halted rollouts whose channels still carry them: since then, no version was published there and no
// rollout was started.
func (s *Reader) unfollowed(ctx context.Context, all []rollout.Rollout) (rows []Row, err error) {
	last := map[string]rollout.Rollout{} // the latest of each channel
	var keys []dynamo.Key
	for _, r := range all {
		pair := release.Pair(r.EdgeType, r.Channel)
		if _, known := last[pair]; known || r.Status != rollout.Halted || r.EndedBy == rollout.ByPublication {
			continue
		}
		last[pair] = r
		keys = append(keys, dynamo.Key{"edgeType": r.EdgeType, "channel": r.Channel})
	}
	if len(keys) == 0 {
		return nil, nil
	}
	channels, err := dynamo.GetAll[release.ChannelRow](ctx, s.db, dynamo.Channels, keys)
	for _, c := range channels {
		if r := last[c.ID()]; c.Rollout != nil && c.Rollout.ID == r.ID {
			rows = append(rows, newRow(r, nil, s.db.Now()))
		}
	}
	return rows, err
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
		rows = append(rows, newRow(r, last[r.ID], s.db.Now()))
	}
	return rows, nil
}
