// Package history checks short histories of concurrent calls for linearizability. A history is
// about one release channel or one box. It is linearizable if there is one order of the calls
// that explains every answer. Each call takes effect at one moment between its start and its
// answer. porcupine searches for the order.
//
// The model follows the service's documented decisions. It shares no code with the packages that
// it checks.
//
// If a call can be refused for several reasons, the answer may name any of them, because the
// service does not promise which.
package history

import (
	"fmt"
	"hash/fnv"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"

	"wavegate/shared/platform/problem"
)

// An Action is what a call asks for.
type Action string

// The actions.
const (
	Publish     Action = "publish"
	Start       Action = "start"
	Move        Action = "move" // promote, halt, resume, complete
	ReadChannel Action = "read channel"
	ReadRollout Action = "read rollout"
	ReadRow     Action = "read row" // the channel's row as polls read it, not through the API

	Register      Action = "register" // or move to another channel
	Retire        Action = "retire"
	Poll          Action = "poll"
	Report        Action = "report"
	ReadBox       Action = "read box"
	ReadReportRow Action = "read report row" // the box's report row, not through the API
)

// reads reports whether the action changes nothing.
func (a Action) reads() bool {
	return slices.Contains([]Action{ReadChannel, ReadRollout, ReadRow, ReadBox, ReadReportRow}, a)
}

// An Input is one call about the history's channel or box.
type Input struct {
	Action  Action
	Version string // that is published, or started
	Digest  string // of a publication; represents the bytes of Version
	Rollout string // that is moved or read
	Percent int    // of a move; 0 means not sent
	Status  string // of a move; empty means not sent
	Return  bool   // of a halt
	IfMatch int64  // revision of a move or of the box; 0 means not sent
	IfTag   Tag    // of a publication; zero means not sent
	Channel string // of a registration
	Running string // of a poll
	Outcome string // of a report about Version
	Attempt int    // of a report
}

// A Tag is the content of a channel's entity tag: the channel's revision, and the id and
// revision of the rollout in its row.
type Tag struct {
	Revision int64
	Rollout  string
	Moves    int64
}

// An Output is an answer: a problem code, or what was done or read.
type Output struct {
	Code problem.Code // empty means success
	// Lost is set if the answer does not say whether the change was made.
	Lost    bool
	Created bool   // the channel or box is new
	ID      string // of a start
	Channel Channel
	Rollout Rollout
	Carried Carried
	Keeps   string // the versions that boxes of the channel keep, sorted
	Tag     Tag    // of a channel

	Told      string // the version that a poll offered
	GiveUp    bool   // in the answer to a report: the box should make no further attempt
	Box       Box
	ReportRow ReportRow
}

// A Channel is a channel as it is read. Revision 0 means that there is none.
type Channel struct {
	Version, Digest string
	Revision        int64
}

// A Rollout as it is read.
type Rollout struct {
	Target, Digest, Previous string
	Percent                  int
	Status                   string
	Ended                    string // "publication" if one ended it, otherwise empty
	Adopted, Completed       bool   // ever
	Returned                 bool
	Revision                 int64
}

// A Carried is the rollout in a channel's row; zero means none.
type Carried struct {
	ID, Target string
	Percent    int
	Active     bool
	Revision   int64
}

// A state is the channel with everything that belongs to it. It is never changed in place.
type state struct {
	Channel  Channel
	Carried  string            // the rollout in the row
	Earlier  []string          // versions of earlier rollouts in the row
	Returned []string          // versions of rollouts that were returned, since they were last started
	Releases map[string]string // digest by version
	Rollouts map[string]Rollout
	Box      boxState
}

func (s state) with(id string, r Rollout) state {
	s.Rollouts = maps.Clone(s.Rollouts)
	s.Rollouts[id] = r
	return s
}

func (s state) active() bool { return s.Carried != "" && s.Rollouts[s.Carried].Status == active }

// lost is the prefix of names for rollouts with an unanswered start.
const lost = "lost-"

const (
	active    = "active"
	halted    = "halted"
	completed = "completed"
)

// next lists the states that a call with this answer can lead to. An empty list means that the
// answer is impossible.
func (s state) next(in Input, out Output) []state {
	if out.Lost {
		// It takes effect at this point in the order, or never.
		after, _ := s.apply(in, out.ID)
		return []state{s, after}
	}
	if out.Code == problem.Conflict {
		return []state{s} // stopped after three decisions, without a write
	}
	if out.Code != "" {
		if slices.Contains(s.refusals(in), out.Code) {
			return []state{s}
		}
		return nil
	}
	if len(s.refusals(in)) > 0 || !s.shows(in, out) {
		return nil
	}
	after, created := s.apply(in, out.ID)
	if created != out.Created {
		return nil
	}
	return []state{after}
}

// refusals are the codes of all reasons to refuse a call in this state.
func (s state) refusals(in Input) []problem.Code {
	var codes []problem.Code
	when := func(holds bool, code problem.Code) {
		if holds {
			codes = append(codes, code)
		}
	}
	r, known := s.Rollouts[in.Rollout]
	switch in.Action {
	case Publish:
		was, bound := s.Releases[in.Version]
		when(bound && was != in.Digest, problem.ReleaseImmutable)
		when(in.IfTag != Tag{} && in.IfTag != s.tag(), problem.PreconditionFailed)
	case Start:
		_, published := s.Releases[in.Version]
		when(s.Channel.Revision == 0, problem.NotFound)
		when(!published, problem.ReleaseNotPublished)
		when(s.active(), problem.RolloutActive)
	case Move:
		when(!known, problem.NotFound)
		when(known && in.IfMatch != 0 && in.IfMatch != r.Revision, problem.PreconditionFailed)
		when(known && in.raises() && !r.mayRaise(in.Percent), problem.InvalidStateTransition)
		when(known && in.Status == active && r.Status != active && (r.Completed || r.Returned || s.Carried != in.Rollout), problem.InvalidStateTransition)
		when(known && in.Return && !r.Returned && (r.Adopted || s.Carried != in.Rollout && !s.brings(r.Target)), problem.InvalidStateTransition)
	case ReadChannel:
		when(s.Channel.Revision == 0, problem.NotFound)
	case ReadRollout:
		when(!known, problem.NotFound)
	default:
		return s.Box.refusals(in)
	}
	return codes
}

