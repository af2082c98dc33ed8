package edge

import (
	"context"
	"errors"
	"net/url"

	"wavegate/shared/fleet/release"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
)

// A Filter says which boxes are listed: those that follow a release channel, or those of an organization. One of the
// two is always given, so that no partition holds all boxes.
type Filter struct {
	EdgeType, Channel string
	OrganizationID    string
	IDPrefix          string // the beginning of the ids; empty: any
	Pinned            bool   // only boxes with a pin that holds
}

// FilterOf reads the query parameters edgeType with channel, or organizationId, and idPrefix and pinned.
func FilterOf(in *input.Reader) Filter {
	var f Filter
	var byType, byChannel, byOrganization bool
	f.EdgeType, byType = in.Query("edgeType", input.Name)
	f.Channel, byChannel = in.Query("channel", input.Name)
	f.OrganizationID, byOrganization = in.Query("organizationId", input.Name)
	f.IDPrefix, _ = in.Query("idPrefix", input.EdgeID) // a prefix of an id has the same form
	f.Pinned = in.Flag("pinned")
	switch {
	case byOrganization && (byType || byChannel):
		in.Fault("organizationId", "exclusive", "must not be given together with edgeType and channel")
	case byType && !byChannel:
		in.Fault("channel", "required", "is required with edgeType")
	case byChannel && !byType:
		in.Fault("edgeType", "required", "is required with channel")
	case !byOrganization && !byType:
		in.Fault("organizationId", "required", "is required, unless edgeType and channel are given")
	}
	return f
}

// Values returns the filter as query parameters.
func (f Filter) Values() url.Values {
	pinned := ""
	if f.Pinned {
		pinned = "true"
	}
	return input.Values("organizationId", f.OrganizationID, "edgeType", f.EdgeType, "channel", f.Channel, "idPrefix", f.IDPrefix, "pinned", pinned)
}

// List returns boxes in the byte order of their ids. It reads a global index, so a change shows after a moment, usually
// within a second. A read of a single box is always up to date.
//
// While someone pages, a box that joins shifts those after it by one, and so does one that leaves.
func (s *Store) List(ctx context.Context, f Filter, w dynamo.Span) (dynamo.Page[Edge], error) {
	by := dynamo.Selection{Table: dynamo.Edges, Index: "byChannel", Partition: release.Pair(f.EdgeType, f.Channel)}
	if f.OrganizationID != "" {
		by.Index, by.Partition = "byOrganization", f.OrganizationID
	}
	if f.IDPrefix != "" {
		by.Least, by.Most = f.IDPrefix, f.IDPrefix+"~" // ~ comes after every character of an id
	}
	if f.Pinned {
		return s.pinned(ctx, by, w)
	}
	return dynamo.List[Edge](ctx, s.db, by, w)
}

// pinned lists the boxes of a selection whose pin holds. There is no index of them: few boxes are pinned, and fewer
// people ask. So it reads the whole selection, about 1 MB for 2,000 boxes.
func (s *Store) pinned(ctx context.Context, by dynamo.Selection, w dynamo.Span) (page dynamo.Page[Edge], err error) {
	by.With, by.Least = "pin", max(by.Least, w.After)
	if by.Least != "" && by.Most == "" {
		by.Most = "~"
	}
	now, skip := s.db.Now(), w.Skip
	err = dynamo.Walk(ctx, s.db, by, nil, 0, func(e Edge) error {
		switch {
		case !e.Pin.Holds(now) || e.EdgeID == w.After:
		case skip > 0:
			skip--
		case len(page.Items) < w.Limit:
			page.Items = append(page.Items, e)
		default:
			page.More, page.Last = true, page.Items[w.Limit-1].EdgeID
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return page, err
}

// errEnough ends a walk.
var errEnough = errors.New("edge: enough was read")
