// Package edge registers edge devices, called edges or boxes: which organization has a box, which release channel it
// follows, and which token it has.
package edge

import (
	"cmp"
	"time"

	"wavegate/shared/access/boxtoken"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/trail/audit"
)

// An Edge is a box of an organization.
type Edge struct {
	EdgeID         string `json:"edgeId"`
	EdgeType       string `json:"edgeType"`
	Channel        string `json:"channel"`
	OrganizationID string `json:"organizationId"`
	FactoryID      string `json:"factoryId,omitempty"` // where it is; empty: not given
	Group          string `json:"group,omitempty"`     // of the factory: boxes that are not told at once; see report.Group
	Issuer         string `json:"issuer,omitempty"`    // of its tokens; empty: see Issuers
	// Attributes are those that the registration gives the box. They win over those that the box says itself.
	Attributes map[string]string `json:"attributes,omitempty"`
	// TokenSetAt is when the box's own token was last set; nil: it has none. The hashes of its tokens are in its report
	// row, since API answers show this struct.
	TokenSetAt *time.Time `json:"tokenSetAt,omitempty"`
	// TokenWeak is set if that token may be weak, and GuessedAt is when its calls had a wrong token ten times; see
	// boxauth.Foreign.
	TokenWeak bool       `json:"tokenWeak,omitempty"`
	GuessedAt *time.Time `json:"guessedAt,omitempty"`
	// EnrolmentID is the enrolment by which the box was registered; empty: a person did it. A retired box keeps it, or has
	// the value nowhere if a person registered it. A reset empties it.
	EnrolmentID string `json:"enrolmentId,omitempty"`
	// Pin keeps the box on a version; nil: nobody pinned it. A pin that has ended stays until the box is changed.
	Pin  *report.Pin  `json:"pin,omitempty"`
	Hold *report.Hold `json:"hold,omitempty"` // see report.Holding
	// Imported is set if the box comes from another server.
	Imported  *report.Imported `json:"imported,omitempty"`
	CreatedAt time.Time        `json:"createdAt"`
	UpdatedAt time.Time        `json:"updatedAt"`
	Revision  int64            `json:"revision"` // from 1
	dynamo.Unknown
}

// nowhere is the organization and the channel of a retired box. For everyone but the audit trail the box does not
// exist. Its item remains so that the revisions continue if the box is registered again. No real name is spelled like
// this.
const nowhere = "-"

func (e Edge) retired() bool { return e.OrganizationID == nowhere }

// RetiredSince reports whether the box was retired at a time or later, and not reset.
func (e Edge) RetiredSince(at time.Time) bool {
	return e.retired() && e.EnrolmentID != "" && !e.UpdatedAt.Before(at)
}

// Exists reports whether the box is registered.
func (e Edge) Exists() bool { return e.Revision > 0 && !e.retired() }

// Pair names the release channel that the box follows.
func (e Edge) Pair() string { return release.Pair(e.EdgeType, e.Channel) }

// An Assignment is what a caller sets for a box.
type Assignment struct {
	EdgeType, Channel, OrganizationID string
	// FactoryID names a factory of the organization; nil keeps the box's factory while the box stays in its organization,
	// and empty removes it.
	FactoryID *string
	// Group is the box's group within its factory; nil keeps it while the box stays in its factory, and empty removes it.
	Group *string `json:",omitempty"`
	// Issuer is the issuer of the box's tokens; nil keeps the box's issuer, and empty removes it.
	Issuer *string
	// Attributes are the box's attributes; nil keeps those that it has while it stays in its organization.
	Attributes map[string]string `json:",omitzero"`
	// TokenSHA256 is the hash of the box's own token; empty keeps the box's tokens.
	TokenSHA256 string
	// TokenWeak says that the token may be weak.
	TokenWeak bool `json:",omitempty"`
	// TokenWaits says that the gateway speaks for the box until it calls with the token.
	TokenWaits bool `json:",omitempty"`
	// EnrolmentID is the enrolment by which a new box is registered.
	EnrolmentID string
	// Departure is the reason of a signature: the box leaves its factory although it speaks for machines that have versions.
	Departure string `json:",omitempty"`
	// TakeOver says that a box of another organization is meant, too.
	TakeOver bool `json:",omitempty"`
	// Pin is what the caller asks of the box's pin; nil keeps it.
	Pin *PinRequest `json:",omitempty"`
	// Imported says that the box comes from another server; nil keeps what was said of it while it stays in its organization.
	Imported *report.Imported `json:",omitempty"`
	// AllowDowngrade says that the box need not keep what it runs.
	AllowDowngrade bool `json:",omitempty"`

	made *report.Pin  // of Pin; see pinning
	by   audit.Person // who asks
}

// factory is the box's factory after an assignment.
func (a Assignment) factory(was Edge) string {
	switch {
	case a.FactoryID != nil:
		return *a.FactoryID
	case was.Exists() && was.OrganizationID == a.OrganizationID:
		return was.FactoryID
	}
	return ""
}

// group is the box's group after an assignment.
func (a Assignment) group(was Edge) string {
	switch {
	case a.Group != nil:
		return *a.Group
	case was.FactoryID == a.factory(was):
		return was.Group
	}
	return ""
}

// attributes are the box's attributes after an assignment.
func (a Assignment) attributes(was Edge) map[string]string {
	switch {
	case len(a.Attributes) > 0:
		return a.Attributes
	case a.Attributes != nil: // none are stored as nothing
	case was.Exists() && was.OrganizationID == a.OrganizationID:
		return was.Attributes
	}
	return nil
}

