package report

import (
	"time"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
)

// An Input changes a row: a Polled, an Outcome, or what the client of a DDI box says; see package ddi.
type Input interface {
	Change(next *Row, was Row)
	When() time.Time
}

// A Polled is a box's poll and its answer.
type Polled struct {
	Told string // the version of the answer
	// RolloutID and Stage are set if an active rollout gives the version. They are empty if it is the channel's version,
	// or the version that the box runs and keeps.
	RolloutID string
	Stage     int
	Towards   string // the rollout's target, if Told is a stone
	Running   string // what the box says it runs; empty: it did not say
	Text      string // how it says that
	Subject   string // the name that the fair-use limiter counts the box under
	// HeldAt is since when the box is held, if it is told what it runs for that reason; see Hold.
	HeldAt *time.Time
	// ReturnedFrom is the rollout that brought the box what it runs, if it was returned.
	ReturnedFrom string
	// Calls are when the box made its latest calls, the newest first; nil: unknown. Every is the shortest interval at which it was
	// told to poll in that time.
	Calls []time.Time
	Every time.Duration
	// Waits is set if the box's plant is closed. Told is then what the box runs, whatever that is.
	Waits bool
	Turn  bool // the box takes its turn in its group
	// Numbers are the health numbers that the box says, of those that it was asked for, and NumbersFor is the target of the
	// rollout that asks.
	Numbers    map[string]float64
	NumbersFor string
	At         time.Time
}

// An Outcome is what a box reports about the version that it was offered.
type Outcome struct {
	Version string
	// RolloutID is the rollout of the box's attempt; empty: it did not say.
	RolloutID string
	Attempt   int   // 1 for the first attempt at the version in that rollout
	State     State // Working, Deferred or Failed
	Code      FailureCode
	Detail    string
	Until     *time.Time
	At        time.Time
}

// By is an input of a box that called with a token of its own, with the token's SHA-256; empty: with another token. The
// row notes when the token was used.
type By struct {
	Input
	SHA256 string
	// Heard is what the call said that was read otherwise, and Way in which way it came; empty: the call says nothing.
	Way   string
	Heard []input.Heard
}

// Change applies the input, and notes the use of the token.
func (b By) Change(next *Row, was Row) {
	b.Input.Change(next, was)
	next.Tokens, _ = was.Tokens.Used(b.SHA256, b.When())
	next.hears(b.Way, b.Heard)
}

// When is the time of the poll.
func (p Polled) When() time.Time { return p.At }

// When is the time of the report.
func (o Outcome) When() time.Time { return o.At }

// Next is the row after an event, and whether it differs. An outcome of a version other than the offered one changes
// nothing; see Row.Accepts. A retired box's row never changes.
func Next(was Row, e Input) (next Row, changed bool) {
	next = was
	if was.Retired {
		return was, false
	}
	if was.Offer != nil {
		offer := *was.Offer
		next.Offer = &offer
	}
	e.Change(&next, was)
	if same(next, was) {
		return was, false
	}
	next.Revision++
	next.Stamp(was, e.When())
	return next, true
}

// Stamp sets since when the offer has been in its state, and what is of the box's history.
func (r *Row) Stamp(was Row, at time.Time) {
	if r.Offer != nil && r.Offer.ToldAt.IsZero() {
		r.Offer.ToldAt = at
	}
	r.stays(was, at)
	if r.Offer != nil && (was.Offer == nil || r.Offer.State != was.Offer.State || !r.Offer.Is(*was.Offer)) {
		r.Offer.Since = at
	}
}

// Is reports whether two offers are the same, in whatever state.
func (o Offer) Is(other Offer) bool {
	return o.RolloutID == other.RolloutID && o.Version == other.Version
}

// same reports whether two rows hold the same, apart from the times of their offers.
func same(a, b Row) bool {
	for _, r := range []*Row{&a, &b} {
		if r.Offer != nil {
			offer := *r.Offer
			offer.Since, offer.ToldAt = time.Time{}, time.Time{}
			r.Offer = &offer
		}
	}
	return dynamo.Same(a, b)
}

// Change takes the poll of a box that has no DDI client, or no longer has one.
func (p Polled) Change(next *Row, was Row) {
	next.DDI, next.Written, next.Cancel, next.AskedAt = false, "", 0, nil
	if next.Offer != nil {
		next.Offer.WrittenAt, next.Offer.StatedAt = nil, nil
	}
	p.Take(next, was)
	next.Turn(p, next.Offer != nil && !next.Offer.State.Decided())
}

// Take first judges the box's offer by what the box runs, and then makes a new offer if the box is told one.
func (p Polled) Take(next *Row, was Row) {
	next.Told, next.Subject, next.HeldAt = p.Told, p.Subject, p.HeldAt
	next.Runs(p.Running, p.Text)
	next.say(p)
	if next.Offer != nil && !next.Assumed {
		next.Offer.Judge(was.Running, next.Running, !p.Waits && next.Running == p.Told && was.Told != p.Told)
	}
	next.unrest(was, p)
	next.paces(was, p)
	if !p.offers(*next) {
		return
	}
	next.ReturnedFrom = p.ReturnedFrom
	next.Offer = &Offer{RolloutID: p.RolloutID, Version: p.Told, Stage: p.Stage, From: next.Running, State: Offered, Code: next.afterRun(p, was.Running)}
	next.Stone = p.stone(*next)
	if next.Running == p.Told {
		next.Offer.From = ""
		if !next.Assumed { // what only a person says is no evidence
			next.Offer.State = Installed
		}
	}
}

