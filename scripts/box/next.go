package box

import "time"

// A Deed is a step of a box.
type Deed int

// Deeds.
const (
	Wait     Deed = iota
	Listen        // call the bell
	Poll          // poll the manifest
	Fetch         // begin to download the version
	Activate      // run the version
	Tell          // send the report
)

// An Action is a deed. Until is set for Wait.
type Action struct {
	Deed  Deed
	Until time.Time
}

// Next decides what the box does at a given time.
//
// It activates a version only if the latest event is a poll that told it, and only within Timing.Fresh. So a box
// polls again after the download, and after a halt no box activates the version. If that time is over, it polls anew.
func (s *State) Next(now time.Time) Action {
	switch {
	case s.isTold(now) && s.fetched == s.told.SHA256:
		return Action{Deed: Activate}
	case s.isTold(now) && s.fetching != s.told.SHA256:
		return Action{Deed: Fetch}
	case s.mayBegin(now) && s.fetching != s.told.SHA256: // the box or its clock stood still or jumped; its next poll may be hours away
		return Action{Deed: Poll}
	case !now.Before(s.nextPoll) && s.Memory.Report != nil && !s.untold:
		return Action{Deed: Tell}
	case !now.Before(s.nextPoll):
		return Action{Deed: Poll}
	case s.told.Bell == nil:
		return Action{Deed: Wait, Until: s.nextPoll}
	case !now.Before(s.nextRing):
		return Action{Deed: Listen}
	}
	return Action{Deed: Wait, Until: sooner(s.nextPoll, s.nextRing)}
}

// isTold reports whether the latest event is a poll that told the box just now what it may begin.
func (s *State) isTold(now time.Time) bool {
	age := now.Sub(s.confirmed)
	return s.mayBegin(now) && age >= 0 && age <= s.Timing.Fresh
}

// mayBegin reports whether the latest event is a poll that told the box another version than it runs, and the box may
// try it.
func (s *State) mayBegin(now time.Time) bool {
	return !s.confirmed.IsZero() && s.wants() && !now.Before(s.Memory.NotBefore)
}

// wants reports whether the box is told another version than it runs and has not given up on it.
func (s *State) wants() bool {
	return s.told.Version != "" && s.told.Version != s.installed && !s.Memory.GivenUp && s.Memory.Report == nil
}

// Tag is the entity tag of the last answer to a poll.
func (s *State) Tag() string { return s.tag }

// RingTag is the entity tag of the bell's last answer.
func (s *State) RingTag() string { return s.ring.Tag }

// Manifest is what the last poll told.
func (s *State) Manifest() Manifest { return s.told }
