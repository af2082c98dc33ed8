package main

import (
	"cmp"
	"container/heap"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"wavegate/shared/fleet/bell"
	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/fleet/rollout"
)

// The boxes of a growth are registered between two times after the start. The attribute born of these is later.
const grows, grown = 26 * time.Hour, 72 * time.Hour

// afterwards is how long a world continues after its rollout has ended, besides the longest time after which the release does
// something: everything in it has happened by then.
const afterwards = 8 * 24 * time.Hour

// A result of a rollout.
type result struct {
	Seed    int     `json:"seed"`
	Outcome string  `json:"outcome"` // completed, halted or held
	Stage   int     `json:"stage"`
	Minutes int     `json:"minutes"` // since the start
	Told    int     `json:"told"`
	Hurt    int     `json:"hurt"`              // boxes bricked, failed or fallen back at the end
	Passed  int     `json:"passed,omitempty"`  // boxes that passed all stones and run the target
	Skipped int     `json:"skipped,omitempty"` // boxes that ran a release before what that requires
	Kept    kept    `json:"kept,omitzero"`
	Back    wayBack `json:"back,omitzero"`
	Reason  string  `json:"reason"`
}

// A play is one fleet and its rollout.
type play struct {
	world   world
	random  *rand.Rand
	boxes   []box
	byID    map[string]int32
	traces  []report.IndexEntry // of boxes that were pinned after they failed
	entries []report.IndexEntry // of the boxes, by hash
	channel release.ChannelRow
	rollout rollout.Rollout
	last    *census.Judgement
	events  events
	sizes   bell.Sizes // of the stages
	now     time.Duration
	changed bool // some row has changed since the last count
	wake    map[time.Duration]bool
	sites   []site    // the plants
	groups  [][]int32 // from 1 on
	kept    kept
}

// run plays a world with a seed.
func run(w world, seed int) result {
	p := newPlay(w, seed)
	end := time.Duration(w.Days) * 24 * time.Hour
	due := false
	for minute := time.Duration(0); minute <= end; minute += time.Minute {
		p.until(minute)
		p.people()
		if due = due || p.ticks(minute); due && minute%w.CountEvery == 0 {
			due = false
			p.tick()
		}
		if p.rollout.Status != rollout.Active && w.Return.ends(minute) {
			break
		}
	}
	res, ended := p.result(seed), p.now
	p.until(p.now + afterwards + w.longest())
	res.Kept, res.Back = p.judge(ended)
	for i := range p.boxes {
		if p.boxes[i].told {
			res.Told++
		}
		if p.boxes[i].hurt() {
			res.Hurt++
		}
		if p.boxes[i].skipped {
			res.Skipped++
		}
		if p.boxes[i].behind && p.boxes[i].runsTarget {
			res.Passed++
		}
	}
	return res
}

func newPlay(w world, seed int) *play {
	w.Policy = w.Policy.Polled(max(w.ActivePoll, w.IdlePoll)) // as a census does
	p := &play{world: w, random: rand.New(rand.NewPCG(uint64(seed), 1)), byID: make(map[string]int32, w.Boxes), wake: map[time.Duration]bool{}}
	p.channel = release.ChannelRow{Channel: release.Channel{EdgeType: edgeType, Channel: channel, CurrentVersion: oldVersion, Revision: 1, UpdatedAt: w.Start.AddDate(0, -1, 0)}}
	p.place(seed)
	p.group(rand.New(rand.NewPCG(uint64(seed), 3)))
	slices.SortFunc(p.entries, func(a, b report.IndexEntry) int { return cmp.Compare(a.Hash, b.Hash) })
	for i, e := range p.entries {
		p.boxes[p.byID[e.EdgeID]].entry = i
	}
	p.start("simulated")
	p.measure()
	if w.Bell {
		p.addBell()
	}
	days := rand.New(rand.NewPCG(uint64(seed), 4))
	for i := range p.boxes {
		sometime := func(share float64, k kind) {
			if share > 0 && days.Float64() < share {
				p.schedule(int32(i), k, time.Duration(days.Int64N(int64(w.Days)*int64(24*time.Hour))))
			}
		}
		sometime(w.Dying, wearsOut)
		sometime(w.Reimaged, reimaged)
		p.schedule(int32(i), polls, max(p.rings(&p.boxes[i]), p.boxes[i].nextPoll(p.boxes[i].born)))
	}
	return p
}