// The events of an assignment.
const (
	registered = "EdgeRegistered"
	reassigned = "EdgeReassigned"
	takenOver  = "EdgeTakenOver"
)

// assign applies an assignment to a box that has some tokens. It returns the box's next state and tokens, and the
// event; no event if nothing changes.
func (e Edge) assign(id string, a Assignment, had boxtoken.Live, at time.Time) (next Edge, has boxtoken.Live, event string) {
	next = e
	if !e.Exists() {
		next = Edge{CreatedAt: at, UpdatedAt: e.UpdatedAt, Revision: e.Revision}
	}
	next.EdgeID, next.EdgeType, next.Channel, next.OrganizationID = id, a.EdgeType, a.Channel, a.OrganizationID
	next.FactoryID, next.Group, next.Issuer, next.Attributes = a.factory(e), a.group(e), a.issuer(e), a.attributes(e)
	if !e.Exists() || e.OrganizationID != a.OrganizationID {
		had, next.TokenSetAt, next.GuessedAt, next.EnrolmentID = boxtoken.Live{}, nil, nil, a.EnrolmentID // a box that moves to another organization loses its tokens
	}
	next.Pin, next.Hold = a.pin(e, at), a.hold(e, at)
	if !e.Exists() || e.OrganizationID != a.OrganizationID {
		next.Imported = nil
	} else if e.EdgeType != a.EdgeType {
		next.Imported = e.Imported.Unsaid() // a version of the former edge type is none of this one
	}
	next.Imported = a.Imported.After(next.Imported, at)
	has = had
	if a.TokenSHA256 != "" {
		var changed bool
		if has, changed = had.Replace(a.TokenSHA256, at); changed {
			next.TokenSetAt, has.Waits = &at, a.TokenWaits
		}
		if a.TokenWeak {
			has.Weak = a.TokenSHA256
		}
	}
	next.TokenWeak = has.Exists() && has.Weak == has.Current
	if dynamo.Same(next, e) {
		return e, had, ""
	}
	switch {
	case !e.Exists():
		event = registered
	case a.TakeOver && e.OrganizationID != a.OrganizationID:
		event = takenOver
	default:
		event = reassigned
	}
	if next.Pin != nil && !next.Pin.Holds(at) {
		next.Pin, next.Hold = nil, report.Holding(next.Pin, next.Hold, at)
	}
	next.UpdatedAt = at
	next.Revision++
	if e.Exists() && e.OrganizationID != next.OrganizationID { // it leaves the one, and then comes to the other
		next.UpdatedAt = at.Add(time.Millisecond)
		next.Revision++
	}
	return next, has, event
}

// retire retires a box; NOT_FOUND if there is none.
func (e Edge) retire(at time.Time) (next Edge, event string, err error) {
	if !e.Exists() {
		return e, "", problem.Missing()
	}
	e.OrganizationID, e.FactoryID, e.Group, e.Issuer, e.Attributes, e.TokenSetAt, e.Pin, e.Hold, e.UpdatedAt = nowhere, "", "", "", nil, nil, nil, nil, at
	e.TokenWeak, e.GuessedAt, e.Imported = false, nil, nil
	e.EnrolmentID = cmp.Or(e.EnrolmentID, nowhere)
	e.Revision++
	return e, "EdgeRetired", nil
}

// An Enroller is an enrolment that frees an id.
type Enroller struct {
	ID, OrganizationID string
	Names              bool // it lists the id, or has accepted it
}

// reset retires a box if there is one, and frees its id. It returns NOT_FOUND if the enrolment neither names the id nor
// registered the box, and for a box of another organization. Nothing changes if the id is free.
func (e Edge) reset(by Enroller, at time.Time) (next Edge, event string, err error) {
	switch {
	case !by.Names && e.EnrolmentID != by.ID, e.Exists() && e.OrganizationID != by.OrganizationID:
		return e, "", problem.Missing()
	case e.Exists():
		e, _, _ = e.retire(at)
	case e.EnrolmentID == "":
		return e, "", nil
	default:
		e.UpdatedAt = at
		e.Revision++
	}
	e.EnrolmentID = ""
	return e, "EdgeReset", nil
}

// Of makes a box from its report row, with all that a poll needs.
func Of(row report.Row) Edge {
	return Edge{EdgeID: row.EdgeID, EdgeType: row.EdgeType, Channel: row.Channel, FactoryID: row.FactoryID, Group: row.Group,
		OrganizationID: row.OrganizationID, Issuer: row.Issuer, Attributes: row.Attributes, Pin: row.Pin, Hold: row.Hold,
		Imported: row.Imported, UpdatedAt: row.EdgeAt}
}

// registration is the registration in the report row of a box with these tokens.
func (e Edge) registration(has boxtoken.Live) report.Registration {
	g := e.Registration()
	g.Tokens = has
	return g
}

// Registration is the registration in the box's report row, without its tokens.
func (e Edge) Registration() report.Registration {
	g := report.Registration{EdgeID: e.EdgeID, EdgeType: e.EdgeType, Channel: e.Channel, FactoryID: e.FactoryID, Group: e.Group,
		OrganizationID: e.OrganizationID, Issuer: e.Issuer, Attributes: e.Attributes, At: e.UpdatedAt, First: e.CreatedAt, Pin: e.Pin, Hold: e.Hold, Imported: e.Imported}
	if e.retired() {
		g.OrganizationID, g.Retired, g.Reset = "", true, e.EnrolmentID == ""
	}
	return g
}

// issuer is the box's issuer after an assignment. Without a value it stays the same.
func (a Assignment) issuer(was Edge) string {
	if a.Issuer != nil {
		return *a.Issuer
	}
	return was.Issuer
}
