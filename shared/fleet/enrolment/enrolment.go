// Package enrolment lets boxes register themselves. A person lists the ids of new boxes and gets a code, which goes into
// the image of all of them. At its first start, a box makes a token of its own, and redeems its id with the code and the
// token's SHA-256. A box whose id is not listed waits until a person accepts it.
package enrolment

import (
	"slices"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/access/boxtoken"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/platform/problem"
)

// A Plan is what is said of the boxes that may enrol.
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
	// Edges is how many ids are listed, and Accepted how many were accepted besides.
	Edges    int `json:"edges"`
	Accepted int `json:"accepted"`
	// ExpiresAt is the first instant at which the code is no longer valid.
	ExpiresAt time.Time `json:"expiresAt"`
	// EndedAt is when somebody ended it; nil: nobody did.
	EndedAt *time.Time `json:"endedAt,omitempty"`
	// RefusedAt is when the trail last told that a box was refused, since another has its id, and RefusedFor is the id.
	RefusedAt  *time.Time `json:"refusedAt,omitempty"`
	RefusedFor string     `json:"refusedFor,omitempty"`
	CreatedAt  time.Time  `json:"createdAt"`
	UpdatedAt  time.Time  `json:"updatedAt"`
	Revision   int64      `json:"revision"`
}

// A Kept is an enrolment as it is stored. Nobody is shown the hash of its code.
type Kept struct {
	Enrolment
	CodeSHA256 string `json:"codeSha256"`
}

// IDs are the ids of an enrolment's boxes: those that were listed, and those that were accepted besides.
type IDs struct {
	Listed   []string `json:"listed"`
	Accepted []string `json:"accepted,omitempty"`
}

const (
	// MostBoxes bounds the ids that are listed, those that are accepted, and the boxes that wait.
	MostBoxes = 1_000
	// Longest is how long a code may be valid.
	Longest = 30 * 24 * time.Hour
	// MostAtOnce bounds the boxes that are accepted in one call. Each takes three of the 100 writes of a transaction.
	MostAtOnce = 30
	// refusalsEvery bounds the events about refused boxes.
	refusalsEvery = time.Hour
)

// Refusals is the metric of boxes that were refused since another box has the id: a clone, a thief, or a box that was
// made new.
const Refusals = "EnrolmentRefusals"

// Made is what whoever makes an enrolment is told. The code is empty if the call was made before.
type Made struct {
	ID        string    `json:"id"`
	Code      string    `json:"code,omitempty"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// Told is what a box is told.
type Told struct {
	EdgeID         string `json:"edgeId"`
	State          string `json:"state"` // enrolled or waiting
	EdgeType       string `json:"edgeType,omitempty"`
	Channel        string `json:"channel,omitempty"`
	OrganizationID string `json:"organizationId,omitempty"`
}

// Told is what a box is told that is registered.
func (e Enrolment) Told(edgeID string) Told {
	return Told{edgeID, "enrolled", e.EdgeType, e.Channel, e.OrganizationID}
}

// plan makes the enrolment of a plan.
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

// admits reports whether a caller came with the enrolment's code.
func (e Kept) admits(caller auth.Principal, at time.Time) bool {
	return boxtoken.KindOf(caller) == boxtoken.Enrolment && caller.UserID == e.ID &&
		boxtoken.Live{Current: e.CodeSHA256}.Accepts(caller.Credential, at) && e.valid(at)
}

// An Outcome is what becomes of a box that redeems its id.
type Outcome int

// Outcomes.
const (
	Enrols  Outcome = iota // it is registered, with the hash that it says
	Again                  // it is so already
	Waits                  // its id is not listed
	Refused                // another box has the id, or it has been taken from this one
)

// redeem decides what becomes of a box with an id and the hash of a token, given what is stored of the id. A code never
// touches a box that is registered. If the enrolment registered it and it was retired or its token was ended, only a reset
// gives its id to anyone again. The same holds for every box that was retired after the enrolment was made: whoever has a box
// that was stolen may have the code, too. Nobody learns of an id that is not listed whether there is a box.
func (e Enrolment) redeem(sha256 string, listed bool, is edge.Stored, at time.Time) Outcome {
	mine := is.Edge.EnrolmentID == e.ID
	switch {
	case mine && is.Edge.Exists() && is.Row.Tokens.Accepts(sha256, at):
		return Again
	case mine:
		return Refused
	case !listed:
		return Waits
	case is.Edge.Exists() || is.Edge.RetiredSince(e.CreatedAt):
		return Refused
	}
	return Enrols
}

// accept is redeem for an id and a hash that a person accepts; waits says whether a box waits with them.
func (e Enrolment) accept(sha256 string, is edge.Stored, waits bool, at time.Time) Outcome {
	mine := is.Edge.EnrolmentID == e.ID
	switch {
	case mine && is.Edge.Exists() && is.Row.Tokens.Accepts(sha256, at):
		return Again
	case !waits: // so that nobody learns of a box by an id that was made up
		return Waits
	case mine || is.Edge.Exists():
		return Refused
	}
	return Enrols
}

// with is after an id was accepted.
func (i IDs) with(id string) IDs {
	if !slices.Contains(i.Listed, id) && !slices.Contains(i.Accepted, id) {
		i.Accepted = append(slices.Clone(i.Accepted), id)
	}
	return i
}

// accepted is after some ids were accepted.
func (e Kept) accepted(ids IDs, at time.Time) (next Kept, err error) {
	if len(ids.Accepted) > MostBoxes {
		return e, problem.New(problem.Conflict, "More than %d boxes would be accepted; make another enrolment.", MostBoxes)
	}
	e.Accepted = len(ids.Accepted)
	return e.changed(at), nil
}

// end decides what ending it makes of an enrolment.
func (e Kept) end(at time.Time) (next Kept, event string) {
	if e.EndedAt != nil {
		return e, ""
	}
	e.EndedAt = &at
	return e.changed(at), "EnrolmentEnded"
}

// refuse is after a box was refused.
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

// assignment is what registers a box.
func (e Enrolment) assignment(p Pair) edge.BatchItem {
	a := edge.Assignment{
		EdgeType: e.EdgeType, Channel: e.Channel, OrganizationID: e.OrganizationID, TokenSHA256: p.TokenSHA256, EnrolmentID: e.ID,
	}
	if e.FactoryID != "" {
		a.FactoryID = &e.FactoryID
	}
	return edge.BatchItem{EdgeID: p.EdgeID, Assignment: a}
}
