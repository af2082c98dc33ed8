// Package box is the client of a box: it hears the bell, polls, downloads, polls again, activates and reports. State has
// the rules, without any input or output. Client makes the calls. The package imports nothing else of the project, so a
// maker can take it as it is.
package box

import (
	"math/rand/v2"
	"slices"
	"time"
)

// A State is what a box knows, and decides by Next what it does. Whatever happens to the box is told to one of its
// methods, which take the time from their caller. It is not safe for concurrent use.
//
// A State begins with Started.
type State struct {
	Timing Timing
	// Random draws from 0 to 1. The package math/rand/v2 does if it is nil.
	Random func() float64
	Memory Memory

	installed string // what the box said at its last poll
	tag       string // of the last answer
	told      Manifest
	confirmed time.Time // when a poll told what was told; zero: something has happened since
	fetching  string    // the digest of the file that is being downloaded
	fetched   string    // the digest of the file that was downloaded and checked

	ring     Ring          // the bell's last answer
	interval time.Duration // of the bell
	heard    time.Time     // when the bell answered last, or since when there is one
	unheard  bool          // for so long that the box falls back to polls
	refusals int           // polls that failed in a row
	untold   bool          // the report was not taken; a poll comes before the next try

	nextPoll, nextRing time.Time
	regular            time.Time // the next poll if nothing happens
}

// A Memory is what a box keeps of its attempts when it starts again. It must lie where it survives a box that falls back
// to the version before. Otherwise the box tries a version that it cannot boot again and again.
type Memory struct {
	// Version and RolloutID are of the offer that the rest is about.
	Version   string `json:"version,omitempty"`
	RolloutID string `json:"rolloutId,omitempty"`
	Attempts  int    `json:"attempts,omitempty"`
	// NotBefore is when the next attempt may begin.
	NotBefore time.Time `json:"notBefore"`
	GivenUp   bool      `json:"givenUp,omitempty"`
	// Activating is set while the box activates the version.
	Activating bool `json:"activating,omitempty"`
	// Report is one that the service has not taken yet.
	Report *Report `json:"report,omitempty"`
}

// mostAdvice is the longest wait that the service asks for after a report.
const mostAdvice = 24 * time.Hour

// Started begins. installed is what the box runs. A box that was activating another version has fallen back.
func (s *State) Started(installed string, now time.Time) {
	s.installed, s.interval = installed, s.Timing.Interval
	s.nextPoll = now.Add(s.Timing.Settle + time.Duration(s.random()*float64(max(s.Timing.Start-s.Timing.Settle, 0))))
	s.regular = s.nextPoll
	s.Memory.NotBefore = sooner(s.Memory.NotBefore, now.Add(mostAdvice)) // the clock may have been wrong
	if s.Memory.Activating {
		s.Memory.Activating = false
		if s.Memory.Version != installed {
			s.attempted(Report{Outcome: Failed, Code: "boot", Detail: "the box runs another version after its start"}, now)
			s.nextPoll = s.regular
		}
	}
}

// Told takes the answer to a poll that said what the box runs. An answer without an entity tag was not recorded by the
// service. It tells nothing, and the next poll comes soon.
func (s *State) Told(m Manifest, tag, installed string, now time.Time) {
	moved := s.told.Bell == nil && m.Bell != nil || s.told.Bell != nil && m.Bell != nil && *s.told.Bell != *m.Bell
	s.told, s.tag, s.installed = m, tag, installed
	s.unheard = s.unheard && m.Bell != nil
	if s.fetching != m.SHA256 {
		s.fetching = "" // a halt, or a newer version, ends the download
	}
	if moved {
		s.ring, s.heard, s.nextRing, s.unheard = Ring{}, now, now, false
	}
	if tag == "" {
		s.confirmed, s.refusals, s.untold = time.Time{}, 0, false
		s.pollAt(now.Add(s.spread(min(s.Timing.Retry, s.pollInterval()))))
		return
	}
	if m.Version != installed && (m.Version != s.Memory.Version || m.RolloutID != s.Memory.RolloutID) {
		s.Memory = Memory{Version: m.Version, RolloutID: m.RolloutID}
	}
	s.polled(now)
}

// NotModified takes the answer that nothing has changed since the last one.
func (s *State) NotModified(installed string, now time.Time) {
	s.installed = installed
	s.polled(now)
}

// polled notes that a poll told what was told.
func (s *State) polled(now time.Time) {
	s.confirmed, s.refusals, s.untold = now, 0, false
	next := now.Add(s.spread(s.pollInterval()))
	if s.unheard {
		next = sooner(next, now.Add(s.spread(s.Timing.Fallback)))
	}
	s.pollAt(next)
	switch {
	case s.Memory.Report != nil:
		s.nextPoll = sooner(next, now.Add(s.spread(s.Timing.Retry)))
	case s.Memory.NotBefore.After(now) && s.wants():
		s.nextPoll = sooner(next, s.Memory.NotBefore)
	}
}

// Refused takes a poll that failed. after is the wait that the answer asked for.
func (s *State) Refused(after time.Duration, now time.Time) {
	s.confirmed, s.untold = time.Time{}, false
	wait := s.spread(min(s.Timing.Retry<<min(s.refusals, 20), s.Timing.MostRetry))
	s.refusals++
	if after > 0 {
		wait = max(wait, after+time.Duration(s.random()*float64(s.Timing.Retry)))
	}
	s.pollAt(now.Add(wait))
}

