package edge

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/calendar"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
)

// A Filter says which boxes are listed: those that follow a release channel, those of an organization, those that are
// both, or all. Its other fields choose some of these.
type Filter struct {
	EdgeType, Channel string // a type may be given alone
	OrganizationID    string
	IDPrefix          string // the beginning of the ids; empty: any
	IDPart            string // a part of the ids, in any case; empty: any
	FactoryID         string
	Attribute         string // the name of an attribute, a colon and its value; empty: any
	Version           string // what the boxes say they run; empty: any
	State             string // of the boxes' last offers, or frequent, mislabelled, restless, trouble or waiting; empty: any
	Pinned            bool   // only boxes with a pin that holds
	byRow             bool   // what rows say was asked for, even if it is not valid
}

var (
	attributeRule = &input.Text{
		Pattern: report.AttributeName.Pattern + `:[^\x00-\x1f\x7f-\x9f]{1,64}`,
		Says:    "the name of an attribute, a colon and its text, such as hardwareRevision:C",
	}
	partRule    = &input.Text{Pattern: "[A-Za-z0-9._:-]{1,128}", Says: "1 to 128 letters, digits, dots, underscores, hyphens or colons"}
	versionRule = &input.Text{Min: 1, Max: 128, Check: input.Printable, Says: "1 to 128 characters without control characters"}
	stateRule   = &input.Text{Pattern: strings.Join(States, "|"), Says: "one of " + strings.Join(States, ", ")}
)

// States are those of boxes' last offers, frequent (see report.Row.Often), mislabelled (with a label, also one that is good), restless,
// trouble (failed, reverted or restless), and waiting, as Waits says.
var States = func() []string {
	all := []string{frequent, mislabelled, restless, trouble, waiting}
	for _, s := range report.States {
		all = append(all, string(s))
	}
	slices.Sort(all)
	return all
}()

const (
	frequent    = "frequent"
	mislabelled = "mislabelled"
	restless    = "restless"
	trouble     = "trouble"
	waiting     = "waiting"
)

// Waits finds for what boxes wait before they are told something new, given their rows. It may answer only for the first of
// them; then a page ends before the others.
type Waits func(ctx context.Context, boxes []Shown, rows map[string]report.Row) ([]calendar.Wait, error)

