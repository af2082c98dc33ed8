package census

import (
	"slices"
	"time"

	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/report"
	"wavegate/shared/fleet/rollout"
)

// A Judgement is the guard's verdict on a count.
type Judgement struct {
	guard.Verdict
	// Revision is the revision of the rollout that was judged. PolicyRevision is its revision at the last change to
	// its policy.
	Revision       int64 `json:"revision"`
	PolicyRevision int64 `json:"policyRevision"`
	// Left counts the boxes that were bad or silent when the rollout was resumed, and Excluded those of organizations that
	// it leaves out. The guard does not use them.
	Left     int `json:"left,omitempty"`
	Excluded int `json:"excluded,omitempty"`
	// Aside counts the boxes that were pinned or held before their stage began. The guard does not use them either.
	Aside int `json:"aside,omitempty"`
}

// A Question lists samples of boxes. The guard has to know their last calls before it judges a count.
type Question struct {
	rollout rollout.Rollout
	census  *Census
	looks   []guard.Look   // the last ones
	surveys []guard.Survey // the last ones
	numbers []guard.NumberLook
	last    *guard.Few // the last look at a small fleet
	// groups is set if all groups are wanted, due if they are for new looks at silence, and few if for one at a small fleet.
	groups, due, few bool
	soaked           bool
	// taken is what an earlier count looked up of the present stage; nil: it is looked up now.
	taken *guard.Taken
}

// Ask returns what to look up for a census. last is the judgement before, or nil. looks is set if the guard may look at
// silence now; see guard.Bounds.Due. Most of the time there is nothing to look up.
func Ask(c *Census, last *Judgement, looks bool) Question {
	c.settle()
	g := c.Groups
	if g.young != nil && !c.established {
		young := g.young
		g.young = nil
		g.merge(young)
	}
	q := Question{rollout: c.of, census: c}
	if last != nil {
		q.looks, q.surveys, q.numbers, q.last = last.Looks, last.Surveys, last.Health, last.Few
	}
	for i, start := range g.starts {
		q.due = q.due || looks && g.Unreached.Boxes > 0 && g.policy.Guard.Due(start, lastLook(last, cohort.Stages[i]), g.at)
	}
	q.soaked = g.at.Sub(c.of.StageSince) >= g.policy.SoakAt(c.of.StagedPercent)
	e := q.evidence()
	q.few = looks && e.FewDue(g.policy)
	q.groups = q.due || q.few || q.soaked && e.Small(g.policy)
	return q
}

// lastLook returns the last look at a stage; empty if there was none.
func lastLook(last *Judgement, percent int) guard.Look {
	if last != nil {
		for _, l := range last.Looks {
			if l.Percent == percent {
				return l
			}
		}
	}
	return guard.Look{}
}

// Boxes lists the boxes to look up.
func (q Question) Boxes() []report.IndexEntry {
	var list []report.IndexEntry
	for i := range q.census.Groups.Stages {
		if q.wants(i) {
			list = append(list, q.census.Groups.Stages[i].Chosen()...)
		}
	}
	if q.groups {
		list = append(list, q.census.Groups.Unreached.Chosen()...)
	}
	return list
}

// wants reports whether boxes of a stage are looked up.
func (q Question) wants(stage int) bool {
	return q.groups || q.soaked && q.taken == nil && cohort.Stages[stage] == q.rollout.StagedPercent
}

// reuse has the guard judge with what the last judgement looked up, and returns nil if that cannot be: if nothing or more
// is known, or if something would follow from it. A move and a survey are made only with boxes that were looked up now.
func (q Question) reuse(last *Judgement, freeze *guard.Freeze) *Judgement {
	if q.groups || !q.soaked {
		return nil // more is looked up, or nothing
	}
	if last == nil || last.Taken == nil || q.evidence().Final() || !q.census.Groups.resumed.IsZero() {
		return nil
	}
	q.taken = last.Taken
	if j := q.Judge(nil, freeze, nil); j.Action == guard.Hold && !j.Wants {
		return j
	}
	return nil
}