// brings reports whether boxes keep the target of an earlier rollout because of that rollout.
func (s state) brings(target string) bool {
	return slices.Contains(s.keeps(), target) && s.Rollouts[s.Carried].Target != target
}

// keeps lists the versions that boxes of the channel keep if they run them.
func (s state) keeps() []string {
	list := slices.Clone(s.Earlier)
	if s.Carried != "" {
		list = append(list, s.Rollouts[s.Carried].Target)
	}
	slices.Sort(list)
	return slices.DeleteFunc(slices.Compact(list), func(v string) bool { return v == s.Channel.Version || slices.Contains(s.Returned, v) })
}

// raises reports whether a move's percentage counts. A halt ignores it.
func (in Input) raises() bool { return in.Percent != 0 && in.Status != halted }

var following = map[int]int{1: 10, 10: 50, 50: 100}

func (r Rollout) mayRaise(percent int) bool {
	return percent == r.Percent || r.Status == active && following[r.Percent] == percent
}

// shows reports whether a read can show this state.
func (s state) shows(in Input, out Output) bool {
	switch in.Action {
	case ReadChannel:
		return out.Channel == s.Channel && s.tag().is(out.Tag)
	case ReadRollout:
		return out.Rollout == s.Rollouts[in.Rollout]
	case ReadRow:
		carried := s.carried()
		if strings.HasPrefix(carried.ID, lost) {
			carried.ID = out.Carried.ID // its id was never answered
		}
		return out.Channel == s.Channel && out.Carried == carried && out.Keeps == strings.Join(s.keeps(), " ") && s.tag().is(out.Tag)
	}
	return s.Box.shows(in, out)
}

func (s state) tag() Tag {
	return Tag{Revision: s.Channel.Revision, Rollout: s.Carried, Moves: s.carried().Revision}
}

// is reports whether a tag that was read equals this one.
func (t Tag) is(read Tag) bool {
	if strings.HasPrefix(t.Rollout, lost) {
		t.Rollout = read.Rollout // its id was never answered
	}
	return t == read
}

func (s state) carried() Carried {
	if s.Carried == "" {
		return Carried{}
	}
	r := s.Rollouts[s.Carried]
	return Carried{ID: s.Carried, Target: r.Target, Percent: r.Percent, Active: r.Status == active, Revision: r.Revision}
}

// apply returns the state after a call that is not refused.
func (s state) apply(in Input, id string) (after state, created bool) {
	if len(s.refusals(in)) > 0 {
		return s, false
	}
	switch in.Action {
	case Publish:
		return s.published(in)
	case Start:
		return s.started(in, id), false
	case Move:
		return s.moved(in), false
	}
	s.Box, created = s.Box.apply(in)
	return s, created
}

func (s state) published(in Input) (after state, created bool) {
	created = s.Channel.Revision == 0
	if s.active() {
		r := s.Rollouts[s.Carried]
		r.Status, r.Ended = halted, "publication"
		r.Revision++
		s = s.with(s.Carried, r)
	}
	s.Carried, s.Earlier, s.Returned = "", nil, nil
	s.Channel = Channel{in.Version, in.Digest, s.Channel.Revision + 1}
	s.Releases = maps.Clone(s.Releases)
	s.Releases[in.Version] = in.Digest
	return s, created
}

func (s state) started(in Input, id string) state {
	s.Earlier, s.Carried = s.keeps(), id
	s.Returned = slices.DeleteFunc(slices.Clone(s.Returned), func(v string) bool { return v == in.Version })
	return s.with(id, Rollout{
		Target: in.Version, Digest: s.Releases[in.Version], Previous: s.Channel.Version,
		Percent: 1, Status: active, Revision: 1,
	})
}

func (s state) moved(in Input) state {
	was := s.Rollouts[in.Rollout]
	r := was
	if in.raises() {
		r.Percent = in.Percent
	}
	if in.Status != "" {
		r.Status = in.Status
	}
	if r.Returned = was.Returned || in.Return; r == was {
		return s
	}
	if r.Returned && !was.Returned {
		s.Channel.Revision++
		s.Returned = slices.Sorted(slices.Values(append(slices.Clone(s.Returned), r.Target)))
	}
	r.Revision++
	r.Completed = r.Completed || r.Status == completed
	if was.Status == active && r.Status == completed && r.Percent == 100 {
		r.Adopted = true
		s.Channel = Channel{r.Target, r.Digest, s.Channel.Revision + 1}
		s.Earlier, s.Returned = nil, nil
	}
	return s.with(in.Rollout, r)
}

// model is the model of histories that begin without a channel.
var model = porcupine.NondeterministicModel{
	Init: func() []any { return []any{state{Releases: map[string]string{}, Rollouts: map[string]Rollout{}}} },
	Step: func(s, in, out any) []any {
		var all []any
		for _, next := range s.(state).next(in.(Input), out.(Output)) {
			all = append(all, next)
		}
		return all
	},
	Equal: func(a, b any) bool { return reflect.DeepEqual(a, b) },
	Hash: func(s any) uint64 {
		h := fnv.New64a()
		fmt.Fprint(h, s) // maps are printed in the order of their keys
		return h.Sum64()
	},
}
