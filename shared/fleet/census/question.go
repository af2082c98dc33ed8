package census

import (
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
	census *Census
	*Groups
	last guard.Verdict // before
	// all is set if all groups are wanted, due if they are for new looks at silence, and small if for one at a small fleet.
	all, due, small bool
	// young is set if young boxes are looked up, and untold are those that the rollout does not tell yet.
	young  bool
	untold int
	soaked bool
	// known is what an earlier count looked up of the present stage; nil: it is looked up now.
	known *guard.Taken
}

// Ask returns what to look up for a census. last is the judgement before, or nil. looks is set if the guard may look at
// silence now; see guard.Bounds.Due. Most of the time there is nothing to look up.
func Ask(c *Census, last *Judgement, looks bool) Question {
	c.settle()
	g, untold := c.Groups, 0
	if g.young != nil {
		untold = g.young.Unreached.Boxes
	}
	if g.young != nil && !c.established {
		young := g.young
		g.young = nil
		g.merge(young)
	}
	q := Question{census: c, Groups: g, untold: untold}
	if last != nil {
		q.last = last.Verdict
	}
	for i, start := range g.starts {
		q.due = q.due || looks && g.Unreached.Boxes > 0 && g.policy.Guard.Due(cohort.Stages[i], start, q.last.Looks, g.at)
	}
	q.soaked = g.at.Sub(c.of.StageSince) >= g.policy.SoakAt(c.of.StagedPercent)
	e := q.evidence()
	q.small = looks && e.FewDue(g.policy)
	q.young = looks && g.young != nil && g.young.Told.Boxes > 0 && q.youngDue()
	q.all = q.due || q.small || q.soaked && e.Small(g.policy)
	return q
}

// Boxes lists the boxes to look up.
func (q Question) Boxes() (list []report.IndexEntry) {
	for i := range q.Stages {
		if q.wants(i) {
			list = append(list, q.Stages[i].Chosen()...)
		}
	}
	if q.all {
		list = append(list, q.Unreached.Chosen()...)
	}
	if q.young {
		list = append(append(list, q.Groups.young.Told.Chosen()...), q.Groups.young.Unreached.Chosen()...)
	}
	return list
}

// wants reports whether boxes of a stage are looked up.
func (q Question) wants(stage int) bool { return q.all || q.known == nil && q.ends(stage) }

// ends reports whether a stage is the present one, and has soaked.
func (q Question) ends(stage int) bool { return q.soaked && cohort.Stages[stage] == q.of.StagedPercent }

// reuse has the guard judge with what the last judgement looked up, and returns nil if that cannot be: if nothing or more
// is known, or if something would follow from it. A move and a survey are made only with boxes that were looked up now.
func (q Question) reuse(last *Judgement, freeze *guard.Freeze) *Judgement {
	if q.all || q.young || !q.soaked {
		return nil // more is looked up, or nothing
	}
	if last == nil || last.Taken == nil || q.evidence().Final() || !q.resumed.IsZero() {
		return nil
	}
	q.known = last.Taken
	if j := q.Judge(nil, freeze, nil); j.Action == guard.Hold && !j.Wants && !j.Steps {
		return j
	}
	return nil
}

// Judge has the guard judge the count. The sightings are those of Boxes, in the same order. kinds looks up the kinds of
// boxes if the guard wants a survey; it returns nil if it cannot. It is nil if the guard may not look now.
func (q Question) Judge(sightings []Sighting, freeze *guard.Freeze, kinds func() ([]guard.Kind, []guard.Worker)) *Judgement {
	few := q.newFew()
	taken, sizes, seen := q.known, q.census.sizes(), plants{}
	for i := range q.Stages {
		if !q.wants(i) {
			continue
		}
		chosen := q.Stages[i].Chosen()
		boxes := q.present(chosen, sightings)
		sightings = sightings[len(chosen):]
		if q.ends(i) {
			taken = q.taken(i, boxes, len(chosen) == q.Stages[i].Boxes)
		}
		for _, b := range q.watched(boxes, sizes) {
			q.treat(b, i, q.all)
			few.treat(b, i)
			seen.add(q.Groups, b)
		}
	}
	if q.all {
		chosen := q.Unreached.Chosen()
		for _, b := range q.watched(q.present(chosen, sightings), sizes) {
			q.control(b)
			few.control(b)
			seen.add(q.Groups, b)
		}
		sightings = sightings[len(chosen):]
	}
	e := q.evidence()
	if e.Young = q.last.Young; q.young {
		e.Young, e.YoungNew = q.lookAtYoung(sightings, sizes), true
	}
	e.Newcomers = guard.Newcomers{Untold: q.untold, Steps: len(q.of.YoungAt), Stopped: q.of.YoungStopped}
	if n := e.Newcomers.Steps; n > 0 {
		e.Newcomers.At = q.of.YoungAt[n-1]
	}
	e.Freeze, e.New, e.Taken, e.Places, e.Organizations = freeze, q.due, taken, q.by.places(), q.by.organizations()
	if q.due {
		e.Plants = seen.count()
		e.Plants.At = q.at
	} else if q.last.Plants != nil {
		e.Plants = *q.last.Plants
	}
	if q.small {
		e.Few = few.look()
	}
	v := guard.Decide(q.policy, e, q.at)
	if v.Wants && kinds != nil {
		if e.Kinds, e.Workers = kinds(); e.Kinds != nil {
			v = guard.Decide(q.policy, e, q.at)
		}
	}
	v.Over, v.Needs = v.Needs.Over(q.last.Needs, q.last.Over), v.Needs.After(q.last.Needs)
	return &Judgement{Verdict: v, Revision: q.of.Revision, PolicyRevision: q.of.Terms.Revision, Left: q.left, Excluded: q.excluded, Aside: q.aside}
}

// evidence makes evidence for the guard from what was counted so far.
func (q Question) evidence() guard.Evidence {
	r := q.of
	e := guard.Evidence{
		Active: r.Status == rollout.Active, Completed: watched(r, q.at), Stage: r.StagedPercent, Since: r.StageSince, AsOf: q.at, CountedAt: r.StagedPercent,
		Looks: q.last.Looks, Surveys: q.last.Surveys, Numbers: q.last.Health, Few: q.last.Few, Approved: r.Approved(), Resumed: q.resumed, Stopped: r.Stopped(),
		Mislabelled: uncovered(q.Groups.labels, q.form),
	}
	for i, counts := range q.counts {
		all := q.by.stage(i)
		e.Stages = append(e.Stages, guard.StageBoxes{Percent: cohort.Stages[i], Start: q.starts[i], Counts: counts, Bad: all.Bad,
			Retrying: q.retrying[i].boxes, RetryUntil: q.retrying[i].until, Treated: all.Treated, Control: all.Control})
		e.Vacant = e.Vacant || cohort.Stages[i] == r.StagedPercent && q.census.Stages[i].Expected == 0
	}
	return e
}