// start starts a rollout of the target.
func (p *play) start(id string) {
	policy := p.world.Policy
	is, _ := p.world.released(target)
	r := rollout.Start(id, p.channel.Channel, is, &policy, person, p.at(p.now))
	r.Urgent = p.world.Urgent
	p.last, p.rollout, p.channel = nil, r, p.channel.Begin(r.Carried()).Showing(is)
}

// place makes the boxes. Each is in a random plant, and each plant belongs to an organization.
func (p *play) place(seed int) {
	w, dark := p.world, p.world.darkness(p.random)
	clusters := make([]map[int]bool, len(w.Release))
	for i, e := range w.Release {
		if e.Clustered > 0 {
			clusters[i] = map[int]bool{}
			for _, plant := range p.random.Perm(w.Plants)[:max(1, chosen(e.Clustered, w.Plants))] {
				clusters[i][plant] = true
			}
		}
	}
	p.sites, p.boxes = w.sites(rand.New(rand.NewPCG(uint64(seed), 2))), make([]box, w.Boxes+chosen(w.Growth, w.Boxes))
	for i := range p.boxes {
		b, id, plant := &p.boxes[i], fmt.Sprintf("box-%d-%05d", seed, i), p.random.IntN(w.Plants)
		b.edge = edge.Edge{EdgeID: id, EdgeType: edgeType, Channel: channel, FactoryID: fmt.Sprintf("plant-%d", plant),
			OrganizationID: fmt.Sprintf("organization-%d", plant%w.Organizations), Revision: 1}
		b.dark, b.full, b.dies, b.called, b.every, b.plant = dark[plant], w.Full, never, -never, w.ActivePoll, plant
		b.askedAt, b.toldAt, b.backAt = never, never, never
		b.first = time.Duration(p.random.Int64N(int64(w.IdlePoll)))
		if p.random.Float64() < w.Dead {
			b.dies = time.Duration(-w.DeadDays)*24*time.Hour - b.first
		}
		b.neverInstalls = p.random.Float64() < w.NeverInstalls
		p.draw(b, plant, clusters, i >= w.Boxes)
		if w.AlwaysOn > 0 && p.random.Float64() < w.AlwaysOn {
			b.dark = nil
		}
		if w.Pinned > 0 && p.random.Float64() < w.Pinned {
			b.edge.Pin = &report.Pin{Version: oldVersion, At: p.at(-afterwards), Until: p.at(365 * 24 * time.Hour)}
		}
		if w.Behind > 0 && p.random.Float64() < w.Behind {
			b.behind, b.ahead = true, w.Stones
		}
		b.born = -afterwards
		if i >= w.Boxes {
			b.born = grows + time.Duration(p.random.Int64N(int64(grown-grows)))
		}
		registered := b.registration(p.at(b.born))
		if i >= w.Boxes {
			registered.First = registered.At
		}
		b.row = report.Row{}.Registered(registered)
		b.row, _ = report.Next(b.row, report.Polled{Told: oldVersion, Running: p.runs(b), Subject: id, At: p.at(b.born)})
		p.byID[id], p.entries = int32(i), append(p.entries, b.row.Entry())
	}
}

// attribute draws a box's attributes.
func (p *play) attribute(b *box) {
	for _, a := range p.world.Attributes {
		delete(b.attributes, a.Name)
		if value := a.value(p.random); value != "" {
			b.attributes[a.Name] = value
		}
	}
}

// draw draws a box's attributes, and the effects of the release on it. Some effects are only in some plants.
func (p *play) draw(b *box, plant int, clusters []map[int]bool, late bool) {
	b.attributes = map[string]string{}
	if late {
		b.attributes["born"] = "later"
	}
	p.attribute(b)
	for j, e := range p.world.Release {
		share := e.Share
		if clusters[j] != nil {
			share = 0
			if clusters[j][plant] {
				share = min(1, e.Share*float64(p.world.Plants)/float64(len(clusters[j])))
			}
		}
		if e.Kind != "" && !b.is(e.Kind) {
			continue
		}
		if p.random.Float64() < share {
			b.effects |= 1 << j
		}
	}
}

// at converts a time of the simulation to a calendar time.
func (p *play) at(t time.Duration) time.Time { return p.world.Start.Add(t) }

// The time between counts of the boxes while no row changes and nothing else is due: usually, and around the end of a
// soak.
const (
	quiet = 30 * time.Minute
	close = 5 * time.Minute
	long  = 2 * time.Hour
)