// stone is the row's stone with a new offer. After the last stone it stays, since the box may fall back from it.
func (p Polled) stone(row Row) *Stone {
	s := Stone{RolloutID: p.RolloutID, Version: p.Told, Towards: p.Towards}
	if was := row.Stone; was != nil && was.RolloutID == p.RolloutID {
		if s.Ran = was.Ran; row.Running == was.Version {
			s.Ran = was.Version
		}
		if p.Towards == "" {
			s.Version, s.Towards = was.Version, was.Towards
		}
	}
	if s.Towards == "" {
		return nil
	}
	return &s
}

// afterRun is the known failure after the box ran a version. Another offer of the version inherits it. What a box did on
// a stone stays evidence, too: the next offer of the rollout inherits it. A box that ran a stone, and is told one again,
// fell back from it.
func (r Row) afterRun(p Polled, ran string) FailureCode {
	o := r.Offer
	switch {
	case o == nil:
	case p.Towards != "" && o.RolloutID == p.RolloutID && r.Running != o.Version && o.Code == "" &&
		r.Stone != nil && r.Stone.RolloutID == p.RolloutID && ran != "" && r.Stone.Ran == ran && r.Running != ran:
		return CodeReverted
	case o.Version == p.Told && (o.State != Failed || r.Running == p.Told),
		o.Version != p.Told && p.RolloutID != "" && o.RolloutID == p.RolloutID && o.Code.BlamesRelease():
		return o.Code
	}
	return ""
}

// Judge moves an offer by what the box ran before and runs now. follows is set if the box runs what it is told now, but
// was not told before according to the row. It may have been told by an answer that could not be recorded.
//
// A failure after the box ran the version stays in the offer's code, even if the box runs the version again.
func (o *Offer) Judge(before, running string, follows bool) {
	undecided := !o.State.Decided()
	switch {
	case running == o.Version && (undecided || before != running):
		// A box that failed while it ran the version, for example at its health check, stays failed until it has run
		// something else in between.
		if o.State == Failed {
			o.Code = "" // before the version ever ran
		}
		o.State, o.Detail, o.Until, o.WrittenAt, o.StatedAt = Installed, "", nil, nil, nil
	case running == o.Version || before != o.Version:
		// Nothing new. A box that has followed another answer is not judged by what it runs afterwards.
	case o.State == Failed:
		o.State = Reverted // it failed while it ran the version
	case o.State == Installed && (!follows || running == o.From):
		o.State, o.From = Reverted, running
		if o.Code == "" {
			o.Code = CodeReverted
		}
	}
}

// offers reports whether a poll's answer is a new offer to the box.
//
// A rollout's version is an offer even to a box that already runs it: that box belongs to the rollout from then on.
// Otherwise, to tell a box what it runs is not an offer, and neither is to repeat the last offer. So an offer outlives
// the halt of its rollout: boxes in flight are told the version that they run, and their outcomes still belong to the
// rollout.
//
// A box that ran what it was offered and then followed another answer can be offered the same version again.
func (p Polled) offers(row Row) bool {
	o := row.Offer
	if o != nil && o.State == Installed && row.Running != o.Version && p.Told == o.Version {
		return true
	}
	if p.RolloutID != "" {
		return o == nil || !o.Is(Offer{RolloutID: p.RolloutID, Version: p.Told})
	}
	return p.Told != "" && p.Told != row.Running && !row.Accepts(p.Told)
}

// Unread reports whether it cannot be read what the outcome is about.
func (o Outcome) Unread() bool { return o.Version == "" || o.State == "" }

// About reports whether an outcome is about the box's last offer.
func (o Outcome) About(r Row) bool {
	return r.Accepts(o.Version) && (o.RolloutID == "" || o.RolloutID == r.Offer.RolloutID)
}

// Change takes an outcome if it is newer than the known ones.
//
// A failed or reverted box stays so until a poll says that it runs the version: evidence against a release must not
// vanish while the box tries again. A box that runs the version has failed only if its health check says so. Any other
// failure is a late report of an earlier attempt: if the box had fallen back, its poll would say so.
func (o Outcome) Change(next *Row, _ Row) {
	if next.Accepts(o.Version) && o.State == Failed && next.Offer.State == Installed && (o.Code != CodeHealth || o.Attempt == next.Offer.FailedAttempt) {
		return
	}
	o.Take(next)
}

// Take takes an outcome of the latest known attempt, or of a later one.
func (o Outcome) Take(next *Row) {
	offer := next.Offer
	if o.Unread() || !o.About(*next) {
		return
	}
	if o.Attempt == 0 { // the box did not say
		o.Attempt = max(1, offer.Attempts)
	}
	if o.Attempt < offer.Attempts {
		return
	}
	switch {
	case o.State == Failed:
		next.TurnAt = nil
		offer.FailedAttempt = o.Attempt
		offer.fail(next.Running, o)
	case offer.State.Decided():
		return
	case o.State == Deferred:
		offer.State, offer.Detail, offer.Until = Deferred, o.Detail, o.Until
	default:
		offer.State, offer.Detail, offer.Until = Working, o.Detail, nil
	}
	offer.Attempts = o.Attempt
}

// fail takes a failure. A box that fell back may say why, and stays reverted. Evidence against the release also stays
// if an attempt then fails because of the factory.
func (o *Offer) fail(running string, by Outcome) {
	known := o.Code.BlamesRelease() && !by.Code.BlamesRelease()
	switch {
	case o.State.Decided() && known:
		return
	case o.State != Reverted || running == o.Version:
		o.State = Failed
	}
	if !known {
		o.Code = by.Code
	}
	o.Detail, o.Until = by.Detail, nil
}
