package main

import (
	"time"

	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/decide"
	"wavegate/shared/fleet/report"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/calendar"
	"wavegate/shared/trail/audit"
)

// soon is how long a box of a world with returns may take from its opening until it runs the old version again.
const soon = 15 * time.Minute

// A kept is what the plants' words came to.
type kept struct {
	Asked    int `json:"asked"`    // boxes that waited
	Outside  int `json:"outside"`  // times that a box was told something while its plant was closed
	Together int `json:"together"` // times that a box went down because of the release while another of its group was
	Late     int `json:"late"`     // boxes that were not told in their first window
}

// A wayBack is what a return came to. Boxes that answer ran the target at the return, are alive, and their plants stay switched
// on from when they are on and open until the boxes must be back.
type wayBack struct {
	Ran    int `json:"ran"` // boxes that ran the target
	Answer int `json:"answer"`
	InTime int `json:"inTime"` // of those that answer: they ran the old version again within 15 minutes of their opening
	Told   int `json:"told"`   // untold boxes that were told the target after the return
}

// waits makes a box that waits poll again when its plant opens.
func (p *play) waits(i int32, b *box, d decide.Decision) {
	would := d
	if d.Waits() {
		would = *d.Next
	}
	if would.Target() == target && b.askedAt == never {
		b.askedAt = p.now
	}
	if !d.Waits() {
		if d.Version != p.runs(b) && !p.sites[b.plant].open(p.at(p.now), p.haste()) {
			p.kept.Outside++
		}
		return
	}
	if !b.waited {
		b.waited, p.kept.Asked = true, p.kept.Asked+1
	}
	next := p.opens(b, d.Wait)
	if d.Reason == decide.Group {
		next, b.blocked = b.nextPoll(p.now+time.Second), true
	}
	p.schedule(i, polls, next)
}

// haste is what the release, or its return, may pass by, by the world's own words.
func (p *play) haste() calendar.Haste {
	h := calendar.Haste{Urgent: p.rollout.Urgent}
	if p.rollout.ReturnedAt == nil {
		h.Deadline = p.rollout.Until(p.world.Start)
	}
	return h
}

// opens is when a waiting box learns that its plant is open: at a regular poll, or at its own time if that is earlier. All
// polls before would change nothing.
func (p *play) opens(b *box, w calendar.Wait) time.Duration {
	b.pace(p)
	if w.Opens.IsZero() {
		return b.nextPoll(p.now + 24*time.Hour)
	}
	far := time.Duration(1 << 62) // longer than any interval: the box's own time
	own := p.now + w.Until(far, report.Place(b.edge.EdgeID), p.at(p.now)).Truncate(time.Second) + time.Second
	at := min(b.nextPoll(w.Opens.Sub(p.world.Start)), own)
	if b.dark.lit(at) != at {
		at = b.nextPoll(at)
	}
	return b.ifAlive(at)
}

// goesBack makes a box install the old version again that it is told after a return.
func (p *play) goesBack(i int32, b *box, told string) {
	if told == oldVersion && b.runsTarget && !b.busy && p.rollout.ReturnedAt != nil {
		b.installing = oldVersion
		p.install(i, b)
	}
}

// back ends the installation of the old version.
func (p *play) back(i int32, b *box) {
	b.busy, b.runsTarget, b.backAt = false, false, p.now
	b.installs++ // nothing of the target happens to it any more
	p.schedule(i, polls, p.again(b))
}

// people moves the rollout of a world with a return.
func (p *play) people() {
	back := p.world.Return
	if back == nil {
		return
	}
	if p.now == 0 {
		for _, percent := range cohort.Stages[1:] {
			if percent <= back.Stage {
				p.move(rollout.Move{StagedPercent: &percent}, person)
			}
		}
	}
	if back.Again > 0 && p.now == back.After+back.Again {
		p.world.Policy = back.Policy.Polled(max(p.world.ActivePoll, p.world.IdlePoll))
		p.start("again")
		for i := range p.boxes {
			p.schedule(int32(i), polls, p.again(&p.boxes[i]))
		}
	}
	if p.now != back.After {
		return
	}
	p.move(rollout.Move{Status: rollout.Halted, Return: true, Urgent: back.Urgent}, person)
	for i := range p.boxes {
		b := &p.boxes[i]
		b.ran, b.untold = b.runsTarget, !b.told
	}
}

