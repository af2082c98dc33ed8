package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"wavegate/shared/fleet/bell"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/fleet/rollout"
)

// The versions of a simulation: boxes run the old one, and the rollout brings the new one.
const (
	edgeType, channel  = "gateway-x", "stable"
	oldVersion, target = "1.0.0", "2.0.0"
	behind             = "0.1.0"
)

// stone is the version of a stone of the target, from 1 on. All stones are older than the old version.
func stone(i int) string { return fmt.Sprintf("0.%d.0", i+1) }

// released finds the release of a version. The target requires all stones, each of which is older than the next.
func (w world) released(version string) (release.Release, error) {
	versions, way := []string{behind}, release.Way(nil)
	for i := range w.Stones {
		versions, way = append(versions, stone(i+1)), append(release.Way{{Version: stone(i + 1), Order: int64(i + 2)}}, way...)
	}
	is := release.Release{EdgeType: edgeType, Version: version}
	if version == target {
		is.Urgency = w.Urgency
	}
	if is.Order = int64(slices.Index(append(versions, oldVersion, target), version) + 1); version == target {
		is.Way = way
	}
	return is, nil
}

// never is after everything that happens.
const never = time.Duration(1<<63 - 1)

// A box has the real state of a box, and the service's row about it.
type box struct {
	edge  edge.Edge
	row   report.Row
	born  time.Duration // when it was registered
	entry int           // its place among the entries
	dark  spans         // of its plant
	full  *full
	// attributes are those of its registration.
	attributes map[string]string
	// first is the box's first poll since the rollout started, and every the time between its polls from then on, while
	// its plant is on and it is alive.
	first, every time.Duration
	dies         time.Duration // never: it survives
	// called is the time of the box's last call other than a poll.
	called time.Duration

	effects       uint32 // bits, in the order of the world's release
	neverInstalls bool

	runsTarget bool
	cut        bool // its plant is cut off because of the release
	// ahead are the stones that the box has yet to run, and installing is what it installs, or was told last.
	ahead      int
	installing string
	behind     bool // before the rollout, it is
	skipped    bool // it ran a release before what that requires
	busy       bool // it installs, waits for another attempt, or was put off
	told       bool
	attempt    int
	failing    bool // its last attempt failed, or its health check does
	fellBack   bool
	stays      bool // on the old version, forever
	installs   int  // number of installations of the target
	wasPutOff  bool

	plant, group int  // the group's number; 0: none
	waited       bool // for its plant
	blocked      bool // by its group, at least once
	down         bool // it installs something
	// askedAt is when a poll first asked whether to tell it the target, and toldAt when it was first told; never: not yet.
	askedAt, toldAt time.Duration
	// ran and untold say what it was when the rollout was returned, and backAt is when it ran the old version again.
	ran, untold bool
	backAt      time.Duration
}

// runs is the version that the box runs: after a stone that one, and the old version if it was never behind.
func (p *play) runs(b *box) string {
	switch {
	case b.runsTarget:
		return target
	case b.ahead == p.world.Stones && b.behind:
		return behind
	case b.behind:
		return stone(p.world.Stones - b.ahead)
	}
	return oldVersion
}

// registration is what the service knows of the box's registration.
func (b *box) registration(at time.Time) report.Registration {
	return report.Registration{EdgeID: b.edge.EdgeID, EdgeType: edgeType, Channel: channel, FactoryID: b.edge.FactoryID, OrganizationID: b.edge.OrganizationID,
		At: at, Pin: b.edge.Pin}
}

// has reports whether the release has an effect on the box.
func (b *box) has(i int) bool { return b.effects&(1<<i) != 0 }

// is reports whether the box is of a kind: name=value, or several of these with & between them.
func (b *box) is(kind string) bool {
	if one, others, several := strings.Cut(kind, "&"); several {
		return b.is(one) && b.is(others)
	}
	name, value, _ := strings.Cut(kind, "=")
	switch name {
	case "factory":
		return b.edge.FactoryID == value
	case "organization":
		return b.edge.OrganizationID == value
	}
	return b.attributes[name] == value
}

// hurt reports whether the box is in a worse state than before.
func (b *box) hurt() bool {
	return b.cut || b.dies != never && b.told || b.failing || b.fellBack && !b.runsTarget
}

// pace makes a box that does not listen poll as often as the service tells it.
func (b *box) pace(p *play) {
	if p.world.Bell {
		return
	}
	b.every = p.world.ActivePoll
	if p.rollout.Status == rollout.Active && (p.at(p.now).Sub(p.rollout.UpdatedAt) >= bell.Busy || !p.near(b)) {
		b.every = p.world.IdlePoll
	}
}

// nextPoll returns the box's first regular poll at or after a time; never if it polls no more.
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
		switch lit := b.dark.lit(t); {
		case lit != t:
			t = lit
		case b.full.refuses(b, t):
			t++
		default:
			return t
		}
	}
}

// lastSeen returns the time of the box's last call before a time. Before the rollout, it also polled.
func (b *box) lastSeen(t time.Duration) time.Duration {
	t = min(t, b.dies-1)
	for {
		if t >= b.first {
			t = b.first + (t - b.first).Truncate(b.every)
		} else {
			t = b.first - (b.first - t + b.every - 1).Truncate(b.every)
		}
		switch x, dark := b.dark.at(t); {
		case dark:
			t = x.from - 1
		case b.full.refuses(b, t):
			t--
		default:
			return max(t, b.called)
		}
	}
}