// Heard takes an answer of the bell. If it rings for the box, a poll is due. A box is called for some time. It polls once,
// unless the entity tag says that somebody was called again.
func (s *State) Heard(r Ring, now time.Time) {
	called := r.Tag != s.ring.Tag && s.told.Bell != nil && slices.Contains(r.Calls, s.told.Bell.Call)
	rings := called || r.Sound != s.ring.Sound
	s.ring = r
	s.Unchanged(r.Interval, now)
	if rings {
		s.nextPoll = sooner(s.nextPoll, now.Add(s.Timing.Settle+time.Duration(s.random()*float64(s.Timing.Settle))))
	}
}

// Unchanged takes the answer that nothing rings since the last one.
func (s *State) Unchanged(interval time.Duration, now time.Time) {
	scaled := time.Duration(interval.Seconds() * float64(s.Timing.Second))
	s.interval = min(max(scaled, s.Timing.LeastInterval), s.Timing.MostInterval)
	s.confirmed, s.heard, s.nextRing = time.Time{}, now, now.Add(s.spread(s.interval))
	if s.unheard || s.refusals > 0 { // what failed meanwhile is tried again
		s.nextPoll = sooner(s.nextPoll, now.Add(s.Timing.Settle+time.Duration(s.random()*float64(s.Timing.Retry))))
	}
	s.unheard = false
}

// Unheard takes a call of the bell that failed. after is the wait that the answer asked for.
func (s *State) Unheard(after time.Duration, now time.Time) {
	s.confirmed = time.Time{}
	s.nextRing = now.Add(max(min(after, s.Timing.MostInterval), s.spread(s.interval)))
	if !s.unheard && now.Sub(s.heard) >= time.Duration(s.Timing.Unheard)*s.interval {
		s.unheard = true
		s.nextPoll = sooner(s.nextPoll, now.Add(time.Duration(s.random()*float64(s.Timing.Fallback))))
	}
}

// Fetch notes that the download of what was told begins. It takes the place of an earlier one. Rings and polls go on meanwhile. The download goes on while
// Fetching returns its digest.
func (s *State) Fetch() { s.fetching, s.fetched = s.told.SHA256, "" }

// Fetching is the digest of the download that goes on; empty: none.
func (s *State) Fetching() string { return s.fetching }

// Fetched notes that the artifact was downloaded and has the digest that was told. A poll comes next.
func (s *State) Fetched(now time.Time) {
	s.fetched, s.fetching, s.confirmed, s.nextPoll = s.fetching, "", time.Time{}, now
}

// Activating notes that the activation begins. Keep the Memory before it does.
func (s *State) Activating() {
	s.confirmed, s.Memory.Activating = time.Time{}, true
}

// Activated notes that the box runs what it was told. The next poll says so.
func (s *State) Activated(now time.Time) {
	s.Memory.Activating, s.fetched = false, ""
	s.nextPoll = now.Add(s.spread(s.Timing.Settle))
}

// Attempt notes how an attempt at what was told ended: r has its outcome and the reason. A report is due.
func (s *State) Attempt(r Report, now time.Time) {
	s.confirmed, s.Memory.Activating, s.fetched, s.fetching = time.Time{}, false, "", ""
	s.attempted(r, now)
	s.nextPoll = now
}

func (s *State) attempted(r Report, now time.Time) {
	m := &s.Memory
	r.Version, r.RolloutID, r.Attempt = m.Version, m.RolloutID, m.Attempts+1
	if r.Outcome == Failed {
		m.Attempts++ // an attempt that was put off is made later
	}
	m.Report, m.NotBefore = &r, now.Add(s.Timing.Retry)
}

// Advised takes the answer to the report.
func (s *State) Advised(a Advice, now time.Time) {
	s.Memory.Report, s.Memory.GivenUp, s.Memory.NotBefore = nil, a.GiveUp, now.Add(a.RetryAfter)
	s.nextPoll = s.regular
	if !a.GiveUp {
		s.nextPoll = sooner(s.regular, s.Memory.NotBefore)
	}
}

// Stale notes that the service was no longer interested in the report. A poll says what it wants now.
func (s *State) Stale(now time.Time) {
	s.Memory.Report, s.nextPoll = nil, now
}

// Untold notes that the report was not taken. It is sent again after the next poll. after is the wait that the answer
// asked for.
func (s *State) Untold(after time.Duration, now time.Time) {
	s.untold, s.nextPoll = true, now.Add(after)
}

// pollAt sets the next regular poll.
func (s *State) pollAt(t time.Time) { s.regular, s.nextPoll = t, t }

func (s *State) pollInterval() time.Duration {
	return time.Duration(s.told.PollIntervalSeconds) * s.Timing.Second
}

// spread is a tenth more or less of a wait.
func (s *State) spread(d time.Duration) time.Duration {
	return d - d/10 + time.Duration(s.random()*float64(d)/5)
}

func (s *State) random() float64 {
	if s.Random == nil {
		return rand.Float64()
	}
	return s.Random()
}

func sooner(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