// ticks reports whether a tick at a minute could find something new: a changed row, a due check for silence, a
// failure that becomes bad, or an effect of time alone. All other ticks would have the same result as the last one.
func (p *play) ticks(minute time.Duration) bool {
	if p.changed || minute%quiet == 0 || p.wake[minute] {
		return true
	}
	policy := p.world.Policy
	if over := p.at(minute).Sub(p.rollout.StageSince) - policy.SoakAt(p.rollout.StagedPercent); over >= 0 && over < long && minute%close == 0 {
		return true
	}
	if p.last == nil || p.rollout.StagedPercent == 100 {
		return false
	}
	for _, percent := range cohort.Stages {
		start, reached := p.rollout.Reached(percent)
		if !reached {
			continue
		}
		if policy.Guard.Due(percent, start, p.last.Looks, p.at(minute)) {
			return true
		}
	}
	return false
}

// tick counts the boxes, lets the guard judge the count, and moves the rollout by its verdict.
func (p *play) tick() {
	p.changed = false
	c := census.NewCensus(p.rollout, p.at(p.now))
	for _, t := range p.traces {
		c.Add(t)
	}
	p.count(c)
	q := census.Ask(c, p.last, true)
	boxes := q.Boxes()
	sightings := make([]census.Sighting, len(boxes))
	for i, e := range boxes {
		b := &p.boxes[p.byID[e.EdgeID]]
		b.pace(p)
		s := census.Sighting{EdgeID: e.EdgeID, OrganizationID: e.OrganizationID, FactoryID: e.FactoryID, LastSeen: p.at(b.lastSeen(p.now))}
		if o := b.row.Counted(); o.RolloutID == p.rollout.ID {
			s.Offer = o
		}
		sightings[i] = s
	}
	p.last = q.Judge(sightings, nil, p.kinds)
	if m, moves := p.last.Move(p.world.Policy.OnHalt, c.NewFleet()); moves {
		p.move(m, rollout.Guard)
	}
}

// count adds the boxes that are registered by now.
func (p *play) count(c *census.Census) {
	for _, e := range p.entries {
		if !e.RegisteredAt.After(p.at(p.now)) {
			c.Add(e)
		}
	}
}

// kinds looks up all boxes, as a census does for a survey.
func (p *play) kinds() ([]guard.Kind, []guard.Worker) {
	c := census.KeepAll(p.rollout, p.at(p.now))
	p.count(c)
	boxes := c.Survey()
	for i := range boxes {
		b := &p.boxes[p.byID[boxes[i].EdgeID]]
		b.pace(p)
		boxes[i].Attributes, boxes[i].LastSeen = b.attributes, p.at(b.lastSeen(p.now))
		boxes[i].Health = p.says(b)
	}
	unwatched := time.Duration(0)
	if p.world.Bell {
		unwatched = 2 * heartbeat
	}
	return c.Groups.Kinds(boxes, unwatched), c.Groups.Workers(boxes)
}

func (p *play) result(seed int) result {
	r := result{Seed: seed, Outcome: "held", Stage: p.rollout.StagedPercent, Minutes: int(p.now / time.Minute)}
	if p.rollout.Status != rollout.Active {
		r.Outcome = string(p.rollout.Status)
	}
	if p.last != nil {
		r.Reason = string(p.last.Reason) + ": " + p.last.Sentence
	}
	return r
}

// A kind of event.
type kind uint8

const (
	polls     kind = iota
	installed      // an installation ends
	retries        // after a failure or a deferral
	dies
	failsLate
	fallsBack
	pinned   // by an operator, after it failed
	reimaged // by a technician
	wearsOut // whatever it runs
)

// An event is something that happens to a box.
type event struct {
	at     time.Duration
	box    int32
	kind   kind
	effect int8 // of the world's release, for the last two kinds
	// installs is the box's number of installations that the event belongs to.
	installs int
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].box < e[j].box
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) } //nolint:forcetypeassert // only events are pushed
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

func (p *play) schedule(box int32, k kind, at time.Duration) {
	if at != never {
		p.push(event{at: at, box: box, kind: k, installs: p.boxes[box].installs})
	}
}

func (p *play) push(e event) { heap.Push(&p.events, e) }

// until plays all events up to a time.
func (p *play) until(t time.Duration) {
	for len(p.events) > 0 && p.events[0].at <= t {
		e := heap.Pop(&p.events).(event) //nolint:forcetypeassert // only events are pushed
		p.now = e.at
		if b := &p.boxes[e.box]; e.at < b.dies && !b.cut {
			p.happen(e, b)
		}
	}
	p.now = t
}
