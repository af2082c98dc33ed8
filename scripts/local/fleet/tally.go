package main

import (
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"wavegate/shared/fleet/edge"
)

// An outcome is how one poll ended.
type outcome struct {
	status  int
	took    time.Duration
	version string // of a 200
	source  edge.Source
	failed  error
}

// A tally counts what the boxes of a fleet resolve and how their polls end.
type tally struct {
	mu       sync.Mutex
	boxes    int
	version  map[string]string // of each box that was told one
	source   map[string]edge.Source
	statuses map[int]int
	failures int
	failure  string          // the last one
	recent   []time.Duration // how long the last polls took
	polls    int
}

// recentPolls is how many polls the shown durations are of.
const recentPolls = 2000

func newTally(boxes []*box) *tally {
	return &tally{boxes: len(boxes), version: map[string]string{}, source: map[string]edge.Source{}, statuses: map[int]int{}}
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

// A share is the boxes that resolve one version.
type share struct {
	version string
	boxes   int
	rollout int // of them, by a rollout
}

// A picture is a tally at one moment.
type picture struct {
	boxes    int
	shares   []share // in the order of the versions' names
	silent   int     // boxes that were told nothing yet
	polls    int
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
	p := picture{boxes: t.boxes, silent: t.boxes - len(t.version), polls: t.polls, failures: t.failures, failure: t.failure,
		modified: t.statuses[http.StatusOK], same: t.statuses[http.StatusNotModified], limited: t.statuses[http.StatusTooManyRequests]}
	counts := map[string]share{}
	for id, version := range t.version {
		s := counts[version]
		s.version = version
		s.boxes++
		if t.source[id] == edge.FromRollout {
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
