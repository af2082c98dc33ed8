package edge

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
)

// A Filter says which boxes are listed: those that follow a release channel, those of an organization, or those that are
// both. One of the two is always given, so that no partition holds all boxes.
type Filter struct {
	EdgeType, Channel string
	OrganizationID    string
	IDPrefix          string // the beginning of the ids; empty: any
	Attribute         string // the name of an attribute, a colon and its value; empty: any
	ByAttribute       bool   // one was given, even if it is not valid
	Pinned            bool   // only boxes with a pin that holds
}

var attributeRule = &input.Text{
	Pattern: report.AttributeName.Pattern + `:[^\x00-\x1f\x7f-\x9f]{1,64}`,
	Says:    "the name of an attribute, a colon and its text, such as hardwareRevision:C",
}

// FilterOf reads the query parameters edgeType with channel, or organizationId, and idPrefix, attribute and pinned.
func FilterOf(in *input.Reader) Filter {
	var f Filter
	var byType, byChannel, byOrganization bool
	f.EdgeType, byType = in.Query("edgeType", input.Name)
	f.Channel, byChannel = in.Query("channel", input.Name)
	f.OrganizationID, byOrganization = in.Query("organizationId", input.Name)
	f.IDPrefix, _ = in.Query("idPrefix", input.EdgeID) // a prefix of an id has the same form
	f.Attribute, f.ByAttribute = in.Query("attribute", attributeRule)
	f.Pinned = in.Flag("pinned")
	switch {
	case byType && !byChannel:
		in.Fault("channel", "required", "is required with edgeType")
	case byChannel && !byType:
		in.Fault("edgeType", "required", "is required with channel")
	case !byOrganization && !byType:
		in.Fault("organizationId", "required", "is required, unless edgeType and channel are given")
	}
	return f
}

// For returns the filter of what a caller may see, or NOT_FOUND. Without an organization in the filter, that is the
// caller's own, unless the caller sees all.
func (f Filter) For(caller auth.Principal) (Filter, error) {
	if f.OrganizationID == "" && !caller.SeesAll() {
		f.OrganizationID = caller.OrganizationID
	}
	if f.OrganizationID != "" && !caller.MaySee(f.OrganizationID) || f.OrganizationID == "" && !caller.SeesAll() {
		return f, problem.Missing()
	}
	return f, nil
}

// Values returns the filter as query parameters.
func (f Filter) Values() url.Values {
	pinned := ""
	if f.Pinned {
		pinned = "true"
	}
	return input.Values("organizationId", f.OrganizationID, "edgeType", f.EdgeType, "channel", f.Channel, "idPrefix", f.IDPrefix, "attribute", f.Attribute, "pinned", pinned)
}

// List returns boxes in the byte order of their ids. It reads a global index, so a change shows after a moment, usually
// within a second. A read of a single box is always up to date.
//
// While someone pages, a box that joins shifts those after it by one, and so does one that leaves.
func (s *Store) List(ctx context.Context, f Filter, w dynamo.Span) (dynamo.Page[Shown], error) {
	if f.Attribute != "" {
		return s.withAttribute(ctx, f.selection(), f, w)
	}
	some, err := s.registered(ctx, f, w)
	if err != nil {
		return dynamo.Page[Shown]{}, err
	}
	page := dynamo.Page[Shown]{More: some.More, Last: some.Last}
	rows, err := s.reports.GetAll(ctx, idsOf(some.Items))
	for _, e := range some.Items {
		page.Items = append(page.Items, e.with(rows[e.EdgeID]))
	}
	return page, err
}

// selection is where the boxes of a filter are.
func (f Filter) selection() dynamo.Selection {
	by := dynamo.Selection{Table: dynamo.Edges, Index: "byChannel", Partition: release.Pair(f.EdgeType, f.Channel)}
	if f.OrganizationID != "" {
		by.Index, by.Partition = "byOrganization", f.OrganizationID
	}
	if f.IDPrefix != "" {
		by.Least, by.Most = f.IDPrefix, f.IDPrefix+"~" // ~ comes after every character of an id
	}
	return by
}

// registered lists the registrations of a filter without an attribute.
func (s *Store) registered(ctx context.Context, f Filter, w dynamo.Span) (dynamo.Page[Edge], error) {
	if f.Pinned || f.OrganizationID != "" && f.Channel != "" {
		return f.chosen(ctx, s.db, f.selection(), w)
	}
	return dynamo.List[Edge](ctx, s.db, f.selection(), w)
}

