package release

import (
	"context"
	"time"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/trail/change"
)

// ResourceType is the resource type of channels in the audit trail.
const ResourceType = "release-channel"

// A Store stores channels and releases.
type Store struct{ db *dynamo.DB }

// NewStore makes a store.
func NewStore(db *dynamo.DB) *Store { return &Store{db} }

// channelItem is a row with the index keys for lists.
type channelItem struct {
	ChannelRow
	List    string `json:"list"`
	ListKey string `json:"listKey"`
}

// listAll is the one partition of the list of all channels: there are few of them.
const listAll = "channels"

// item orders channels by edge type first: a space comes before every character of a name, so that
// gateway comes before gateway-x.
func item(r ChannelRow) channelItem {
	return channelItem{ChannelRow: r, List: listAll, ListKey: r.EdgeType + " " + r.Channel.Channel}
}

// Get returns the row of a channel, or NOT_FOUND.
func (s *Store) Get(ctx context.Context, edgeType, channel string) (ChannelRow, error) {
	row, err := s.Row(ctx, edgeType, channel)
	if err == nil && row.Revision == 0 {
		err = problem.Missing()
	}
	return row, err
}

// View returns a channel with the lineage of its version, and its entity tag, or NOT_FOUND.
func (s *Store) View(ctx context.Context, edgeType, channel string) (v View, etag string, err error) {
	row, err := s.Get(ctx, edgeType, channel)
	if err != nil {
		return View{}, "", err
	}
	var is Release
	var said Said
	err = dynamo.Together(ctx,
		func(ctx context.Context) (err error) {
			is, err = s.Release(ctx, edgeType, row.CurrentVersion)
			return err
		},
		func(ctx context.Context) (err error) {
			said, err = s.Said(ctx, Named{edgeType, row.CurrentVersion})
			return err
		})
	v = row.View()
	v.Lineage = is.Lineage
	v.Order, v.Documents = is.Rank(), said.Documents
	return v, row.ETag(), err
}

// Row returns the row of a channel; its Revision is 0 if there is no such channel.
func (s *Store) Row(ctx context.Context, edgeType, channel string) (row ChannelRow, err error) {
	_, err = s.db.Get(ctx, dynamo.Channels, dynamo.Key{"edgeType": edgeType, "channel": channel}, &row)
	return row, err
}

// Rows returns the rows of those of some channels that exist.
func (s *Store) Rows(ctx context.Context, channels []Name) ([]ChannelRow, error) {
	keys := make([]dynamo.Key, len(channels))
	for i, c := range channels {
		keys[i] = dynamo.Key{"edgeType": c.EdgeType, "channel": c.Channel}
	}
	return dynamo.GetAll[ChannelRow](ctx, s.db, dynamo.Channels, keys)
}

// Release returns the release of a version; its Version is empty if it was never published.
func (s *Store) Release(ctx context.Context, edgeType, version string) (r Release, err error) {
	_, err = s.db.Get(ctx, dynamo.Releases, dynamo.Key{"edgeType": edgeType, "version": version}, &r)
	return r, err
}

// Each calls a function with every release of an edge type.
func (s *Store) Each(ctx context.Context, edgeType string, each func(Release)) error {
	return dynamo.Walk(ctx, s.db, dynamo.Selection{Table: dynamo.Releases, Partition: edgeType}, nil, 0, func(r Release) error { each(r); return nil })
}

// EachRow calls a function with the row of every channel of an edge type.
func (s *Store) EachRow(ctx context.Context, edgeType string, each func(ChannelRow)) error {
	return dynamo.Walk(ctx, s.db, dynamo.Selection{Table: dynamo.Channels, Partition: edgeType}, nil, 0, func(r ChannelRow) error { each(r); return nil })
}

// Bind stores a release, given the one that was read, if what publications of it keep has not changed since.
func Bind(was, next Release) dynamo.TransactItem {
	return dynamo.TransactPut("release", dynamo.Releases, was, next, dynamo.AtRevision("version", was.Revision))
}

// shown is a channel in the audit trail.
type shown struct {
	Channel
	// Urgent is set if plants need not be open for the channel's version.
	Urgent bool `json:"urgent,omitempty"`
}

// Kind describes channels to the write path. Their rows are stored, and the audit trail shows only the channel, and whether its
// version is urgent.
var Kind = change.Kind[ChannelRow]{
	Type: ResourceType, Table: dynamo.Channels, Key: "edgeType",
	State: func(r ChannelRow) change.Stamp {
		return change.Stamp{ID: r.ID(), Revision: r.Revision, ChangedAt: r.UpdatedAt}
	},
	Item:      func(r ChannelRow) any { return item(r) },
	Shown:     func(r ChannelRow) any { return shown{r.Channel, r.Passes("").Urgent} },
	ETag:      func(r ChannelRow, _ time.Time) string { return r.ETag() },
	Unchanged: unchanged,
}

// unchanged requires that the row and the rollout that it carries are still the ones that were read.
func unchanged(row ChannelRow) dynamo.Condition {
	return dynamo.AtRevision("edgeType", row.Revision).And(carries(row.Rollout))
}

// carries requires that the row still carries a rollout as it was read; nil: none.
func carries(c *Carried) dynamo.Condition {
	if c == nil {
		return dynamo.Absent("rollout")
	}
	return dynamo.Condition{
		Expr:   "#rollout.#id = :carriedId AND #rollout.#revision = :carriedRevision",
		Values: map[string]any{":carriedId": c.ID, ":carriedRevision": c.Revision},
	}
}

// Replace replaces the row that was read, if the channel itself does not change.
func Replace(was, next ChannelRow) dynamo.TransactItem {
	return dynamo.TransactPut(ResourceType, dynamo.Channels, was, item(next), unchanged(was))
}

// Carry updates the rollout in a channel's row, if the row still carries the rollout as it was. The row need not be read.
func Carry(edgeType, channel string, was, next Carried) dynamo.TransactItem {
	return dynamo.TransactPatch(ResourceType, dynamo.Channels, dynamo.Key{"edgeType": edgeType, "channel": channel}, struct {
		Rollout Carried `json:"rollout"`
	}{next}, carries(&was))
}
