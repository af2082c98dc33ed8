package method

import (
	"cmp"
	"slices"
	"time"

	"wavegate/shared/platform/problem"
	"wavegate/shared/production/factory"
)

// approved is the result of a trial or a release. From the move's time on, the version holds on exactly the machines of
// the trial, or on all.
func (m Method) approved(v Version, move Move, s Signer, p factory.ApprovalPolicy, at time.Time) (Result, error) {
	if err := v.approvable(move, s, p); err != nil {
		return Result{}, err
	}
	next := v
	next.Status = move.Status
	changes := v.Status != move.Status
	if move.FirstArticle != nil && (v.FirstArticle == nil || *v.FirstArticle != *move.FirstArticle) {
		next.FirstArticle, changes = move.FirstArticle, true
	}
	present, decided := m.Effectivity.of(v.Version, move.Status)
	if !decided || !present.fulfils(move, at) {
		changes = true
		e, err := m.decide(v, present, move, at)
		if err != nil {
			return Result{}, err
		}
		m.Effectivity = e
		if d, found := e.of(v.Version, Released); found && move.Status == Released {
			next.ReleasedFrom = &d.From
		}
	}
	if changes && v.Status == move.Status && len(v.Signatures) >= maxSignatures {
		return Result{}, signaturesFull(v)
	}
	o, err := m.signed(v, next, Approval, move, s, at, changes)
	if o.Event != "" {
		o.Method.Effectivity = o.Method.Effectivity.approved(v.Version, move.Status, at)
		d, _ := o.Method.Effectivity.of(v.Version, move.Status)
		made := Decided{Status: move.Status, Number: move.number, At: at, From: &d.From, Machines: d.Machines, Rule: cmp.Or(p, factory.FourEyes)}
		o.Version.Decisions, o.Version.Park = append(slices.Clone(v.Decisions), made), move.park
		o.Method = o.Method.after(made, o.Version)
	}
	return o, err
}

// approved returns the list with the time of a version's last approval. So each approval covers
// the machines that have the classes of the equipment by then.
func (e Effectivity) approved(version int64, kind Status, at time.Time) Effectivity {
	e = slices.Clone(e)
	for i := range e {
		if e[i].Version == version && e[i].everywhere() == (kind == Released) {
			e[i].ApprovedAt = at
		}
	}
	return e
}

// approvedAt returns the time of the version's last approval.
func (v Version) approvedAt() time.Time {
	for _, g := range slices.Backward(v.Signatures) {
		if g.Meaning == Approval {
			return g.At
		}
	}
	return time.Time{}
}

// approvable returns nil if a signer may put the version on trial or release it.
func (v Version) approvable(m Move, s Signer, policy factory.ApprovalPolicy) error {
	if policy != factory.Single && slices.Contains(v.Authors, s.Person) {
		return problem.New(problem.SelfApproval, "You saved or submitted this version; someone else has to approve it.")
	}
	if m.ContentSHA256 == "" {
		return missing("/contentSha256")
	}
	if m.Status == Released && v.Status == Trial && m.FirstArticle == nil {
		return missing("/firstArticle")
	}
	return nil
}

func missing(pointer string) error {
	return problem.Invalid([]problem.Fault{{Pointer: pointer, Code: "required", Detail: "is required for this move"}})
}

// fulfils reports whether a decision already does what a move asks for.
func (d Decision) fulfils(m Move, at time.Time) bool {
	if m.Status == Trial && !sameMachines(d.Machines, m.Machines) {
		return false
	}
	if m.EffectiveFrom.IsZero() {
		return !d.From.After(at)
	}
	return m.EffectiveFrom.Equal(d.From)
}

func sameMachines(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// decide returns the effectivity with the decision of a trial or a release. It replaces present, the version's earlier
// decision of the same kind, if there is one.
func (m Method) decide(v Version, present Decision, move Move, at time.Time) (Effectivity, error) {
	from := move.EffectiveFrom
	if from.IsZero() {
		from = at
	}
	if from.Before(at) {
		return nil, problem.Invalid([]problem.Fault{{Pointer: "/effectiveFrom", Code: "range", Detail: "must not be in the past; omit it to begin immediately"}})
	}
	if n := len(m.Withdrawals); n >= maxWithdrawals {
		return nil, problem.New(problem.EffectivityFull, "%d withdrawals of the method are not confirmed by all of their machines. Confirm them first.", n)
	}
	if newer := m.Effectivity.newer(v.Version); newer > 0 {
		return nil, m.refuse(at, v, "Version %d is released to all machines; an older version cannot follow it.", newer)
	}
	if move.Status == Released && present.Version > 0 && !present.From.After(at) {
		return nil, m.refuse(at, v, "A release that has begun cannot be postponed; withdraw it if machines must stop.")
	}
	d := Decision{Version: v.Version, ContentSHA256: v.ContentSHA256, From: from, ApprovedAt: at}
	if move.Status == Trial {
		d.Machines = slices.Clone(move.Machines)
	}
	next := m.Effectivity.with(d, at)
	if len(next) > maxDecisions {
		return nil, problem.New(problem.EffectivityFull, "The method has %d decisions that still count, which is the maximum. Release or withdraw a version that is on trial.", maxDecisions)
	}
	return next, nil
}

// reinstate returns the effectivity e, from which v was withdrawn, with the version that the move
// reinstates, and whether that changed it. That version must be older, and its release must have
// begun, so that it was approved for all machines by now. It does not replace another.
func (m Method) reinstate(e Effectivity, v, other Version, move Move, at time.Time) (next Effectivity, changed bool, err error) {
	holds := e.everywhereAt(at)
	switch {
	case move.Reinstate == 0 || holds == move.Reinstate:
		return e, false, nil
	case len(v.Signatures) >= mostSigned-1:
		return nil, false, signaturesFull(v)
	case holds > 0:
		return nil, false, m.refuse(at, v, "Version %d cannot be reinstated, because version %d holds on all machines.", move.Reinstate, holds)
	case other.Version != move.Reinstate || other.Status != Released || other.Version >= v.Version || !m.begun(other, at):
		return nil, false, m.refuse(at, v, "Version %d cannot be reinstated: only an older version that was released and not withdrawn can be, once its release has begun. "+
			"Nothing was changed; withdraw without reinstate if that cannot wait.", move.Reinstate)
	}
	d := Decision{Version: other.Version, ContentSHA256: other.ContentSHA256, From: at, ApprovedAt: other.approvedAt()}
	// All remaining decisions were made later or begin later, so they come after it.
	return append(Effectivity{d}, e...), true, nil
}

// begun reports whether the release of a version has begun.
func (m Method) begun(v Version, at time.Time) bool {
	return v.ReleasedFrom != nil && !v.ReleasedFrom.After(at)
}
