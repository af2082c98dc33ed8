// Package box is the client of a box: it hears the bell, polls, downloads, polls again, activates and reports. State
// has the rules, without any input or output. Client makes the calls. The package imports nothing else of the
// project, so a maker can use it unchanged.
package box

import (
	"math/rand/v2"
	"slices"
	"time"
)

// A State is what a box knows. Next decides what the box does. The caller reports every event to one of its methods,
// together with the time. It is not safe for concurrent use.
//
// A State begins with Started.
type State struct {
	Timing Timing
	// Random returns numbers from 0 to 1. It defaults to that of math/rand/v2.
	Random func() float64
	Memory Memory

	installed string // what the box reported at its last poll
	tag       string // of the last answer
	told      Manifest
	confirmed time.Time // when the latest poll confirmed told; zero: something has happened since
	fetching  string    // the digest of the file that is being downloaded
	fetched   string    // the digest of the file that was downloaded and checked

	ring     Ring          // the bell's last answer
	interval time.Duration // of the bell
	heard    time.Time     // when the bell answered last, or when the box first had one
	unheard  bool          // the bell has been silent for so long that the box polls instead
	refusals int           // polls that failed in a row
	untold   bool          // the report was not accepted; a poll comes before the next try

	nextPoll, nextRing time.Time
	regular            time.Time // the next poll if nothing happens
}

// A Memory is what a box remembers of its attempts after a restart. It must survive a fallback to the previous
// version. Otherwise the box tries a version that does not boot again and again.
type Memory struct {
	// Version and RolloutID identify the offer that the rest is about.
	Version   string `json:"version,omitempty"`
	RolloutID string `json:"rolloutId,omitempty"`
	Attempts  int    `json:"attempts,omitempty"`
	// NotBefore is when the next attempt may begin.
	NotBefore time.Time `json:"notBefore"`
	GivenUp   bool      `json:"givenUp,omitempty"`
	// Activating is set while the box activates the version.
	Activating bool `json:"activating,omitempty"`
	// Report is a report that the service has not accepted yet.
	Report *Report `json:"report,omitempty"`
}

// mostAdvice is the longest wait that the service asks for after a report.
const mostAdvice = 24 * time.Hour

// Started is the first event. installed is the version that the box runs. If it was activating another version, it
// has fallen back.
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

// Told records the answer to a poll that reported installed. An answer without an entity tag means that the service
// did not record the poll. It counts for nothing, and the next poll comes soon.
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

// NotModified records the answer that nothing has changed since the last one.
func (s *State) NotModified(installed string, now time.Time) {
	s.installed = installed
	s.polled(now)
}

// polled records that a poll confirmed told.
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

// Refused records a poll that failed. after is the wait that the answer asked for.
func (s *State) Refused(after time.Duration, now time.Time) {
	s.confirmed, s.untold = time.Time{}, false
	wait := s.spread(min(s.Timing.Retry<<min(s.refusals, 20), s.Timing.MostRetry))
	s.refusals++
	if after > 0 {
		wait = max(wait, after+time.Duration(s.random()*float64(s.Timing.Retry)))
	}
	s.pollAt(now.Add(wait))
}

// Heard records an answer of the bell. If it rings for the box, a poll is due. The bell calls a box for some time;
// the box polls once, unless a new entity tag shows that somebody was called again.
func (s *State) Heard(r Ring, now time.Time) {
	called := r.Tag != s.ring.Tag && s.told.Bell != nil && slices.Contains(r.Calls, s.told.Bell.Call)
	rings := called || r.Sound != s.ring.Sound
	s.ring = r
	s.Unchanged(r.Interval, now)
	if rings {
		s.nextPoll = sooner(s.nextPoll, now.Add(s.Timing.Settle+time.Duration(s.random()*float64(s.Timing.Settle))))
	}
}

