package main

import (
	"time"

	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/report"
)

// The versions of a simulation: boxes run the old one, and the rollout brings the new one.
const (
	edgeType, channel  = "gateway-x", "stable"
	oldVersion, target = "1.0.0", "2.0.0"
)

// never is after everything that happens.
const never = time.Duration(1<<63 - 1)

// A box is a box as it really is, and the row that the service keeps of it.
type box struct {
	edge  edge.Edge
	row   report.Row
	entry report.IndexEntry
	dark  spans // of its plant
	// first is the box's first poll since the rollout started, and every the time between its polls from then on, while
	// its plant is on and it lives.
	first, every time.Duration
	dies         time.Duration // never: it lives
	// called is when the box last called apart from its polls.
	called time.Duration

	effects       uint32 // by their places in the world's release
	neverInstalls bool

	runsTarget bool
	busy       bool // it installs, waits for another attempt, or was put off
	told       bool
	attempt    int
	failing    bool // its last attempt failed, or its health check does
	fellBack   bool
	stays      bool // with the old version, for good
	installs   int  // how often it has installed the target
	wasPutOff  bool
}

// has reports whether the release has an effect on the box.
func (b *box) has(i int) bool { return b.effects&(1<<i) != 0 }

// hurt reports whether the box is worse off than before.
func (b *box) hurt() bool {
	return b.dies != never && b.told || b.failing || b.fellBack && !b.runsTarget
}

// nextPoll is the box's first regular poll at or after a time; never: it polls no more.
func (b *box) nextPoll(t time.Duration) time.Duration {
	for {
		if t <= b.first {
			t = b.first
		} else {
			t = b.first + (t - b.first + b.every - 1).Truncate(b.every)
		}
		if t >= b.dies {
			return never
		}
		lit := b.dark.lit(t)
		if lit == t {
			return t
		}
		t = lit
	}
}

// lastSeen is when the box last called, at a time. Before the rollout it polled as well.
func (b *box) lastSeen(t time.Duration) time.Duration {
	t = min(t, b.dies-1)
	for {
		if t >= b.first {
			t = b.first + (t - b.first).Truncate(b.every)
		} else {
			t = b.first - (b.first - t + b.every - 1).Truncate(b.every)
		}
		x, dark := b.dark.at(t)
		if !dark {
			return max(t, b.called)
		}
		t = x.from - 1
	}
}
