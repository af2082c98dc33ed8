package census

import (
	"slices"
	"time"

	"wavegate/shared/fleet/bell"
	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/report"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/calendar"
)

// Groups holds what a census counts only for the guard.
type Groups struct {
	// Stages are random samples of the boxes of each stage that the target has reached, told or not. Unreached is one of
	// the boxes that it has never reached. Which boxes these are is decided by a hash alone.
	Stages    []Sample
	Unreached Sample

	policy       guard.Policy
	at           time.Time
	decideWithin time.Duration
	soaks        []time.Duration // of the stages
	starts       []time.Time     // of the stages; zero: never reached
	counts       []Counts        // of the stages
	bad          []int           // boxes that count against the release, by stage
	by           map[string][]guard.Share
	places       places
	resumed      time.Time // zero: never
	without      []string
	// left counts the boxes that were bad or silent when the rollout was resumed, and excluded those of organizations that
	// it leaves out. Both are in no group.
	left, excluded int
	// waits is for what the boxes of a plant wait that the rollout did not tell yet.
	waits map[string]calendar.Wait
	// gone are the traces of bad boxes.
	gone []report.IndexEntry
	// kept are all boxes of the groups, if a survey needs them.
	keeps bool
	kept  []Surveyed
	// aside counts the boxes that were pinned or held before their stage began. They are in no group either.
	aside int
	of    rollout.Rollout
	// young are the groups of boxes that were registered since the start; nil if they count like the others.
	young *Groups
}

func newGroups(r rollout.Rollout, at time.Time) *Groups {
	g := emptyGroups(r, at)
	g.young = emptyGroups(r, at)
	return g
}

func emptyGroups(r rollout.Rollout, at time.Time) *Groups {
	n := len(cohort.Stages)
	g := &Groups{
		Stages: make([]Sample, n), policy: r.Terms.Policy, at: at, starts: make([]time.Time, n), bad: make([]int, n), counts: make([]Counts, n),
		decideWithin: r.Terms.Policy.Guard.DecideWithin.Length(), soaks: make([]time.Duration, n), places: places{}, by: map[string][]guard.Share{},
	}
	if r.ResumedAt != nil {
		g.resumed = *r.ResumedAt
	}
	g.without, g.of = r.Without, r
	for i, percent := range cohort.Stages {
		g.soaks[i] = g.policy.SoakAt(percent)
		if start, ok := r.Reached(percent); ok {
			g.starts[i] = start
		}
	}
	return g
}

// add counts a box of a stage. A trace is in no sample: nobody knows whether the box still calls. So only a failure
// stays evidence.
func (g *Groups) add(e report.IndexEntry, stage int, told, reached bool) {
	if slices.Contains(g.without, e.OrganizationID) {
		g.excluded++
		return
	}
	bad, aside := told && g.wasBad(e, stage), g.isAside(e, stage)
	switch {
	case aside:
		g.aside++ // the samples hold it, since they must be those of the boxes that are watched; see present
	case bad: // it stays in the sample, so that a stage of such boxes is not clear
		g.left++
		g.counts[stage].Expected++
	case e.Restless:
		g.counts[stage].Expected++ // it says nothing, and has not taken the release either
	default:
		g.counts[stage].add(e, told, reached)
	}
	switch {
	case e.Trace:
	case g.starts[stage].IsZero():
		g.Unreached.Add(e)
	default:
		g.Stages[stage].Add(e)
	}
	now := e.Bad(g.at, g.decideWithin, g.soaks[stage])
	if !aside && !e.Restless {
		g.keep(e, stage, told && !bad, now)
	}
	if !told || bad || aside || e.Restless {
		return
	}
	p := g.part(e.OrganizationID, stage)
	p.Told++
	if e.State.Decided() || now { // a box that fell back from a stone is told it again
		p.Decided++
		g.places.each(e, func(p *guard.Place) { p.Decided++ })
	}
	if now {
		if e.Trace {
			g.gone = append(g.gone, e)
		}
		g.bad[stage]++
		p.Bad++
		g.places.each(e, func(p *guard.Place) { p.Bad++ })
	}
}

