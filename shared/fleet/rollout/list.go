package rollout

import (
	"context"
	"net/url"
	"time"

	"wavegate/shared/fleet/release"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
)

// rolloutItem is a rollout with index keys for lists; other keys are fields of the rollout.
type rolloutItem struct {
	Rollout
	List           string `json:"list"`
	Pair           string `json:"pair"`
	EdgeTypeStatus string `json:"edgeTypeStatus"`
	ChannelStatus  string `json:"channelStatus"`
	PairStatus     string `json:"pairStatus"`
}

// listAll is the one partition of the list of all rollouts.
const listAll = "rollout"

func item(r Rollout) rolloutItem {
	pair := release.Pair(r.EdgeType, r.Channel)
	return rolloutItem{
		Rollout: r, List: listAll, Pair: pair,
		EdgeTypeStatus: withStatus(r.EdgeType, r.Status),
		ChannelStatus:  withStatus(r.Channel, r.Status),
		PairStatus:     withStatus(pair, r.Status),
	}
}

// withStatus joins a name and a status; no name contains a #.
func withStatus(name string, s Status) string { return name + "#" + string(s) }

// A Filter says which rollouts to list; an empty field is any.
type Filter struct {
	EdgeType, Channel string
	Status            Status
}

// FilterOf reads the query parameters edgeType, channel and status.
func FilterOf(in *input.Reader) Filter {
	var f Filter
	f.EdgeType, _ = in.Query("edgeType", input.Name)
	f.Channel, _ = in.Query("channel", input.Name)
	status, _ := in.Query("status", statusRule)
	f.Status = Status(status)
	return f
}

// Values returns the filter as query parameters.
func (f Filter) Values() url.Values {
	return input.Values("edgeType", f.EdgeType, "channel", f.Channel, "status", string(f.Status))
}

// selection returns the index partition that holds exactly the rollouts that the filter accepts.
func (f Filter) selection() dynamo.Selection {
	index, partition := "all", listAll
	switch {
	case f.EdgeType != "" && f.Channel != "":
		index, partition = "byChannel", release.Pair(f.EdgeType, f.Channel)
	case f.EdgeType != "":
		index, partition = "byEdgeType", f.EdgeType
	case f.Channel != "":
		index, partition = "byChannelName", f.Channel
	}
	switch {
	case f.Status != "" && index == "all":
		index, partition = "byStatus", string(f.Status)
	case f.Status != "":
		index, partition = index+"AndStatus", withStatus(partition, f.Status)
	}
	return dynamo.Selection{Table: dynamo.Rollouts, Index: index, Partition: partition, Descending: true}
}

// List returns rollouts, the last started first. It reads a global index, so a change shows after a moment, usually
// within a second. The rollouts themselves are up to date.
//
// If a rollout starts between two pages, the second page repeats an item. With a filter by status, a rollout that
// changes its status can move others to a page that was already read.
func (s *Store) List(ctx context.Context, f Filter, w dynamo.Span) (dynamo.Page[Rollout], error) {
	return dynamo.List[Rollout](ctx, s.db, f.selection(), w)
}

// EachSince calls a function with every rollout of an edge type that started since a time, the last started first.
func (s *Store) EachSince(ctx context.Context, edgeType string, since time.Time, each func(Rollout)) error {
	return dynamo.Walk(ctx, s.db, Filter{EdgeType: edgeType}.selection(), nil, 0, func(r Rollout) error {
		if r.StartedAt.Before(since) {
			return dynamo.ErrEnough
		}
		each(r)
		return nil
	})
}

// EachActive calls a function with every active rollout, in any order. It reads a global index and then each rollout.
// For a rollout that cannot be read it calls unreadable, and continues with the others.
func (s *Store) EachActive(ctx context.Context, each func(Rollout), unreadable func(id string, err error)) error {
	type listed struct {
		ID string `json:"id"`
	}
	return dynamo.WalkReadable(ctx, s.db, Filter{Status: Active}.selection(), func(l listed) error {
		r, err := s.Get(ctx, l.ID)
		switch {
		case ctx.Err() != nil:
			return err
		case err != nil:
			unreadable(l.ID, err)
		case r.Status == Active:
			each(r)
		}
		return nil
	}, unreadable)
}
