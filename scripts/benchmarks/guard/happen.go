package main

import (
	"context"
	"slices"
	"time"

	"wavegate/shared/fleet/decide"
	"wavegate/shared/fleet/edgetype"
	"wavegate/shared/fleet/plant"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/dynamo"
)

// happen plays an event of a living box.
func (p *play) happen(e event, b *box) {
	switch e.kind {
	case polls:
		p.poll(e.box, b)
	case installed:
		p.installed(e.box, b)
	case pinned:
		p.pin(e.box, b)
	case wearsOut:
		b.dies = p.now
	case reimaged:
		p.reimage(e.box, b)
	case retries:
		b.busy = false
		p.schedule(e.box, polls, p.again(b))
	case dies:
		if e.installs == b.installs {
			b.dies = p.now
			p.goesDown(b)
		}
	case failsLate:
		if e.installs == b.installs {
			p.failLate(e, b)
		}
	case fallsBack:
		if e.installs == b.installs {
			b.runsTarget, b.fellBack, b.stays = false, true, p.world.Release[e.effect].Every == 0
			p.schedule(e.box, polls, p.again(b))
		}
	}
}

// put applies an event to the box's row.
func (p *play) put(b *box, e report.Input) {
	row, changed := report.Next(b.row, e)
	if changed {
		b.row, p.entries[b.entry], p.changed = row, row.Entry(), true
		if row.Offer != nil && row.Offer.State == report.Failed {
			p.wake[(p.now+p.world.Policy.Guard.DecideWithin.Length()).Truncate(time.Minute)+time.Minute] = true
		}
	}
}

// poll is a poll with a possibly new answer. The box starts to install the version that it is told.
func (p *play) poll(i int32, b *box) {
	if p.now < b.born { // all boxes poll when something changes
		p.schedule(i, polls, b.nextPoll(b.born))
		return
	}
	runs := p.runs(b)
	asks := decide.Saying(b.row, runs, p.at(p.now))
	asks.Group, asks.Pin = b.edge.Group, b.edge.Pin
	d, err := decide.Decide(context.Background(), asks, sources{p, b})
	if err != nil {
		panic(err) // no source fails
	}
	p.waits(i, b, d)
	e := d.Polled(asks.Row)
	e.Running, e.Subject, e.At = runs, b.edge.EdgeID, p.at(p.now)
	p.put(b, e)
	if p.world.Bell || b.waited {
		b.called = p.now
	}
	p.goesBack(i, b, d.Version)
	if d.Target() != target {
		return
	}
	if b.told = true; b.toldAt == never {
		b.toldAt = p.now
	}
	if b.installing != d.Version && !b.busy {
		b.installing, b.attempt = d.Version, 0
	}
	if b.runsTarget || b.busy || b.stays || b.neverInstalls || p.putOff(i, b) {
		return
	}
	p.install(i, b)
}

// Sources are where the decision of a box reads: the world.
type sources struct {
	*play
	b *box
}

func (s sources) Row(context.Context, string, string, string) (release.ChannelRow, error) {
	return s.channel, nil
}

func (s sources) Release(_ context.Context, _, version string) (release.Release, error) {
	return s.world.released(version)
}

func (s sources) Plant(context.Context, string) (plant.Plant, error) {
	return plant.Plant{Updates: s.sites[s.b.plant].at(s.play.at(s.now))}, nil
}

// Settings returns none: a simulated box says its version as it is.
func (sources) Settings(context.Context, string) (edgetype.Settings, error) {
	return edgetype.Settings{}, nil
}

// Blocker looks for a box of the group that keeps the box waiting.
func (s sources) Blocker(_ context.Context, asks decide.Box, version string, patience report.Patience) (decide.Blocker, []dynamo.TransactItem, error) {
	for _, i := range s.groups[s.b.group] {
		m := &s.boxes[i]
		m.pace(s.play)
		if m != s.b && m.row.Blocks(version, patience, s.play.at(m.lastSeen(s.now)), asks.At) {
			return decide.Blocker{EdgeID: m.edge.EdgeID}, nil, nil
		}
	}
	return decide.Blocker{}, []dynamo.TransactItem{}, nil
}

// install begins an installation.
func (p *play) install(i int32, b *box) {
	b.busy, b.down = true, true
	p.goesDown(b)
	p.schedule(i, installed, p.now+p.installation())
}

// step is the number of the stone that the box installs or runs; 0: the release.
func (p *play) step(b *box) int {
	if b.installing != target {
		return p.world.Stones - b.ahead + 1
	}
	return 0
}

// reimage writes the old version to a box, as it comes from the manufacturer. The box says it, and its new attributes, at its next poll.
func (p *play) reimage(i int32, b *box) {
	b.runsTarget, b.busy, b.down, b.failing, b.fellBack, b.installing, b.attempt = false, false, false, false, false, "", 0
	b.installs++ // nothing of what it ran happens to it any more
	p.attribute(b)
	p.schedule(i, polls, p.again(b))
}

// pinAfter is how long an operator takes to pin a box that failed.
const pinAfter = 5 * time.Minute