// isAside reports whether a box was pinned or held before its stage began, and still is: the release cannot reach it. A
// box that was pinned later stays in its group, as it does whatever else happens to it. The same is true of a restless box,
// told or not: what is restless since it has the release must not let the release pass.
func (g *Groups) isAside(e report.IndexEntry, stage int) bool {
	began := g.starts[stage]
	if began.IsZero() {
		began = g.of.StartedAt
	}
	if e.Restless {
		return !e.AsideSince.After(began)
	}
	told := e.RolloutID != "" && e.RolloutID == g.of.ID
	return !told && e.Aside(g.at) && !e.AsideSince.After(began)
}

// present are the boxes of a sample that count, with when they were last seen.
func (g *Groups) present(boxes []report.IndexEntry, sightings []Sighting) (list []report.IndexEntry, seen []Sighting) {
	return some(boxes, sightings, func(e report.IndexEntry) bool {
		stage := slices.Index(cohort.Stages, cohort.FirstStage(g.of.EdgeType, g.of.TargetVersion, e.EdgeID))
		return stage < 0 || !g.isAside(e, stage)
	})
}

// watched are the boxes of a sample that poll often, so that they would be missed. If the rollout leaves out boxes, or many
// were registered since the start, a sample of the others is larger than what is watched of them; see bell.Sizes.
func (g *Groups) watched(boxes []report.IndexEntry, sightings []Sighting, sizes bell.Sizes) (list []report.IndexEntry, seen []Sighting) {
	return some(boxes, sightings, func(e report.IndexEntry) bool {
		return sizes.Watched(e.EdgeID, cohort.FirstStage(g.of.EdgeType, g.of.TargetVersion, e.EdgeID))
	})
}

// some are the boxes for which a condition is true, with their sightings.
func some(boxes []report.IndexEntry, sightings []Sighting, is func(report.IndexEntry) bool) (list []report.IndexEntry, seen []Sighting) {
	list, seen = make([]report.IndexEntry, 0, len(boxes)), make([]Sighting, 0, len(boxes))
	for i, e := range boxes {
		if is(e) {
			list, seen = append(list, e), append(seen, sightings[i])
		}
	}
	return list, seen
}

// wasBad reports whether a box's failure was known when the rollout was resumed.
func (g *Groups) wasBad(e report.IndexEntry, stage int) bool {
	return !g.resumed.IsZero() && !e.Since.After(g.resumed) && e.Bad(g.resumed, 0, g.soaks[stage])
}

// part is what an organization contributes to a stage.
func (g *Groups) part(organization string, stage int) *guard.Share {
	parts, ok := g.by[organization]
	if !ok {
		parts = make([]guard.Share, len(cohort.Stages))
		g.by[organization] = parts
	}
	return &parts[stage]
}

// merge adds what was counted of other boxes.
func (g *Groups) merge(other *Groups) {
	g.Unreached.Merge(other.Unreached)
	for i := range g.Stages {
		g.Stages[i].Merge(other.Stages[i])
		g.bad[i] += other.bad[i]
		g.counts[i] = g.counts[i].plus(other.counts[i])
	}
	g.left, g.excluded, g.aside = g.left+other.left, g.excluded+other.excluded, g.aside+other.aside
	g.kept, g.gone = append(g.kept, other.kept...), append(g.gone, other.gone...)
	if g.young != nil && other.young != nil {
		g.young.merge(other.young)
	}
	for key, p := range other.places {
		sum := g.places.of(key)
		sum.Decided, sum.Bad = sum.Decided+p.Decided, sum.Bad+p.Bad
	}
	for id, parts := range other.by {
		for i, p := range parts {
			sum := g.part(id, i)
			sum.Told += p.Told
			sum.Bad += p.Bad
			sum.Decided += p.Decided
		}
	}
}

