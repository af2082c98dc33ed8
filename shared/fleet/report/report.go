// Package report records what boxes run: what each box was told, what it says it runs, and the outcome of its offer.
// The rules here are pure; store.go stores a row per box.
//
// Boxes report in two ways. A poll says which version the box runs. Between polls, a box may say that it is working on
// an update, has put it off, or failed.
package report

import (
	"cmp"
	"slices"
	"time"

	"wavegate/shared/access/boxtoken"
	"wavegate/shared/platform/dynamo"
)

// A State is the state of a box's offer.
type State string

// States. Silent is not among them: it is derived from when the box was last seen; see Silent.
const (
	// Offered: the box was told the version and has not said anything about it.
	Offered State = "offered"
	// Working: the box says that it downloads or installs it.
	Working State = "working"
	// Deferred: a person at the machine put it off. This is never a failure.
	Deferred State = "deferred"
	// Installed: a poll said that the box runs it.
	Installed State = "installed"
	// Failed: the box said that it could not install or run it.
	Failed State = "failed"
	// Reverted: it ran, and then the box ran another version that it was not told.
	Reverted State = "reverted"
)

// States lists all of them.
var States = []State{Offered, Working, Deferred, Installed, Failed, Reverted}

// Decided reports whether the outcome of an offer is final.
func (s State) Decided() bool { return s == Installed || s == Failed || s == Reverted }

// A Row is what the service knows about one box.
type Row struct {
	EdgeID    string `json:"edgeId"`
	EdgeType  string `json:"edgeType"`
	Channel   string `json:"channel"`
	FactoryID string `json:"factoryId,omitempty"`
	Group     string `json:"group,omitempty"` // of the plant; see Group
	// TurnAt is since when the box has its turn in the group; nil: it has none, or was told before that was noted.
	TurnAt *time.Time `json:"turnAt,omitempty"`
	// OrganizationID is the organization that the box belongs to.
	OrganizationID string `json:"organizationId,omitempty"`
	// Issuer is the issuer of the box's tokens; see edge.Edge.
	Issuer string `json:"issuer,omitempty"`
	// Tokens are the hashes of the box's own tokens. They are only here, so that no list or event shows them. A
	// registration writes which tokens there are, and the box's calls write when they were used; see By.
	Tokens boxtoken.Live `json:"tokens"`
	// Ended are hashes of tokens that were taken from the box since the last reset of its id, and Banned are those of the
	// tokens before it: no code registers the box with one of them. Both hold the newest few.
	Ended  []string `json:"endedSha256,omitempty"`
	Banned []string `json:"bannedSha256,omitempty"`
	// EdgeAt is when the box's registration last changed. The nine fields above have that time. They are written in the
	// same transaction as the registration.
	EdgeAt time.Time `json:"edgeAt"`
	// RegisteredAt is when the box was registered first since it was last retired; nil: before that was noted.
	RegisteredAt *time.Time `json:"registeredAt,omitempty"`
	// Attributes are those of the registration, and Said are those that the box itself says. Before are those that it said
	// before it was told of a rollout, if it has said others since.
	Attributes map[string]string `json:"attributes,omitempty"`
	Said       map[string]string `json:"said,omitempty"`
	Before     *SaidBefore       `json:"saidBefore,omitempty"`
	// Pin is the box's pin; nil: nobody pinned it. It is written with the registration, too.
	Pin  *Pin  `json:"pin,omitempty"`
	Hold *Hold `json:"hold,omitempty"` // see Holding
	// Imported is set if the box comes from another server, and Assumed if Running is what somebody says of it, not the box.
	Imported *Imported `json:"imported,omitempty"`
	Assumed  bool      `json:"assumed,omitempty"`
	// HeldAt is since when the box is held, if the last poll was answered with what it runs for that reason.
	HeldAt *time.Time `json:"heldAt,omitempty"`
	// ReturnedFrom is the rollout that was returned, if the box was offered its channel's version for that reason.
	ReturnedFrom string `json:"returnedFrom,omitempty"`
	// Retired is set if the box was retired. The row stays, so that a poll that still read the old registration cannot
	// bring the box back into the counts.
	Retired bool `json:"retired,omitempty"`

	Told    string `json:"told,omitempty"`    // the version that the last poll was answered with
	Running string `json:"running,omitempty"` // what the box last said it runs; empty: it never said
	Label   string `json:"label,omitempty"`   // its words for that, if it has other ones; see Form
	// Subject is the name that the fair-use limiter counts the box under. Its counter shows when the box was last seen.
	Subject string `json:"subject,omitempty"`
	Offer   *Offer `json:"offer,omitempty"`
	// Stay is since when the box runs what it says; nil: it never said. Kept counts those that ended; nil: none did.
	Stay *Stay `json:"stay,omitempty"`
	Kept *Kept `json:"kept,omitempty"`
	// Stone is the stone on the way to a rollout's target that the box was offered last. The offer may be a later one.
	Stone *Stone `json:"stone,omitempty"`
	// Restless is set if nobody can tell what the box says. Turns counts quick changes of what it runs.
	Restless *Restless `json:"restless,omitempty"`
	Turns    int       `json:"turns,omitempty"`
	// Frequent is set if the box calls too often, or is suspected to; see Row.Often.
	Frequent *Frequent `json:"frequent,omitempty"`
	Health   *Health   `json:"health,omitempty"` // see Polled.Numbers

	// DDI is set while the box polls by hawkBit's DDI. Written, Cancel and AskedAt are only for such a box; see package ddi.
	DDI bool `json:"ddi,omitempty"`
	// Written is the version that the box wrote to disk last. It is empty again once the box says that it runs that
	// version, or a version other than before.
	Written string `json:"written,omitempty"`
	// Cancel is the action that the box is asked to give up; 0: none.
	Cancel int64 `json:"cancel,omitempty"`
	// AskedAt is when the box was last asked what it runs.
	AskedAt *time.Time `json:"askedAt,omitempty"`
	// Heard is what the box said last that was read otherwise.
	Heard []Heard `json:"heard,omitempty"`
	// Revision counts the changes to the row.
	Revision int64 `json:"revision"`
	dynamo.Unknown
}

