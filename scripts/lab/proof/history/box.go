package history

import "wavegate/shared/platform/problem"

// Targets are the versions that boxes are offered, by channel. Rollouts at 100 percent offer
// them. A box that came during its channel's rollout, as all do, or was moved, keeps a newer version
// that it runs. Of these versions, the greater text is the newer one.
var Targets = map[string]string{"stable": "2.0.0", "canary": "3.0.0"}

// A Box is a registration as it is read. Revision 0 means that there is none.
type Box struct {
	Channel  string
	Revision int64
}

// A ReportRow is a box's report row. It is zero for a box that never polled.
type ReportRow struct {
	Running  string
	Offered  string // the version
	State    string
	Failed   bool // the row says why it failed or fell back
	Attempts int
}

// mostAttempts is how many failed attempts a box may make.
const mostAttempts = 3

// A boxState is the state of the history's box.
type boxState struct {
	Box        Box
	Registered bool // if false, Box.Revision is the revision of the retirement
	ReportRow  ReportRow
	Told       string // by its last poll
	From       string // the version that it ran when it got its offer, or fell back to
}

// tells is the version that a poll of the box is told.
func (b boxState) tells(running string) string {
	return max(running, Targets[b.Box.Channel])
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
		when(b.Registered && b.ReportRow.Offered != in.Version, problem.ReportStale)
	}
	return codes
}

// shows reports whether the box's state allows an answer.
func (b boxState) shows(in Input, out Output) bool {
	switch in.Action {
	case Poll:
		return out.Told == b.tells(in.Running)
	case Report:
		after, _ := b.apply(in)
		return out.GiveUp == (in.Outcome == "failed" && max(in.Attempt, after.ReportRow.Attempts) >= mostAttempts)
	case ReadBox:
		return out.Box == b.Box
	case ReadReportRow:
		return out.ReportRow == b.ReportRow
	}
	return true
}

// apply returns the state after a call that is not refused.
func (b boxState) apply(in Input) (after boxState, created bool) {
	switch in.Action {
	case Register:
		if b.Registered && b.Box.Channel == in.Channel {
			return b, false
		}
		created = !b.Registered
		b.Registered, b.Box = true, Box{in.Channel, b.Box.Revision + 1}
	case Retire:
		// A box that is registered again has no earlier offers and reports.
		b = boxState{Box: Box{b.Box.Channel, b.Box.Revision + 1}}
	case Poll:
		b.polls(in.Running)
	case Report:
		b.reports(in)
	}
	return b, created
}

// polls applies a poll. First what the box runs decides about its offer: a box that runs it has
// installed it, and one that ran it and now runs another version has fallen back, unless it
// follows another answer. Then what the box is told becomes its offer, unless it already has
// that offer, or keeps what it runs.
func (b *boxState) polls(running string) {
	s, told := &b.ReportRow, b.tells(running)
	before, follows := s.Running, running == told && b.Told != told
	s.Running, b.Told = running, told
	pending := s.State == "offered" || s.State == "working" || s.State == "deferred"
	switch {
	case running == s.Offered && (pending || before != running):
		// That it fell back before stays known.
		s.State, s.Failed = "installed", s.Failed && s.State != "failed"
	case running == s.Offered || before != s.Offered:
	case s.State == "failed":
		s.State = "reverted"
	case s.State == "installed" && (!follows || running == b.From):
		s.State, s.Failed, b.From = "reverted", true, running
	}
	again := s.Offered == told && s.State == "installed" && running != told
	switch {
	case told != Targets[b.Box.Channel], s.Offered == told && !again:
		return
	case running == told:
		*s, b.From = ReportRow{Running: running, Offered: told, State: "installed"}, ""
	default:
		*s, b.From = ReportRow{Running: running, Offered: told, State: "offered", Failed: again && s.Failed}, running
	}
}

// reports applies a report. A report about an earlier attempt than the last known one changes
// nothing, nor does any report about a start while the box runs the version. Otherwise a final result
// stays, except that a failure counts.
func (b *boxState) reports(in Input) {
	s := &b.ReportRow
	if in.Attempt < s.Attempts {
		return
	}
	switch {
	case s.State == "installed":
		return
	case in.Outcome == "failed":
		s.Failed = true
		if s.State != "reverted" {
			s.State = "failed"
		}
	case s.State == "failed" || s.State == "reverted":
		return
	default:
		s.State = in.Outcome
	}
	s.Attempts = in.Attempt
}
