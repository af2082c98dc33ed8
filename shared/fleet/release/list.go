package release

import (
	"context"

	"wavegate/shared/platform/dynamo"
)

// List returns channels in the byte order of their edge types, then of their names; of one edge type,
// where it is not empty. The channels of one edge type are read as they are. All channels are read by a global
// index, so a change shows after a moment, as a rule within a second.
//
// While someone pages, a new channel moves those behind it on by one. Channels are never removed.
func (s *Store) List(ctx context.Context, edgeType string, w dynamo.Span) (dynamo.Page[View], error) {
	all := dynamo.Selection{Table: dynamo.Channels, Index: "all", Partition: listAll}
	if edgeType != "" {
		all = dynamo.Selection{Table: dynamo.Channels, Partition: edgeType}
	}
	rows, err := dynamo.List[ChannelRow](ctx, s.db, all, w)
	page := dynamo.Page[View]{More: rows.More, Last: rows.Last}
	for _, row := range rows.Items {
		page.Items = append(page.Items, row.View())
	}
	return page, err
}