// Unchanged records the answer that nothing has rung since the last one.
func (s *State) Unchanged(interval time.Duration, now time.Time) {
	scaled := time.Duration(interval.Seconds() * float64(s.Timing.Second))
	s.interval = min(max(scaled, s.Timing.LeastInterval), s.Timing.MostInterval)
	s.confirmed, s.heard, s.nextRing = time.Time{}, now, now.Add(s.spread(s.interval))
	if s.unheard || s.refusals > 0 { // retry what failed in the meantime
		s.nextPoll = sooner(s.nextPoll, now.Add(s.Timing.Settle+time.Duration(s.random()*float64(s.Timing.Retry))))
	}
	s.unheard = false
}

// Unheard records a call of the bell that failed. after is the wait that the answer asked for.
func (s *State) Unheard(after time.Duration, now time.Time) {
	s.confirmed = time.Time{}
	s.nextRing = now.Add(max(min(after, s.Timing.MostInterval), s.spread(s.interval)))
	if !s.unheard && now.Sub(s.heard) >= time.Duration(s.Timing.Unheard)*s.interval {
		s.unheard = true
		s.nextPoll = sooner(s.nextPoll, now.Add(time.Duration(s.random()*float64(s.Timing.Fallback))))
	}
}

// Fetch records that the download of the told version begins, which replaces an earlier one. Rings and polls continue
// in the meantime. The download continues as long as Fetching returns its digest.
func (s *State) Fetch() { s.fetching, s.fetched = s.told.SHA256, "" }

// Fetching returns the digest of the present download; empty if there is none.
func (s *State) Fetching() string { return s.fetching }

// Fetched records that the artifact was downloaded and has the right digest. A poll comes next.
func (s *State) Fetched(now time.Time) {
	s.fetched, s.fetching, s.confirmed, s.nextPoll = s.fetching, "", time.Time{}, now
}

// Activating records that the activation begins. Store the Memory first.
func (s *State) Activating() {
	s.confirmed, s.Memory.Activating = time.Time{}, true
}

// Activated records that the box runs the version. The next poll reports it.
func (s *State) Activated(now time.Time) {
	s.Memory.Activating, s.fetched = false, ""
	s.nextPoll = now.Add(s.spread(s.Timing.Settle))
}

// Attempt records the end of an attempt: r has its outcome and the reason. A report is due.
func (s *State) Attempt(r Report, now time.Time) {
	s.confirmed, s.Memory.Activating, s.fetched, s.fetching = time.Time{}, false, "", ""
	s.attempted(r, now)
	s.nextPoll = now
}

func (s *State) attempted(r Report, now time.Time) {
	m := &s.Memory
	r.Version, r.RolloutID, r.Attempt = m.Version, m.RolloutID, m.Attempts+1
	if r.Outcome == Failed {
		m.Attempts++ // an attempt that was put off does not count
	}
	m.Report, m.NotBefore = &r, now.Add(s.Timing.Retry)
}

// Advised records the answer to the report.
func (s *State) Advised(a Advice, now time.Time) {
	s.Memory.Report, s.Memory.GivenUp, s.Memory.NotBefore = nil, a.GiveUp, now.Add(a.RetryAfter)
	s.nextPoll = s.regular
	if !a.GiveUp {
		s.nextPoll = sooner(s.regular, s.Memory.NotBefore)
	}
}

// Stale records that the service no longer wanted the report. A poll asks what it wants now.
func (s *State) Stale(now time.Time) {
	s.Memory.Report, s.nextPoll = nil, now
}

// Untold records that the report was not accepted. It is sent again after the next poll. after is the wait that the
// answer asked for.
func (s *State) Untold(after time.Duration, now time.Time) {
	s.untold, s.nextPoll = true, now.Add(after)
}

// pollAt sets the next regular poll.
func (s *State) pollAt(t time.Time) { s.regular, s.nextPoll = t, t }

func (s *State) pollInterval() time.Duration {
	return time.Duration(s.told.PollIntervalSeconds) * s.Timing.Second
}

// spread varies a wait by a tenth.
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