// An Offer is the version that a box was last offered, and what has happened with it.
type Offer struct {
	// RolloutID is empty if the channel's own version was offered.
	RolloutID string `json:"rolloutId,omitempty" stored:"identity"`
	Version   string `json:"version" stored:"identity"`
	// From is what the box ran before, or fell back to; empty: it had not said.
	From string `json:"from,omitempty"`
	// Stage is the first stage, in percent, at which the rollout reaches the box; 0 without a rollout. It is derived from
	// the box's name, so a box that was switched off during its stage still counts there.
	Stage  int       `json:"stage,omitempty"`
	ToldAt time.Time `json:"toldAt"`
	Since  time.Time `json:"since"` // of the state
	State  State     `json:"state"`
	// Attempts is the highest attempt that the box reported, and FailedAttempt the highest that failed.
	Attempts      int `json:"attempts,omitempty"`
	FailedAttempt int `json:"failedAttempt,omitempty"`
	// Code is why the box failed or fell back. It stays even if a box that fell back runs the version again.
	Code   FailureCode `json:"code,omitempty"`
	Detail string      `json:"detail,omitempty"`
	// Until is the end of a deferral if the box named one.
	Until *time.Time `json:"until,omitempty"`

	// Action is the number of the attempt that a DDI box will be told or makes; 0: the box does not poll by DDI. RetryAt
	// is when it will be told after a failure. Cancelled is set if the box gave up the action.
	Action    int64      `json:"action,omitempty"`
	RetryAt   *time.Time `json:"retryAt,omitempty"`
	Cancelled bool       `json:"cancelled,omitempty"`
	// ErrorCode and ErrorDetail describe an error that the client has named, while the action is not closed.
	ErrorCode   FailureCode `json:"errorCode,omitempty"`
	ErrorDetail string      `json:"errorDetail,omitempty"`
	// WrittenAt is when the client said that the action's version is on disk, and StatedAt when the box later said that it
	// does not run the version. Both are missing once the outcome is decided; see package ddi.
	WrittenAt *time.Time `json:"writtenAt,omitempty"`
	StatedAt  *time.Time `json:"statedAt,omitempty"`
}

