package fleet

import (
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"wavegate/shared/fleet/decide"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/fleet/report"
)

// An outcome is the result of one poll.
type outcome struct {
	status  int
	took    time.Duration
	version string // of a 200
	source  decide.Source
	failed  error
}

// A tally counts the versions that boxes are told, and the results of their polls.
type tally struct {
	mu       sync.Mutex
	boxes    int
	version  map[string]string // by box
	source   map[string]decide.Source
	statuses map[int]int
	failures int
	failure  string          // the last one
	recent   []time.Duration // how long the last polls took
	polls    int
	bells    int                 // calls of the bell
	truth    map[string]position // of each box that a rollout has reached
}

// A position is a box's own knowledge of its state in a rollout.
type position struct {
	rollout, version string
	state            report.State
}

// recentPolls is the number of polls in the shown durations.
const recentPolls = 2000

func newTally(boxes []*box) *tally {
	return &tally{boxes: len(boxes), version: map[string]string{}, source: map[string]decide.Source{}, statuses: map[int]int{}, truth: map[string]position{}}
}

func (t *tally) poll(id string, o outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.polls++
	if o.status != 0 {
		t.statuses[o.status]++
		if len(t.recent) < recentPolls {
			t.recent = append(t.recent, o.took)
		} else {
			t.recent[t.polls%recentPolls] = o.took
		}
	}
	if o.failed != nil {
		t.failures++
		t.failure = id + ": " + o.failed.Error()
	}
	if o.version != "" {
		t.version[id], t.source[id] = o.version, o.source
	}
}

// told records a poll that the service recorded: the version that the box reported, and the one that it was told.
func (t *tally) told(id string, m polling.Manifest, installed string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	was := t.truth[id]
	switch {
	case m.Source == decide.FromRollout && m.RolloutID != was.rollout:
		was = position{m.RolloutID, m.Version, report.Offered}
		if installed == m.Version {
			was.state = report.Installed
		}
	case was.rollout == "":
		return
	case installed == was.version:
		was.state = report.Installed
	case was.state == report.Installed:
		was.state = report.Reverted
	}
	t.truth[id] = was
}

// reported records a report that the service accepted.
func (t *tally) reported(id, version string, state report.State) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.truth[id]; s.version == version {
		s.state = state
		t.truth[id] = s
	}
}

// bell records a call of the bell.
func (t *tally) bell(id string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bells++
	if err != nil {
		t.failures++
		t.failure = id + ": the bell: " + err.Error()
	}
}

func (t *tally) trouble(id string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failures++
	t.failure = id + ": " + err.Error()
}

// counts returns the boxes that a rollout has reached, by their own states.
func (t *tally) counts(rollout string) map[report.State]int {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := map[report.State]int{}
	for _, s := range t.truth {
		if s.rollout == rollout {
			n[s.state]++
		}
	}
	return n
}

// A portion is the number of boxes that are told one version.
type portion struct {
	version string
	boxes   int
	rollout int // of them, by a rollout
}

// A picture is a tally at one moment.
type picture struct {
	boxes    int
	shares   []portion // in the order of the versions' names
	silent   int       // boxes without an answer so far
	polls    int
	bells    int // calls of the bell
	modified int // answers of 200
	same     int // of 304
	limited  int // of 429
	failures int
	failure  string
	p50, p99 time.Duration
}

func (t *tally) picture() picture {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := picture{boxes: t.boxes, bells: t.bells, silent: t.boxes - len(t.version), polls: t.polls, failures: t.failures, failure: t.failure,
		modified: t.statuses[http.StatusOK], same: t.statuses[http.StatusNotModified], limited: t.statuses[http.StatusTooManyRequests]}
	counts := map[string]portion{}
	for id, version := range t.version {
		s := counts[version]
		s.version = version
		s.boxes++
		if t.source[id] == decide.FromRollout {
			s.rollout++
		}
		counts[version] = s
	}
	for _, version := range slices.Sorted(maps.Keys(counts)) {
		p.shares = append(p.shares, counts[version])
	}
	if len(t.recent) > 0 {
		sorted := slices.Sorted(slices.Values(t.recent))
		p.p50, p.p99 = sorted[len(sorted)/2], sorted[len(sorted)*99/100]
	}
	return p
}