// group makes a group for the comparison of a stage, as a whole and by organization: the boxes that were seen since the
// stage began, whatever happened to them since.
func (g *Groups) group(boxes []report.IndexEntry, sightings []Sighting, stage int, half time.Duration, part func(*guard.Share) *guard.Group) (sum guard.Group) {
	silentAfter := g.policy.Guard.SilentAfter.Length()
	for i, box := range sightings {
		if box.LastSeen.Before(g.starts[stage]) {
			continue
		}
		if box.LastSeen.Before(g.resumed.Add(-silentAfter)) {
			continue // it was silent when the rollout was resumed
		}
		one := single(g.at.Sub(box.LastSeen) >= silentAfter)
		if g.at.Sub(box.LastSeen) >= half {
			one.Away = 1
		}
		sum = sum.Plus(one)
		in := part(g.part(boxes[i].OrganizationID, stage))
		*in = in.Plus(one)
	}
	return sum
}

// wereSilent counts the boxes of a stage that were silent when the rollout was resumed, and still are. add has counted those
// that were bad.
func (g *Groups) wereSilent(boxes []report.IndexEntry, sightings []Sighting, stage int) (n int) {
	for i, box := range sightings {
		if !g.wasBad(boxes[i], stage) && !box.LastSeen.Before(g.starts[stage]) && box.LastSeen.Before(g.resumed.Add(-g.policy.Guard.SilentAfter.Length())) {
			n++
		}
	}
	return n
}

// taken is how a sample of a stage's boxes, or all of them, took the release; nil if it is unknown when any of them was last seen.
func (g *Groups) taken(r rollout.Rollout, stage int, boxes []Sighting, all bool) *guard.Taken {
	t := guard.Taken{Boxes: len(boxes), All: all, Causes: map[guard.Cause]int{}}
	soak := g.soaks[stage]
	installed, seen := 0, 0
	for _, box := range boxes {
		if box.Offer.State == report.Installed {
			installed++
			if !box.LastSeen.IsZero() {
				seen++
			}
		}
		cause, young := g.cause(r, box, soak)
		switch {
		case cause == guard.Waiting && g.waits[box.FactoryID].For == calendar.ForPause:
			t.Paused++
		case young:
			t.Young++
		case cause == "":
			t.Good++
		default:
			t.Causes[cause]++
		}
	}
	if installed > 0 && seen == 0 {
		return nil
	}
	if 2*t.Paused <= t.Boxes {
		t.Boxes -= t.Paused
	} else {
		t.Causes[guard.Waiting], t.Paused = t.Causes[guard.Waiting]+t.Paused, 0
	}
	t.Needed = g.policy.Guard.Needed(t)
	return &t
}

// cause is why a box has not run the release for a soak; empty if it has. young is set if it still can in time.
func (g *Groups) cause(r rollout.Rollout, box Sighting, soak time.Duration) (cause guard.Cause, young bool) {
	o := box.Offer
	recent := g.at.Sub(o.Since) < g.decideWithin
	if o.RolloutID != r.ID {
		if g.waits[box.FactoryID].For != "" {
			return guard.Waiting, false
		}
		return guard.NotPolled, false
	}
	if box.Restless {
		return guard.Unrest, false
	}
	switch o.State {
	case report.Installed:
		if o.LivedOn(box.LastSeen, soak) {
			return "", false
		}
		return guard.Vanished, g.at.Sub(o.Since) < soak+g.policy.Guard.SilentAfter.Length()
	case report.Deferred:
		return guard.Deferred, false
	case report.Reverted:
		return guard.Bad, false
	case report.Failed:
		if o.Code.BlamesRelease() {
			return guard.Bad, recent
		}
		return guard.Cause(o.Code), recent
	}
	return guard.NotInstalled, recent
}
