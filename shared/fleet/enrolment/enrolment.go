// Package enrolment lets boxes register themselves. A person lists the ids of new boxes, gets a code, and puts it into
// the image of all of them. At its first start, a box makes a token of its own, and redeems its id with the code and
// the token's SHA-256. A box with an unlisted id waits until a person accepts it.
package enrolment

import (
	"slices"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/access/boxtoken"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
)

// A Plan says which boxes may enrol, and where.
type Plan struct {
	EdgeType, Channel, OrganizationID, FactoryID string
	EdgeIDs                                      []string
	ExpiresAt                                    time.Time
}

// An Enrolment is a plan with its code.
type Enrolment struct {
	ID             string `json:"id"`
	EdgeType       string `json:"edgeType"`
	Channel        string `json:"channel"`
	OrganizationID string `json:"organizationId"`
	FactoryID      string `json:"factoryId,omitempty"`
	// Edges is how many ids are listed, and Accepted how many others were accepted.
	Edges    int `json:"edges"`
	Accepted int `json:"accepted"`
	// ExpiresAt is the first instant at which the code is no longer valid.
	ExpiresAt time.Time `json:"expiresAt"`
	// EndedAt is when a person ended it, or nil.
	EndedAt *time.Time `json:"endedAt,omitempty"`
	// RefusedAt is the time of the last audit event about a box that was refused because another has its id, and
	// RefusedFor is the id.
	RefusedAt  *time.Time `json:"refusedAt,omitempty"`
	RefusedFor string     `json:"refusedFor,omitempty"`
	CreatedAt  time.Time  `json:"createdAt"`
	UpdatedAt  time.Time  `json:"updatedAt"`
	Revision   int64      `json:"revision"`
}

// A Kept is an enrolment as it is stored. The hash of its code is never shown.
type Kept struct {
	Enrolment
	CodeSHA256 string `json:"codeSha256"`
	// Registrar is who the boxes count for that redeem their ids.
	Registrar edge.Registrar `json:"registrar,omitempty"`
	dynamo.Unknown
}

// IDs holds the ids of an enrolment's boxes: the listed ones, and others that were accepted.
type IDs struct {
	Listed   []string `json:"listed"`
	Accepted []string `json:"accepted,omitempty"`
}

const (
	// MostBoxes limits each of the listed ids, the accepted ids and the waiting boxes.
	MostBoxes = 1_000
	// Longest is how long a code may be valid.
	Longest = 30 * 24 * time.Hour
	// MostAtOnce limits the boxes that are accepted in one call. Each takes three of the 100 writes of a transaction.
	MostAtOnce = 30
	// refusalsEvery limits the events about refused boxes.
	refusalsEvery = time.Hour
)

// Refusals is the metric of boxes that were refused because another box has the id: a clone, a thief, or a reinstalled
// box.
const Refusals = "EnrolmentRefusals"

