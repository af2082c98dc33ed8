package method

import (
	"slices"
	"time"

	"wavegate/shared/platform/problem"
	"wavegate/shared/production/factory"
)

// A Move is a caller's request. Status is the new status. Each other field is only for some moves; MoveOf refuses it
// with others.
type Move struct {
	Status        Status
	Reason        string
	ContentSHA256 string        // the content that the signer has read; required for a trial and a release
	EffectiveFrom time.Time     // of a trial or release; zero means immediately
	Machines      []string      // of a trial: all of its machines afterwards
	FirstArticle  *FirstArticle // of a release
	Orders        Orders        // of a withdrawal; empty means Stop
	Reinstate     int64         // of a withdrawal: the version to reinstate, or 0
	number, park  int64         // how many changes of machines, and machines, the factory has when it is decided
}

// Approves reports whether the move is a person's approval of a content.
func (m Move) Approves() bool { return m.Status == Trial || m.Status == Released }

// events are the names of the moves in the audit trail.
var events = map[Status]string{
	Draft: "ProductionMethodVersionReturned", InReview: "ProductionMethodVersionSubmitted", Trial: "ProductionMethodVersionTried",
	Released: "ProductionMethodVersionReleased", Withdrawn: "ProductionMethodVersionWithdrawn",
}

// cosigned is the event of a signature that changes nothing else: by another person, or with another reason.
const cosigned = "ProductionMethodVersionCosigned"

// moves are the possible moves from each status to another. A move to the present status changes details, adds a
// signature, or changes nothing.
var moves = map[Status][]Status{
	Draft:    {InReview, Withdrawn},
	InReview: {Draft, Trial, Released, Withdrawn},
	Trial:    {Released, Withdrawn},
	Released: {Withdrawn},
}

// Move decides the result of moving a version. other is the version to reinstate, or the zero value. Either the result
// does all that the move asks for, or it has no event because all is already as asked, or the move is refused.
//
// Move returns INVALID_STATE_TRANSITION with the version that holds instead, SELF_APPROVAL, CONTENT_CHANGED,
// EFFECTIVITY_FULL, and VALIDATION_FAILED for a time in the past or a missing field. A withdrawal is refused only if it
// would let orders finish that were told to stop, or if the version to reinstate cannot be reinstated.
func (m Method) Move(v, other Version, move Move, s Signer, p factory.ApprovalPolicy, at time.Time) (Result, error) {
	same := Result{Method: m, Version: v}
	if m.Retired != nil && (move.Status != Withdrawn || move.Reinstate > 0) {
		return same, m.isRetired()
	}
	m.Effectivity = m.Effectivity.Prune(at) // what time has superseded decides nothing
	if move.Status != v.Status && !slices.Contains(moves[v.Status], move.Status) {
		return same, m.refuse(at, v, "It cannot become %s.", move.Status)
	}
	if move.Status != Withdrawn { // a withdrawal applies to any content
		if err := v.unchanged(move); err != nil {
			return same, err
		}
	}
	var o Result
	var err error
	switch move.Status {
	case Draft:
		o = m.returned(v)
	case InReview:
		o, err = m.submitted(v, move, s, at)
	case Trial, Released:
		o, err = m.approved(v, move, s, p, at)
	case Withdrawn:
		o, err = m.withdrawn(v, other, move, s, at)
	}
	if err != nil || o.Event == "" {
		return same, err
	}
	if o.Version.Status == Withdrawn && o.Version.approvedOnce() && (v.Status != Withdrawn || v.Orders != o.Version.Orders) {
		o.Method = o.Method.told(o.Version, at)
	}
	if m.latest().Version == v.Version {
		o.Method.Latest = &Latest{v.Version, o.Version.Status}
	}
	o.Method, o.Version = o.Method.equipped(v, other).changed(at), o.Version.changed(v, at)
	return o, nil
}

// returned is the result of a return to draft. It removes the signatures, because the signed content may now change.
func (m Method) returned(v Version) Result {
	if v.Status == Draft {
		return Result{}
	}
	v.Status, v.Signatures = Draft, nil
	return Result{m, v, events[Draft]}
}