// FilterOf reads the query parameters edgeType, channel, organizationId, idPrefix, idPart, factoryId, attribute, version,
// state and pinned.
func FilterOf(in *input.Reader) Filter {
	var f Filter
	var byType, byChannel, byAttribute, byVersion, byState bool
	f.EdgeType, byType = in.Query("edgeType", input.Name)
	f.Channel, byChannel = in.Query("channel", input.Name)
	f.OrganizationID, _ = in.Query("organizationId", input.Name)
	f.IDPrefix, _ = in.Query("idPrefix", input.EdgeID) // a prefix of an id has the same form
	f.IDPart, _ = in.Query("idPart", partRule)
	f.FactoryID, _ = in.Query("factoryId", input.Slug)
	f.Attribute, byAttribute = in.Query("attribute", attributeRule)
	f.Version, byVersion = in.Query("version", versionRule)
	f.State, byState = in.Query("state", stateRule)
	f.byRow = byAttribute || byVersion || byState
	f.Pinned = in.Flag("pinned")
	if byChannel && !byType {
		in.Fault("edgeType", "required", "is required with channel")
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
	return input.Values("organizationId", f.OrganizationID, "edgeType", f.EdgeType, "channel", f.Channel, "idPrefix", f.IDPrefix, "idPart", f.IDPart,
		"factoryId", f.FactoryID, "attribute", f.Attribute, "version", f.Version, "state", f.State, "pinned", pinned)
}

// ofRows reports whether the filter asks for what is in the rows of boxes.
func (f Filter) ofRows() bool { return f.byRow || f.Attribute+f.Version+f.State != "" }

// looks reports whether there is no index of the boxes of the filter, so that a page looks through others, too.
func (f Filter) looks() bool {
	return f.ofRows() || f.IDPart != "" || f.FactoryID != "" || f.Pinned || f.EdgeType != "" && f.Channel == "" || f.OrganizationID != "" && f.Channel != ""
}

// List returns boxes in the byte order of their ids. It reads a global index, so a change shows after a moment, usually
// within a second. A read of a single box is always up to date.
//
// While someone pages by offset, a box that joins shifts those after it by one, and so does one that leaves.
func (s *Store) List(ctx context.Context, f Filter, w dynamo.Span) (dynamo.Page[Shown], error) {
	if f.looks() {
		return s.look(ctx, f, w)
	}
	page, err := dynamo.List[Shown](ctx, s.db, f.selection(), w)
	if err == nil {
		page.Items, err = s.standing(ctx, page.Items, nil)
	}
	return page, err
}

// selection is where the boxes of a filter are.
func (f Filter) selection() dynamo.Selection {
	by := dynamo.Selection{Table: dynamo.Edges, Index: "all", Partition: listAll}
	switch {
	case f.OrganizationID != "":
		by.Index, by.Partition = "byOrganization", f.OrganizationID
	case f.Channel != "":
		by.Index, by.Partition = "byChannel", release.Pair(f.EdgeType, f.Channel)
	}
	if f.IDPrefix != "" {
		by.Least, by.Most = f.IDPrefix, f.IDPrefix+"~" // ~ comes after every character of an id
	}
	return by
}

// Pinned lists the boxes of a type whose pin holds. Only their ids, channels and pins are known. It reads all pinned ones.
func (s *Store) Pinned(ctx context.Context, edgeType string) (list []Edge, err error) {
	err = dynamo.Walk(ctx, s.db, byPlace(edgeType, pinned, pinned+"~"), nil, 0, func(e Edge) error {
		if e.Pin.Holds(s.db.Now()) {
			list = append(list, e)
		}
		return nil
	})
	return list, err
}

// Channels lists the channels on which a type has boxes that are not pinned, also those on which nothing was published. It reads
// one box of each.
func (s *Store) Channels(ctx context.Context, edgeType string) (list []string, err error) {
	for after := pinned + "~"; ; {
		page, err := dynamo.List[Edge](ctx, s.db, byPlace(edgeType, after, "~"), dynamo.Span{Limit: 1})
		if err != nil || len(page.Items) == 0 {
			return list, err
		}
		list = append(list, page.Items[0].Channel)
		after = page.Items[0].Channel + "/~"
	}
}

func byPlace(edgeType, least, most string) dynamo.Selection {
	return dynamo.Selection{Table: dynamo.Edges, Index: "byPlace", Partition: edgeType, Least: least, Most: most}
}

// A page with what report rows say looks at 2,000 boxes, or at 1,000 if it also needs their channels and plants.
const (
	rowsLooked    = 2000
	waitingLooked = 1000
	rowsAtOnce    = 100
	atOnce        = 500
)

// look looks for the boxes that a filter includes. Only if the filter asks for what is in their report rows, it reads these
// of all that it looks at.
func (s *Store) look(ctx context.Context, f Filter, w dynamo.Span) (dynamo.Page[Shown], error) {
	most, some, waits := dynamo.MostLooked, atOnce, Waits(nil)
	if f.ofRows() {
		most, some = rowsLooked, rowsAtOnce
	}
	if f.State == waiting {
		most, waits = waitingLooked, s.waits()
	}
	search, now := dynamo.NewSearch[Shown](s.db, w, most), s.db.Now()
	_, err := dynamo.Look(ctx, search, f.selection(), w.After, some, "", false, func(ctx context.Context, boxes []Shown) (shown []*Shown, err error) {
		if f.ofRows() {
			boxes, err = s.standing(ctx, boxes, waits)
		}
		for i, box := range boxes {
			shown = append(shown, nil)
			if f.includes(box.Edge, now) && f.shows(box) {
				shown[i] = &boxes[i]
			}
		}
		return shown, err
	})
	page := search.Page()
	if err == nil && !f.ofRows() {
		page.Items, err = s.standing(ctx, page.Items, nil)
	}
	return page, err
}

// standing adds to boxes what their rows say and, if waits is not nil, for what they wait. It returns only the boxes for
// which waits answers.
func (s *Store) standing(ctx context.Context, boxes []Shown, waits Waits) ([]Shown, error) {
	rows, err := s.reports.GetAll(ctx, idsOf(boxes))
	if err != nil {
		return nil, err
	}
	all := make([]Shown, len(boxes))
	for i, e := range boxes {
		all[i] = e.with(rows[e.EdgeID])
	}
	if waits == nil {
		return all, nil
	}
	found, err := waits(ctx, boxes, rows)
	for i, wait := range found {
		all[i].Waits, all[i].OpensAt = wait.For, wait.OpensAt()
	}
	return all[:len(found)], err
}

// nobody waits.
func nobody(_ context.Context, boxes []Shown, _ map[string]report.Row) ([]calendar.Wait, error) {
	return make([]calendar.Wait, len(boxes)), nil
}

func idsOf(boxes []Shown) []string {
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

// includes reports whether the filter includes a box of its selection, as far as the registration says.
func (f Filter) includes(e Edge, now time.Time) bool {
	return !e.retired() && (f.EdgeType == "" || e.EdgeType == f.EdgeType) && (f.Channel == "" || e.Channel == f.Channel) &&
		(f.FactoryID == "" || e.FactoryID == f.FactoryID) && (!f.Pinned || e.Pin.Holds(now)) &&
		strings.Contains(strings.ToLower(e.EdgeID), strings.ToLower(f.IDPart))
}

// shows reports whether the filter includes a box by what its row says.
func (f Filter) shows(box Shown) bool {
	name, value, _ := strings.Cut(f.Attribute, ":")
	return (f.Attribute == "" || box.attribute(name) == value) && (f.Version == "" || box.Running == f.Version) &&
		(f.State == "" || f.State == box.State || f.State == waiting && box.Waits != "" || f.State == restless && box.Restless != nil || f.State == frequent && box.Frequent != nil || f.State == mislabelled && box.Label != "" ||
			f.State == trouble && (box.Restless != nil || box.State == string(report.Failed) || box.State == string(report.Reverted)))
}

// OfOrganization selects the boxes of an organization, in the order of their ids.
func OfOrganization(organizationID string) dynamo.Selection {
	return Filter{OrganizationID: organizationID}.selection()
}

// Each calls a function with every box of an organization, in the order of their ids.
func (s *Store) Each(ctx context.Context, organizationID string, each func(Edge) error) error {
	return dynamo.Walk(ctx, s.db, OfOrganization(organizationID), nil, 0, each)
}

// Has reports whether an organization has a box on a channel, or any if none is named. No organization has none.
func (s *Store) Has(ctx context.Context, organizationID, edgeType, channel string) (has bool, err error) {
	if organizationID == "" {
		return false, nil
	}
	some := 0
	if edgeType == "" {
		some = 1
	}
	err = dynamo.Walk(ctx, s.db, OfOrganization(organizationID), nil, some, func(e Edge) error {
		if has = edgeType == "" || e.EdgeType == edgeType && e.Channel == channel; has {
			return dynamo.ErrEnough
		}
		return nil
	})
	return has, err
}