// Made is the answer to a call that makes an enrolment. The code is empty if the call was made before.
type Made struct {
	ID        string    `json:"id"`
	Code      string    `json:"code,omitempty"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// Told is the answer to a box.
type Told struct {
	EdgeID         string `json:"edgeId"`
	State          string `json:"state"` // enrolled or waiting
	EdgeType       string `json:"edgeType,omitempty"`
	Channel        string `json:"channel,omitempty"`
	OrganizationID string `json:"organizationId,omitempty"`
}

// Told is the answer to a box that is registered.
func (e Enrolment) Told(edgeID string) Told {
	return Told{edgeID, "enrolled", e.EdgeType, e.Channel, e.OrganizationID}
}

// plan makes an enrolment from a plan.
func plan(id string, p Plan, at time.Time) Enrolment {
	return Enrolment{
		ID: id, EdgeType: p.EdgeType, Channel: p.Channel, OrganizationID: p.OrganizationID, FactoryID: p.FactoryID,
		Edges: len(p.EdgeIDs), ExpiresAt: p.ExpiresAt, CreatedAt: at, UpdatedAt: at, Revision: 1,
	}
}

// valid reports whether boxes may enrol.
func (e Enrolment) valid(at time.Time) bool {
	return e.Revision > 0 && e.EndedAt == nil && at.Before(e.ExpiresAt)
}

// admits reports whether a caller has the enrolment's code.
func (e Kept) admits(caller auth.Principal, at time.Time) bool {
	return boxtoken.KindOf(caller) == boxtoken.Enrolment && caller.UserID == e.ID &&
		boxtoken.Live{Current: e.CodeSHA256}.Accepts(caller.Credential, at) && e.valid(at)
}

// An Outcome is the result for a box that redeems its id.
type Outcome int

// Outcomes.
const (
	Enrols  Outcome = iota // it is registered, with its hash
	Again                  // it was already
	Waits                  // its id is not listed
	Refused                // another box has the id, or this one has lost it
	Banned                 // the token was the box's own before a reset
)

// refused reports whether the outcome is a refusal.
func (o Outcome) refused() bool { return o == Refused || o == Banned }

// OldToken is what a box is told that sends a token of before a reset.
const OldToken = "The box was reset, and this token was its own before. Make a new token, and redeem the id with that."

// redeem decides the outcome for a box with an id and a token's hash, given the stored state of the id. A code never
// changes a registered box. If the enrolment registered the box and the box was retired or its token was ended, only a
// reset frees the id. The same is true of every box that was retired after the enrolment was made: whoever has a stolen
// box may also have the code. A reset frees the id for new tokens only. Nobody learns whether there is a box with an
// unlisted id.
func (e Enrolment) redeem(sha256 string, listed bool, is edge.Stored, at time.Time) Outcome {
	mine := is.Edge.EnrolmentID == e.ID
	switch {
	case mine && is.Edge.Exists() && is.Row.Tokens.Accepts(sha256, at):
		return Again
	case slices.Contains(is.Row.Banned, sha256):
		return Banned
	case mine:
		return Refused
	case !listed:
		return Waits
	case is.Edge.Exists() || is.Edge.RetiredSince(e.CreatedAt):
		return Refused
	}
	return Enrols
}

// accept decides like redeem, for an id and a hash that a person accepts; waits says whether a box waits with them.
func (e Enrolment) accept(sha256 string, is edge.Stored, waits bool, at time.Time) Outcome {
	mine := is.Edge.EnrolmentID == e.ID
	switch {
	case mine && is.Edge.Exists() && is.Row.Tokens.Accepts(sha256, at):
		return Again
	case !waits: // so that nobody can probe for boxes with made-up ids
		return Waits
	case slices.Contains(is.Row.Banned, sha256):
		return Banned
	case mine || is.Edge.Exists():
		return Refused
	}
	return Enrols
}

// name reports whether the ids include one.
func (i IDs) name(id string) bool {
	return slices.Contains(i.Listed, id) || slices.Contains(i.Accepted, id)
}

// with adds an accepted id.
func (i IDs) with(id string) IDs {
	if !i.name(id) {
		i.Accepted = append(slices.Clone(i.Accepted), id)
	}
	return i
}

// accepted returns the enrolment with the number of accepted ids.
func (e Kept) accepted(ids IDs, at time.Time) (next Kept, err error) {
	if len(ids.Accepted) > MostBoxes {
		return e, problem.New(problem.Conflict, "More than %d boxes would be accepted; make another enrolment.", MostBoxes)
	}
	e.Accepted = len(ids.Accepted)
	return e.changed(at), nil
}

// end ends an enrolment.
func (e Kept) end(at time.Time) (next Kept, event string) {
	if e.EndedAt != nil {
		return e, ""
	}
	e.EndedAt = &at
	return e.changed(at), "EnrolmentEnded"
}

// refuse notes that a box was refused.
func (e Kept) refuse(edgeID string, at time.Time) (next Kept, event string) {
	if e.RefusedAt != nil && at.Sub(*e.RefusedAt) < refusalsEvery {
		return e, ""
	}
	e.RefusedAt, e.RefusedFor = &at, edgeID
	return e.changed(at), "EnrolmentRefused"
}

func (e Kept) changed(at time.Time) Kept {
	e.UpdatedAt = at
	e.Revision++
	return e
}

// assignment is the assignment that registers a box.
func (e Enrolment) assignment(p Pair) edge.BatchItem {
	a := edge.Assignment{
		EdgeType: e.EdgeType, Channel: e.Channel, OrganizationID: e.OrganizationID, TokenSHA256: p.TokenSHA256, EnrolmentID: e.ID,
	}
	if e.FactoryID != "" {
		a.FactoryID = &e.FactoryID
	}
	return edge.BatchItem{EdgeID: p.EdgeID, Assignment: a}
}
