package method

import (
	"slices"
	"time"

	"wavegate/shared/platform/problem"
	"wavegate/shared/production/factory"
)

// A Move is what a caller asks for. Status is the new status. Each other field belongs to some
// moves only; MoveOf refuses it with any other.
type Move struct {
	Status        Status
	Reason        string
	ContentSHA256 string        // the content that the signer has read; required for a trial and a release
	EffectiveFrom time.Time     // of a trial or release; zero means at once
	Machines      []string      // of a trial
	FirstArticle  *FirstArticle // of a release
	Orders        Orders        // of a withdrawal; empty means Stop
	Reinstate     int64         // of a withdrawal: the version to reinstate, or 0
}

// events are the names of the moves in the audit trail.
var events = map[Status]string{
	Draft: "ProductionMethodVersionReturned", InReview: "ProductionMethodVersionSubmitted", Trial: "ProductionMethodVersionTried",
	Released: "ProductionMethodVersionReleased", Withdrawn: "ProductionMethodVersionWithdrawn",
}

// moves are the possible moves from each status, apart from the ones that change nothing.
var moves = map[Status][]Status{
	Draft:    {InReview, Withdrawn},
	InReview: {Draft, Trial, Released, Withdrawn},
	Trial:    {Trial, Released, Withdrawn},
	Released: {Withdrawn},
}

// After decides the result of a move of a version: its next state and the name of the event. An
// empty event means that the version already has that status. It returns
// INVALID_STATE_TRANSITION, FOUR_EYES, CONTENT_CHANGED, and VALIDATION_FAILED for a release
// after a trial without a first article. A withdrawal is never refused.
func (v Version) After(m Move, s Signer, policy factory.Approval, at time.Time) (next Version, event string, err error) {
	if m.Status == v.Status && m.Status != Trial {
		return v, "", v.sameMove(m)
	}
	if !slices.Contains(moves[v.Status], m.Status) {
		return v, "", problem.New(problem.InvalidStateTransition, "Version %d is %s and cannot become %s.", v.Version, v.Status, m.Status)
	}
	next = v
	next.Status = m.Status
	switch m.Status {
	case Draft:
		next.Signatures = nil
	case InReview:
		if err := v.unchanged(m); err != nil {
			return v, "", err
		}
		if next.Authors, err = v.authors(s.Person); err != nil {
			return v, "", err
		}
		next.Signatures = []Signature{v.signature(Authorship, m, s, at)}
	case Trial, Released:
		if err := v.approvable(m, s, policy); err != nil {
			return v, "", err
		}
		next.Signatures = append(slices.Clone(v.Signatures), v.signature(Approval, m, s, at))
		if m.FirstArticle != nil {
			next.FirstArticle = m.FirstArticle
		}
	case Withdrawn:
		next.Signatures = append(slices.Clone(v.Signatures), v.signature(Responsibility, m, s, at))
		if !v.Status.open() {
			next.Orders = Stop
			if m.Orders != "" {
				next.Orders = m.Orders
			}
		}
	}
	return next.changed(v, at), events[m.Status], nil
}

// approvable returns nil if a signer may put the version on trial or release it.
func (v Version) approvable(m Move, s Signer, policy factory.Approval) error {
	if policy != factory.Single && slices.Contains(v.Authors, s.Person) {
		return problem.New(problem.FourEyes, "You saved or submitted this version; someone else has to approve it.")
	}
	if m.ContentSHA256 == "" {
		return missing("/contentSha256")
	}
	if err := v.unchanged(m); err != nil {
		return err
	}
	if m.Status == Released && v.Status == Trial && m.FirstArticle == nil {
		return missing("/firstArticle")
	}
	if m.Status == Trial && len(v.Signatures) >= maxSignatures {
		return problem.New(problem.EffectivityFull, "The version has had the maximum number of trials. Release it, or withdraw it.")
	}
	return nil
}

func missing(pointer string) error {
	return problem.Invalid([]problem.Fault{{Pointer: pointer, Code: "required", Detail: "is required for this move"}})
}

// unchanged returns nil if the content is still the one that the signer has read, or the signer
// named none.
func (v Version) unchanged(m Move) error {
	if m.ContentSHA256 != "" && m.ContentSHA256 != v.ContentSHA256 {
		return problem.New(problem.ContentChanged, "The version's content is not the one you name; read it again before you sign.")
	}
	return nil
}

// sameMove returns nil if a move that was already made is the one that the caller asks for. The
// content must be the same if the caller names one, except for a withdrawal.
func (v Version) sameMove(m Move) error {
	if m.Status == Withdrawn {
		return nil
	}
	return v.unchanged(m)
}

func (v Version) signature(meaning Meaning, m Move, s Signer, at time.Time) Signature {
	return Signature{
		Meaning: meaning, Name: s.Name, Issuer: s.Issuer, UserID: s.UserID, At: at, AuthenticatedAt: s.AuthenticatedAt,
		Reason: m.Reason, ContentSHA256: v.ContentSHA256,
	}
}