// submitted is the result of a submission. Everyone who submits is an author.
func (m Method) submitted(v Version, move Move, s Signer, at time.Time) (Result, error) {
	next := v
	next.Status = InReview
	authors, err := v.authors(s.Person)
	if err != nil {
		return Result{}, err
	}
	next.Authors = authors
	return m.signed(v, next, Authorship, move, s, at, v.Status != InReview)
}

// withdrawn is the result of a withdrawal. It needs only one person. Orders that were told to finish can still be
// stopped, and a version can be reinstated later, as long as none holds.
func (m Method) withdrawn(v, other Version, move Move, s Signer, at time.Time) (Result, error) {
	next := v
	next.Status = Withdrawn
	if next.Orders = move.Orders; move.Orders == "" && v.approvedOnce() {
		next.Orders = Stop
	} else if move.Orders == "" {
		next.Orders = v.Orders // of a version that never held
	}
	if v.Orders == Stop && next.Orders == Finish {
		return Result{}, m.refuse(at, v, "Orders that were told to stop cannot be told to finish.")
	}
	e := m.Effectivity.without(v.Version, at)
	e, reinstated, err := m.reinstate(e, v, other, move, at)
	if err != nil {
		return Result{}, err
	}
	m.Effectivity = e
	o, err := m.signed(v, next, Responsibility, move, s, at, v.Status != Withdrawn || v.Orders != next.Orders || reinstated)
	if err == nil && o.Event == events[Withdrawn] && v.approvedOnce() {
		made := Decided{Status: Withdrawn, Number: move.number, At: at}
		if reinstated {
			made.Reinstates = move.Reinstate
		}
		o.Version.Decisions, o.Version.Park = append(slices.Clone(v.Decisions), made), move.park
		o.Method = o.Method.after(made, o.Version, other)
	}
	return o, err
}

// told puts a withdrawal first in the list for machines.
func (m Method) told(v Version, at time.Time) Method {
	list := []Withdrawal{{v.Version, v.Orders, at}}
	for _, w := range m.Withdrawals {
		if w.Version != v.Version {
			list = append(list, w)
		}
	}
	m.Withdrawals = list
	return m
}

// signed adds a move's signature to next, the state of v after the move. If the move changes
// nothing else, it is a further signature, or nothing if the same person already signed with the
// same reason.
func (m Method) signed(v, next Version, meaning Meaning, move Move, s Signer, at time.Time, changes bool) (Result, error) {
	g := Signature{
		Meaning: meaning, Further: !changes, Name: s.Name, Issuer: s.Issuer, UserID: s.UserID, At: at, AuthenticatedAt: s.AuthenticatedAt,
		Reason: move.Reason, ContentSHA256: v.ContentSHA256,
	}
	event := events[move.Status]
	if g.Further {
		if v.hasSigned(s, move.Reason) {
			return Result{}, nil
		}
		if len(v.Signatures) >= maxSignatures {
			return Result{}, signaturesFull(v)
		}
		event = cosigned
	}
	next.Signatures = append(slices.Clone(v.Signatures), g)
	return Result{m, next, event}, nil
}

func signaturesFull(v Version) error {
	return problem.New(problem.EffectivityFull, "Version %d has %d signatures, which is the maximum. It can still be released or withdrawn.", v.Version, len(v.Signatures))
}

// hasSigned reports whether a person signed the last change of the version, with the same reason.
func (v Version) hasSigned(s Signer, reason string) bool {
	for _, g := range slices.Backward(v.Signatures) {
		if g.Issuer == s.Issuer && g.UserID == s.UserID && g.Reason == reason {
			return true
		}
		if !g.Further {
			break
		}
	}
	return false
}

// approvedOnce reports whether someone approved the present content, so that the version may have
// held.
func (v Version) approvedOnce() bool {
	return slices.ContainsFunc(v.Signatures, func(g Signature) bool {
		return g.Meaning == Approval && g.ContentSHA256 == v.ContentSHA256
	})
}

// unchanged returns nil if the content is still the one that the signer has read, or if the signer named none.
func (v Version) unchanged(m Move) error {
	if m.ContentSHA256 != "" && m.ContentSHA256 != v.ContentSHA256 {
		return problem.New(problem.ContentChanged, "The version's content is not the one that you named; read it again before you sign.")
	}
	return nil
}