// pin pins a box that failed to another version. It gets an offer of that one at its next poll, and never installs it.
func (p *play) pin(i int32, b *box) {
	if b.edge.Pin != nil {
		return
	}
	b.edge.Pin, b.stays = &report.Pin{Version: "1.0.1", At: p.at(p.now), Until: p.at(365 * 24 * time.Hour)}, true
	next := b.row.Registered(b.registration(p.at(p.now)))
	if b.row.LeavesTrace(next) {
		trace := b.row.Entry()
		trace.Trace = true
		p.traces = append(p.traces, trace)
	}
	b.row, p.entries[b.entry], p.changed = next, next.Entry(), true
	p.schedule(i, polls, p.again(b))
}

func (p *play) installation() time.Duration {
	return p.world.InstallLeast + time.Duration(p.random.Int64N(int64(p.world.InstallMost-p.world.InstallLeast)+1))
}

// putOff makes a person put the update off, once.
func (p *play) putOff(i int32, b *box) bool {
	for j, e := range p.world.Release {
		if e.Does != defers || !b.has(j) || b.wasPutOff {
			continue
		}
		b.busy, b.wasPutOff = true, true
		o := report.Outcome{Version: b.installing, Attempt: b.attempt + 1, State: report.Deferred, At: p.at(p.now)}
		if e.For > 0 {
			until := o.At.Add(e.For)
			o.Until = &until
			p.schedule(i, retries, p.now+e.For)
		}
		p.put(b, o)
		return true
	}
	return false
}

// installed ends an installation. If the plant is off, the box begins again when it is switched on.
func (p *play) installed(i int32, b *box) {
	if x, dark := b.dark.at(p.now); dark {
		p.schedule(i, installed, x.to+p.installation())
		return
	}
	if b.down = false; b.installing == oldVersion {
		p.back(i, b)
		return
	}
	b.attempt++
	at := p.step(b)
	for j, e := range p.world.Release {
		if e.Does == fails && b.has(j) && e.Stone == at && e.After == 0 && e.PowerUps == 0 && (e.Attempts == 0 || b.attempt <= e.Attempts) {
			p.failed(i, b, e.Code)
			return
		}
	}
	b.busy, b.failing, b.runsTarget = false, false, at == 0
	b.skipped = b.skipped || at == 0 && b.ahead > 0 || at > 0 && b.installing != stone(at)
	if at > 0 {
		b.ahead--
	}
	b.installs++
	for j, e := range p.world.Release {
		switch {
		case b.has(j) && e.Does == cuts:
			p.cut(b.plant)
		case b.has(j) && e.Stone == at:
			p.doom(i, b, int8(j), e)
		}
	}
	if b.dies > p.now {
		p.schedule(i, polls, p.again(b))
	}
}

// cut cuts off all boxes of a plant.
func (p *play) cut(plant int) {
	for i := range p.boxes {
		if b := &p.boxes[i]; b.plant == plant && !b.cut {
			b.cut, b.dark = true, append(slices.Clone(b.dark), span{p.now, never}).joined()
		}
	}
}

// failed reports a failed attempt. The box tries again as the answer says.
func (p *play) failed(i int32, b *box, code report.FailureCode) {
	b.busy, b.failing = true, true
	o := report.Outcome{Version: b.installing, Attempt: b.attempt, State: report.Failed, Code: code, At: p.at(p.now)}
	p.put(b, o)
	b.called = p.now
	if p.world.PinFailed {
		p.schedule(i, pinned, p.now+pinAfter)
	}
	if answer := report.Reply(b.row, o); !answer.GiveUp {
		p.schedule(i, retries, p.now+answer.RetryAfter)
	}
}

// doom schedules the effects of the release on a box that now runs it.
func (p *play) doom(i int32, b *box, number int8, e effect) {
	kinds := map[string]kind{fails: failsLate, bricks: dies, reverts: fallsBack}
	k, ok := kinds[e.Does]
	if !ok || e.Does == fails && (e.After == 0 && e.PowerUps == 0 || e.Attempts > 0 && b.attempt > e.Attempts) {
		return
	}
	wait := e.After
	if e.Until > e.After {
		wait += time.Duration(p.random.Int64N(int64(e.Until-e.After) + 1))
	}
	if e.Does == reverts && e.Every > 0 && (b.installs > 1 || e.After == 0) {
		wait = e.Every
	}
	at := p.now + wait
	for range e.PowerUps {
		if at, ok = b.dark.nextPowerUp(at); !ok {
			return
		}
	}
	if k == dies && at <= p.now {
		b.dies = p.now
		p.goesDown(b)
		return
	}
	ev := event{at: at, box: i, kind: k, effect: number, installs: b.installs}
	p.push(ev)
}

// failLate is a failure of a box that runs the release. If its health check fails, it keeps running it; otherwise it
// falls back and tries again.
func (p *play) failLate(ev event, b *box) {
	if lit := b.dark.lit(p.now); lit != p.now {
		ev.at = lit
		p.push(ev)
		return
	}
	i, e := ev.box, p.world.Release[ev.effect]
	if e.Code == report.CodeHealth {
		b.failing = true
		p.goesDown(b)
		b.called = p.now
		p.put(b, report.Outcome{Version: target, Attempt: b.attempt, State: report.Failed, Code: e.Code, At: p.at(p.now)})
		return
	}
	b.runsTarget, b.fellBack = false, true
	p.failed(i, b, e.Code)
	p.schedule(i, polls, p.again(b))
}