// Judge has the guard judge the count. The sightings are those of Boxes, in the same order. kinds looks up the kinds of
// boxes if the guard wants a survey; it returns nil if it cannot. It is nil if the guard may not look now.
func (q Question) Judge(sightings []Sighting, freeze *guard.Freeze, kinds func() ([]guard.Kind, []guard.Worker)) *Judgement {
	g, r := q.census.Groups, q.rollout
	e := q.evidence()
	e.Freeze, e.New = freeze, q.due
	var few *fewBoxes
	if q.few {
		few = g.newFew(max(g.policy.Guard.SilentAfter.Length(), q.half()), r.StagedPercent)
	}
	sizes := q.census.sizes()
	for i := range g.Stages {
		if !q.wants(i) {
			continue
		}
		boxes := g.Stages[i].Chosen()
		of, all := sightings[:len(boxes)], len(boxes) == g.Stages[i].Boxes
		sightings = sightings[len(boxes):]
		boxes, of = g.present(boxes, of)
		if q.soaked && cohort.Stages[i] == r.StagedPercent {
			e.Taken = g.taken(r, i, of, all)
		}
		boxes, of = g.watched(boxes, of, sizes)
		g.left += g.wereSilent(boxes, of, i)
		e.Stages[i].Treated = g.group(boxes, of, i, q.half(), func(p *guard.Share) *guard.Group { return &p.Treated })
		if q.groups && !g.starts[i].IsZero() {
			g.look(boxes, of, func(p *guard.Place) *guard.Group { return &p.Treated })
			few.add(boxes, of, i)
		}
	}
	if q.groups {
		unreached, sightings := g.present(g.Unreached.Chosen(), sightings)
		unreached, sightings = g.watched(unreached, sightings, sizes)
		few.compare(unreached, sightings)
		g.look(unreached, sightings, func(p *guard.Place) *guard.Group { return &p.Control })
		for i := range g.Stages {
			if !g.starts[i].IsZero() {
				e.Stages[i].Control = g.group(unreached, sightings, i, q.half(), func(p *guard.Share) *guard.Group { return &p.Control })
			}
		}
	}
	if few != nil {
		e.Few = few.look()
	}
	if e.Taken == nil {
		e.Taken = q.taken
	}
	e.Places = g.places.list()
	for id, parts := range g.by {
		e.Organizations = append(e.Organizations, guard.Organization{ID: id, Parts: parts})
	}
	slices.SortFunc(e.Organizations, func(a, b guard.Organization) int { return weight(b) - weight(a) })
	v := guard.Decide(g.policy, e, g.at)
	if v.Wants && kinds != nil {
		if e.Kinds, e.Workers = kinds(); e.Kinds != nil {
			v = guard.Decide(g.policy, e, g.at)
		}
	}
	return &Judgement{Verdict: v, Revision: r.Revision, PolicyRevision: r.Terms.Revision, Left: g.left, Excluded: g.excluded, Aside: g.aside}
}

// weight is how many bad and silent boxes an organization contributes.
func weight(o guard.Organization) (n int) {
	for _, p := range o.Parts {
		n += p.Bad + p.Treated.Silent
	}
	return n
}

// evidence makes evidence for the guard from the census.
func (q Question) evidence() guard.Evidence {
	r, g := q.rollout, q.census.Groups
	e := guard.Evidence{
		Active: r.Status == rollout.Active, Completed: watched(r, g.at), Stage: r.StagedPercent, Since: r.StageSince, AsOf: g.at, CountedAt: r.StagedPercent,
		Looks: q.looks, Surveys: q.surveys, Numbers: q.numbers, Approved: r.Approved(), Resumed: g.resumed, Stopped: r.Stopped(),
		Few: q.last,
	}
	for i, s := range g.counts {
		e.Stages = append(e.Stages, guard.StageBoxes{
			Percent: cohort.Stages[i], Start: g.starts[i], Expected: s.Expected, NotYetPolled: s.NotYetPolled, Offered: s.Offered, Working: s.Working,
			Deferred: s.Deferred, Installed: s.Installed, Failed: s.Failed, Reverted: s.Reverted, Bad: g.bad[i],
		})
		e.Vacant = e.Vacant || cohort.Stages[i] == r.StagedPercent && q.census.Stages[i].Expected == 0
	}
	return e
}

// half is half of the present soak, or SilentAfter if that is longer.
func (q Question) half() time.Duration {
	p := q.census.Groups.policy
	return max(p.SoakAt(q.rollout.StagedPercent)/2, p.Guard.SilentAfter.Length())
}
