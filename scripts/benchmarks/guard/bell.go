package main

import (
	"time"

	"wavegate/shared/fleet/bell"
	"wavegate/shared/fleet/cohort"
)

// heartbeat is the time between polls of a listening box that is not watched, while nothing rings.
const heartbeat = 6 * time.Hour

// addBell makes the boxes of a world listen to a bell. The watched ones poll every w.IdlePoll, no matter what they
// are told.
func (p *play) addBell() {
	for i := range p.boxes {
		b := &p.boxes[i]
		if b.every = p.world.IdlePoll; !p.sizes.Watched(b.edge.EdgeID, b.stage()) {
			b.every, b.first = heartbeat, time.Duration(p.random.Int64N(int64(heartbeat)))
		}
	}
}

// measure counts the boxes of each stage.
func (p *play) measure() {
	p.sizes = bell.Sizes{}
	for _, percent := range cohort.Stages {
		p.sizes[percent] = 0
	}
	for i := range p.boxes {
		p.sizes[p.boxes[i].stage()]++
	}
}

// near reports whether the rollout has reached a box, or the guard may compare it with boxes that it has reached.
func (p *play) near(b *box) bool {
	return b.stage() <= p.rollout.StagedPercent || p.sizes.Watched(b.edge.EdgeID, b.stage())
}

// stage is the first stage that reaches the box.
func (b *box) stage() int { return cohort.FirstStage(edgeType, target, b.edge.EdgeID) }

// rings returns when a box polls after a change on the channel: at its next regular poll, or after it has heard the
// bell.
func (p *play) rings(b *box) time.Duration {
	if !p.world.Bell {
		b.pace(p)
		return b.nextPoll(p.now)
	}
	wait := func() time.Duration { return time.Duration(p.random.Int64N(int64(p.world.IdlePoll))) }
	at := p.now + wait()
	if lit := b.dark.lit(at); lit != at {
		at = lit + wait()
	}
	return b.ifAlive(b.dark.lit(at))
}

// again returns when a box polls after something happened to it: at its next regular poll, or immediately if it
// listens.
func (p *play) again(b *box) time.Duration {
	if !p.world.Bell {
		b.pace(p)
		return b.nextPoll(p.now)
	}
	return b.ifAlive(b.dark.lit(p.now))
}

// ifAlive returns the time, or never if the box is dead by then.
func (b *box) ifAlive(at time.Duration) time.Duration {
	if at >= b.dies {
		return never
	}
	return at
}
