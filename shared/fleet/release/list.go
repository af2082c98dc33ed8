package release

import (
	"context"

	"wavegate/shared/platform/dynamo"
)

// List returns channels in the byte order of their edge types, then of their names; only those of an edge type if
// edgeType is not empty. The channels of one edge type are up to date. The list of all channels is read from a global
// index, so a change shows after a moment, usually within a second.
//
// While someone pages, a new channel shifts those after it by one. Channels are never removed.
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
