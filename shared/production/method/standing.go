package method

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/timestamp"
	"wavegate/shared/production/content"
)

// A Standing says whether an approved version holds. It is computed from the decisions and the time.
type Standing string

// Standings.
const (
	Scheduled  Standing = "scheduled"  // it will hold
	Holds      Standing = "holds"      // it holds on some machine
	Superseded Standing = "superseded" // later decisions have replaced it everywhere
)

// StandingOf is the standing of a version of the method at a time that is not before the method's
// last change. It is empty for a version that is not on trial or released.
func (m Method) StandingOf(v Version, at time.Time) Standing {
	if v.Status != Trial && v.Status != Released {
		return ""
	}
	standing := Superseded
	for _, d := range m.Effectivity.Prune(at) {
		switch {
		case d.Version != v.Version:
		case !d.From.After(at):
			return Holds
		default:
			standing = Scheduled
		}
	}
	return standing
}

// Shown is a version as API answers show it.
type Shown struct {
	Version
	Standing Standing `json:"standing,omitempty"`
	// Units are the full names of the content's units, by their codes, and Doubts what its author probably did not mean. Lists of
	// versions have neither.
	Units  map[string]string `json:"units,omitempty"`
	Doubts []content.Doubt   `json:"doubts,omitempty"`
}

func (m Method) shown(v Version, at time.Time) Shown {
	return Shown{Version: v, Standing: m.StandingOf(v, at)}
}

// saying is the version with what people have to know of its content before they sign it.
func (v Shown) saying(c content.Content) Shown {
	v.Units, v.Doubts = c.Units(), c.Doubts()
	return v
}

// A Holding is a version on machines, from a time on.
type Holding struct {
	Version int64 `json:"version"`
	Phase   Phase `json:"phase"`
	// Machines are the machines of a trial. A released version is on all machines that no trial covers.
	Machines      []string  `json:"machines,omitempty"`
	ContentSHA256 string    `json:"contentSha256"`
	From          time.Time `json:"from"`
	// Until is when other versions will have taken over on all of its machines, if that is decided.
	Until *time.Time `json:"until,omitempty"`
}

// Holdings lists the versions that hold at a time, and those that follow, each in the order of their starts.
func (e Effectivity) Holdings(at time.Time) (now, next []Holding) {
	now, next = []Holding{}, []Holding{}
	e = e.Prune(at)
	for i, d := range e {
		h := Holding{Version: d.Version, Phase: d.phase(), Machines: d.Machines, ContentSHA256: d.ContentSHA256, From: d.From, Until: e.until(i)}
		if d.From.After(at) {
			next = append(next, h)
		} else {
			now = append(now, h)
		}
	}
	byStart := func(a, b Holding) int { return a.From.Compare(b.From) }
	slices.SortStableFunc(now, byStart)
	slices.SortStableFunc(next, byStart)
	return now, next
}

// until returns when later decisions will have taken over all machines of the i-th one, or nil.
func (e Effectivity) until(i int) *time.Time {
	machines := e[i].Machines
	if e[i].everywhere() {
		machines = []string{""} // a machine that no trial covers
	}
	var ends time.Time
	for _, machine := range machines {
		var first *time.Time
		for _, later := range e[i+1:] {
			if later.covers(machine) && (first == nil || later.From.Before(*first)) {
				first = &later.From
			}
		}
		if first == nil {
			return nil
		}
		if first.After(ends) {
			ends = *first
		}
	}
	return &ends
}

func (d Decision) phase() Phase {
	if d.everywhere() {
		return IsReleased
	}
	return OnTrial
}

// refuse makes the refusal of a move, which names the version that holds instead.
func (m Method) refuse(at time.Time, v Version, format string, args ...any) error {
	return problem.New(problem.InvalidStateTransition, "%s %s", m.tell(v, at), fmt.Sprintf(format, args...))
}

// tell puts the state of a version into a sentence.
func (m Method) tell(v Version, at time.Time) string {
	name := fmt.Sprintf("Version %d is %s", v.Version, v.Status.words())
	if v.Status == Withdrawn && v.Orders != "" {
		return name + "; its orders must " + string(v.Orders) + m.tellOthers(v, at) + "."
	}
	now, next := m.Effectivity.Holdings(at)
	for _, h := range slices.Concat(now, next) {
		if h.Version == v.Version {
			return name + fmt.Sprintf(" on %s from %s.", h.where(), timestamp.Text(h.From))
		}
	}
	return name + m.tellOthers(v, at) + "."
}

func (m Method) tellOthers(v Version, at time.Time) string {
	if v.Status.open() {
		return ""
	}
	if holds := m.Effectivity.everywhereAt(at); holds > 0 {
		return fmt.Sprintf("; version %d holds on all machines", holds)
	}
	return "; no version holds on all machines"
}

func (h Holding) where() string {
	if len(h.Machines) == 0 {
		return "all machines"
	}
	return strings.Join(h.Machines, ", ")
}