// EachPinned calls a function with every box of a channel whose pin holds. It reads all boxes of the channel.
func (s *Store) EachPinned(ctx context.Context, edgeType, channel string, each func(Edge)) error {
	by := dynamo.Selection{Table: dynamo.Edges, Index: "byChannel", Partition: release.Pair(edgeType, channel), With: "pin"}
	return dynamo.Walk(ctx, s.db, by, nil, 0, func(e Edge) error {
		if e.Pin.Holds(s.db.Now()) {
			each(e)
		}
		return nil
	})
}

const (
	// lookedAt bounds the boxes that a page with an attribute looks at, and lookedAtOnce those of one request.
	lookedAt     = 1000
	lookedAtOnce = 100
)

// withAttribute looks for boxes with an attribute. What a box says is in its report row, so that each row is read.
func (s *Store) withAttribute(ctx context.Context, by dynamo.Selection, f Filter, w dynamo.Span) (page dynamo.Page[Shown], err error) {
	name, value, _ := strings.Cut(f.Attribute, ":")
	for looked := 0; ; looked += lookedAtOnce {
		some, err := dynamo.List[Edge](ctx, s.db, by, dynamo.Span{Limit: lookedAtOnce, After: w.After})
		if err != nil {
			return page, err
		}
		rows, err := s.reports.GetAll(ctx, idsOf(some.Items))
		if err != nil {
			return page, err
		}
		for _, e := range some.Items {
			box := e.with(rows[e.EdgeID])
			if box.attribute(name) != value || !f.includes(e, s.db.Now()) {
				w.After = e.EdgeID
				continue
			}
			if len(page.Items) == w.Limit {
				page.More, page.Last = true, w.After
				return page, nil
			}
			page.Items, w.After = append(page.Items, box), e.EdgeID
		}
		if page.More = some.More; !page.More || looked+lookedAtOnce >= lookedAt {
			page.Last = w.After
			return page, nil
		}
	}
}

func idsOf(boxes []Edge) []string {
	ids := make([]string, len(boxes))
	for i, e := range boxes {
		ids[i] = e.EdgeID
	}
	return ids
}

// attribute is the value of an attribute; empty: the box has none of this name.
func (s Shown) attribute(name string) string {
	if value, registered := s.Attributes[name]; registered {
		return value
	}
	return s.Said[name]
}

// includes reports whether a box of the filter's organization or channel is on its channel, and pinned if it asks for
// that.
func (f Filter) includes(e Edge, now time.Time) bool {
	return (f.Channel == "" || e.EdgeType == f.EdgeType && e.Channel == f.Channel) && (!f.Pinned || e.Pin.Holds(now))
}

// chosen lists the boxes of a selection that the filter includes. There is no index of them: few boxes are pinned, and
// an organization has few channels. So it reads the selection until the page is full, about 1 MB for 2,000 boxes. For an
// organization it reads no box of another one.
func (f Filter) chosen(ctx context.Context, db *dynamo.DB, by dynamo.Selection, w dynamo.Span) (page dynamo.Page[Edge], err error) {
	by.Least = max(by.Least, w.After)
	if f.Pinned {
		by.With = "pin"
	}
	if by.Least != "" && by.Most == "" {
		by.Most = "~"
	}
	now, skip := db.Now(), w.Skip
	err = dynamo.Walk(ctx, db, by, nil, 0, func(e Edge) error {
		switch {
		case !f.includes(e, now) || e.EdgeID == w.After:
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

// Each calls a function with every box of an organization, in the order of their ids, after an id or from the start.
func (s *Store) Each(ctx context.Context, organizationID, after string, each func(Edge) error) error {
	by := dynamo.Selection{Table: dynamo.Edges, Index: "byOrganization", Partition: organizationID}
	if after != "" {
		by.Least, by.Most = after+"\x00", "~"
	}
	return dynamo.Walk(ctx, s.db, by, nil, 0, each)
}

// Has reports whether an organization has a box on a channel, or any if none is named. No organization has none.
func (s *Store) Has(ctx context.Context, organizationID, edgeType, channel string) (bool, error) {
	if organizationID == "" {
		return false, nil
	}
	page, err := s.registered(ctx, Filter{OrganizationID: organizationID, EdgeType: edgeType, Channel: channel}, dynamo.Span{Limit: 1})
	return len(page.Items) > 0, err
}

// errEnough ends a walk.
var errEnough = errors.New("edge: enough was read")