var person = audit.Person{UserID: "starter"}

// move moves the rollout and its channel's row like rollout.Store.
func (p *play) move(m rollout.Move, by audit.Person) {
	at := p.at(p.now)
	next, event, err := p.rollout.After(m, rollout.Moment{By: by, At: at})
	if err != nil || event == "" {
		return
	}
	was, carried := p.rollout.StagedPercent, next.Carried()
	p.rollout = next
	is, _ := p.world.released(target)
	switch {
	case next.Adopted:
		p.channel = p.channel.Adopt(carried, is, at)
	case m.Return:
		p.channel = p.channel.Return(next.ID, next.TargetVersion, &carried, next.Urgent, at)
	default:
		p.channel.Rollout = &carried
	}
	for i := range p.boxes {
		b := &p.boxes[i]
		if stage := b.stage(); p.world.Bell || m.Status != "" && b.told || stage > was && stage <= next.StagedPercent || b.born > 0 {
			p.schedule(int32(i), polls, p.rings(b))
		}
	}
}

// answers reports whether a box is alive, and its plant switched on, for a time.
func (b *box) answers(from, to time.Duration) bool {
	for _, x := range b.dark {
		if x.from <= to && x.to > from {
			return false
		}
	}
	return b.dies > to
}

// judge counts the boxes that were late, and those that went back.
func (p *play) judge(ended time.Duration) (k kept, w wayBack) {
	k = p.kept
	h := p.haste()
	h.Urgent = p.world.Urgent
	if at := p.rollout.StoppedAt; at != nil {
		ended = min(ended, at.Sub(p.world.Start))
	}
	for i := range p.boxes {
		b := &p.boxes[i]
		if p.world.Updates != nil && p.tooLate(b, h, ended) {
			k.Late++
		}
		if p.rollout.ReturnedAt != nil {
			p.wentBack(b, &w)
		}
	}
	return k, w
}

// longestSpread is the tenth of a day, in which the boxes of a plant come one after another.
const longestSpread = 24 * time.Hour / 10

// tooLate reports whether a box was not told in the first window after it could have been: at its first poll in which the rollout
// reached it.
func (p *play) tooLate(b *box, h calendar.Haste, ended time.Duration) bool {
	if b.askedAt == never || b.edge.Pin != nil || b.blocked {
		return false
	}
	every := max(p.world.ActivePoll, p.world.IdlePoll)
	if p.world.Bell {
		every = heartbeat
	}
	opens, ok := p.sites[b.plant].first(p.at(b.askedAt), h)
	from := opens.Sub(p.world.Start)
	due := from + min(every, longestSpread) + 2*time.Second
	return ok && due < ended && b.answers(from, due) && b.toldAt > due
}

func (p *play) wentBack(b *box, w *wayBack) {
	if b.untold && b.told {
		w.Told++
	}
	if !b.ran {
		return
	}
	w.Ran++
	opens, ok := p.reaches(b, *p.rollout.ReturnedAt)
	due := opens + soon
	if !ok || !b.answers(opens, due) {
		return
	}
	w.Answer++
	if b.backAt <= due {
		w.InTime++
	}
}

// reaches is when a box can be sent back: its plant is switched on, and open.
func (p *play) reaches(b *box, from time.Time) (time.Duration, bool) {
	for {
		opens, ok := p.sites[b.plant].first(from, p.haste())
		at := opens.Sub(p.world.Start)
		lit := b.dark.lit(at)
		if !ok || lit == at {
			return at, ok
		}
		from = p.at(lit)
	}
}
