package history

import "wavegate/shared/platform/problem"

// Targets are the versions that boxes are told, by channel. Rollouts at 100 percent give them, so that nothing
// but a box's channel decides what it is told.
var Targets = map[string]string{"stable": "2.0.0", "canary": "3.0.0"}

// A Box is a registration as it is read; Revision 0: there is none.
type Box struct {
	Channel  string
	Revision int64
}

// A Standing is what a box's report row says of it; the zero Standing is a box that never polled.
type Standing struct {
	Running  string
	Offered  string // the version
	Stand    string
	Failed   bool // a failure is named
	Attempts int
}

// MostAttempts is how many failed attempts a box is asked to make.
const MostAttempts = 3

// A boxState is all that is known of the history's box.
type boxState struct {
	Box        Box
	Registered bool // otherwise Box.Revision is that of the end of its registration
	Standing   Standing
	Failed     int // the latest attempt that failed
}

func (b boxState) refusals(in Input) []problem.Code {
	var codes []problem.Code
	when := func(holds bool, code problem.Code) {
		if holds {
			codes = append(codes, code)
		}
	}
	switch in.Action {
	case Register, Retire:
		when(in.Action == Retire && !b.Registered, problem.NotFound)
		when(in.IfMatch != 0 && (!b.Registered || in.IfMatch != b.Box.Revision), problem.PreconditionFailed)
	case Poll, ReadBox:
		when(!b.Registered, problem.NotFound)
	case Report:
		when(!b.Registered, problem.NotFound)
		when(b.Registered && b.Standing.Offered != in.Version, problem.ReportStale)
	}
	return codes
}

// shows tells whether an answer is one that the box's state can give.
func (b boxState) shows(in Input, out Output) bool {
	switch in.Action {
	case Poll:
		return out.Told == Targets[b.Box.Channel]
	case Report:
		after, _ := b.apply(in)
		return out.GiveUp == (in.Outcome == "failed" && after.Standing.Attempts >= MostAttempts)
	case ReadBox:
		return out.Box == b.Box
	case ReadStanding:
		return out.Standing == b.Standing
	}
	return true
}

// apply is the state after a call that is not refused.
func (b boxState) apply(in Input) (after boxState, created bool) {
	switch in.Action {
	case Register:
		if b.Registered && b.Box.Channel == in.Channel {
			return b, false
		}
		created = !b.Registered
		b.Registered, b.Box = true, Box{in.Channel, b.Box.Revision + 1}
	case Retire:
		// Nothing that it was told or said is known of a box that comes back.
		b = boxState{Box: Box{b.Box.Channel, b.Box.Revision + 1}}
	case Poll:
		b.polls(in.Running)
	case Report:
		b.reports(in)
	}
	return b, created
}

// polls: what the box is told is an offer, if it is not the one that it has. A box that runs what it was offered
// has installed it, and one that ran it and runs something else has fallen back.
func (b *boxState) polls(running string) {
	s, told := &b.Standing, Targets[b.Box.Channel]
	before := s.Running
	s.Running = running
	if s.Offered != told {
		*s, b.Failed = Standing{Running: running, Offered: told, Stand: "offered"}, 0
		if running == told {
			s.Stand = "installed"
		}
		return
	}
	undecided := s.Stand == "offered" || s.Stand == "working" || s.Stand == "deferred"
	switch {
	case running == told && (undecided || before != told):
		s.Stand, s.Failed = "installed", false
	case running != told && s.Stand == "installed":
		s.Stand = "reverted"
	}
}

// reports: an earlier attempt than one that was heard of says nothing new. What is decided is decided, but for a
// failure, which always counts; the failure that came before a success does not count when it is told again.
func (b *boxState) reports(in Input) {
	s := &b.Standing
	if in.Attempt < s.Attempts {
		return
	}
	switch {
	case in.Outcome == "failed" && s.Stand == "installed" && in.Attempt == b.Failed:
		return
	case in.Outcome == "failed":
		s.Stand, s.Failed, b.Failed = "failed", true, in.Attempt
	case s.Stand == "installed" || s.Stand == "failed" || s.Stand == "reverted":
		return
	default:
		s.Stand = in.Outcome
	}
	s.Attempts = in.Attempt
}