// A Stone is a version that a rollout tells a box first, because its target requires it.
type Stone struct {
	RolloutID string `json:"rolloutId" stored:"identity"`
	Version   string `json:"version" stored:"identity"`
	Towards   string `json:"towards"`       // the target
	Ran       string `json:"ran,omitempty"` // the stone that the box ran last
}

// towards is the target to which the row's offer is a stone; empty: it is none.
func (r Row) towards() string {
	if s, o := r.Stone, r.Offer; s != nil && o != nil && o.Is(Offer{RolloutID: s.RolloutID, Version: s.Version}) {
		return s.Towards
	}
	return ""
}

// Counted is the row's offer as it counts for its rollout: a box that runs a stone was told, and has not taken the
// target yet. It is empty without an offer.
func (r Row) Counted() (o Offer) {
	if r.Offer != nil {
		o = *r.Offer
	}
	if o.State == Installed && r.towards() != "" {
		o.State = Offered
	}
	return o
}

// Has is the version that the box says it has: the one that its DDI client wrote to disk last, otherwise the one that it runs.
func (r Row) Has() string { return cmp.Or(r.Written, r.Running) }

// Accepts reports whether a report about a version is about the box's offer.
func (r Row) Accepts(version string) bool {
	return r.Offer != nil && (r.Offer.Version == version || r.Offer.Version == r.Running && r.Label == version && version != "")
}

// A Registration is the part of a row that comes from the box's registration.
type Registration struct {
	EdgeID, EdgeType, Channel, FactoryID, Group, OrganizationID, Issuer string

	Attributes map[string]string

	Tokens boxtoken.Live
	At     time.Time // when it last changed
	First  time.Time // when the box was registered; zero: not known
	Pin    *Pin
	Hold   *Hold
	// Imported is set for a box that comes from another server.
	Imported *Imported
	Retired  bool
	Reset    bool // the id is free for whoever redeems it, but not with an earlier token
}

// Registered returns the row after its box was registered, moved or retired. It is written in the same transaction, so
// that a census counts the box where it belongs from then on. What the box was told and has reported stays unless the
// edge type or the organization changes: who said it may have been another box, and it is the former organization's.
func (r Row) Registered(g Registration) Row {
	next := r
	moves := r.OrganizationID != g.OrganizationID
	if g.Retired || r.starts(g.EdgeType) || moves {
		next = Row{}
	}
	next.EdgeID, next.EdgeType, next.Channel, next.FactoryID = g.EdgeID, g.EdgeType, g.Channel, g.FactoryID
	next.Group = g.Group
	next.OrganizationID, next.Issuer, next.Tokens, next.Attributes = g.OrganizationID, g.Issuer, g.Tokens, g.Attributes
	next.EdgeAt, next.Retired, next.Revision = g.At, g.Retired, r.Revision+1
	next.arrives(g.Imported)
	next.Pin, next.Hold = g.Pin, g.Hold
	if g.Pin != nil {
		next.HeldAt = nil
	}
	if next.RegisteredAt = r.RegisteredAt; !g.First.IsZero() {
		next.RegisteredAt = &g.First
	}
	next.Ended, next.Banned = r.Ended, r.Banned
	if !g.Tokens.Exists() || moves { // the tokens were not replaced, but taken away
		next.Ended = remember(r.Ended, r.Tokens.Current, r.Tokens.Previous)
	}
	if g.Reset {
		next.Ended, next.Banned = nil, remember(r.Banned, next.Ended...)
	}
	return next
}

// starts reports whether a registration begins an empty row: after a retirement, and with another edge type.
func (r Row) starts(edgeType string) bool { return r.Retired || r.EdgeType != edgeType }

// mostRemembered bounds the hashes of former tokens, because each write of a row pays for its size.
const mostRemembered = 16

// remember adds hashes to others, and keeps the newest.
func remember(known []string, hashes ...string) []string {
	known = slices.Clone(known)
	for _, h := range hashes {
		if h != "" && !slices.Contains(known, h) {
			known = append(known, h)
		}
	}
	return known[max(0, len(known)-mostRemembered):]
}

// pair is the release channel that the row counts for. A retired box counts for none: no edge type has this name.
func (r Row) pair() string {
	if r.Retired {
		return "-"
	}
	return r.EdgeType + "/" + r.Channel
}
