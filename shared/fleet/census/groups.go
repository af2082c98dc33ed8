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
	soaks        []time.Duration     // of the stages
	starts       []time.Time         // of the stages; zero: never reached
	counts       []guard.Counts      // of the stages
	labels       map[report.Form]int // boxes that run the target and are mislabelled
	by           shares
	retrying     []retrying // at each stage
	resumed      time.Time  // zero: never
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
	// Told is a sample of the boxes that were told the release, of young boxes only.
	Told Sample
	// young are the groups of boxes that were registered since the start; nil if they count like the others.
	young   *Groups
	isYoung bool
	// form says which labels are good.
	form report.Form
}

// Retrying counts boxes that failed so recently that they may recover, until a time.
type retrying struct {
	boxes int
	until time.Time
}

func (r retrying) plus(other retrying) retrying {
	if other.until.After(r.until) {
		r.until = other.until
	}
	r.boxes += other.boxes
	return r
}

func newGroups(r rollout.Rollout, at time.Time) *Groups {
	g := emptyGroups(r, at)
	g.young = emptyGroups(r, at)
	g.young.isYoung = true
	return g
}

func emptyGroups(r rollout.Rollout, at time.Time) *Groups {
	n := len(cohort.Stages)
	g := &Groups{
		Stages: make([]Sample, n), policy: r.Terms.Policy, at: at, starts: make([]time.Time, n), counts: make([]guard.Counts, n),
		decideWithin: r.Terms.Policy.Guard.DecideWithin.Length(), soaks: make([]time.Duration, n), by: shares{}, retrying: make([]retrying, n),
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
		count(&g.counts[stage], e, told, reached)
	}
	if !g.isYoung { // the others count at the stages that were reached, whatever each box knows
		reached = !g.starts[stage].IsZero()
	}
	switch {
	case e.Trace:
	case !reached:
		g.Unreached.Add(e)
	default:
		g.Stages[stage].Add(e)
	}
	now := e.Bad(g.at, g.decideWithin, g.soaks[stage])
	if !aside && !e.Restless {
		g.keep(e, stage, told && !bad, now, reached)
	}
	if !told || bad || aside || e.Restless {
		return
	}
	if g.isYoung && !e.Trace {
		g.Told.Add(e)
	}
	if e.Mislabelled != "" && e.State == report.Installed && !e.Trace {
		g.labels = plus(g.labels, map[report.Form]int{e.Mislabelled: 1})
	}
	one := guard.Share{Told: 1}
	if e.State.Decided() || now { // a box that fell back from a stone is told it again
		one.Decided = 1
	}
	if now {
		one.Bad = 1
	} else if e.State == report.Failed && e.Code.BlamesRelease() {
		g.retrying[stage] = g.retrying[stage].plus(retrying{1, e.Since.Add(g.decideWithin)})
	}
	if g.by.add(e, one, stage, together); now && e.Trace {
		g.gone = append(g.gone, e)
	}
}

// isAside reports whether a box was pinned or held before its stage began, or at any time if it was registered during the rollout, and
// still is: the release cannot reach it. A box that was pinned later stays in its group, as it does whatever else happens to it. The
// same is true of a restless box, told or not: what is restless since it has the release must not let the release pass.
func (g *Groups) isAside(e report.IndexEntry, stage int) bool {
	began := g.starts[stage]
	if began.IsZero() {
		began = g.of.StartedAt
	}
	if e.Restless {
		return !e.AsideSince.After(began)
	}
	told := e.RolloutID != "" && e.RolloutID == g.of.ID
	return !told && e.Aside(g.at) && (g.isYoung || !e.AsideSince.After(began))
}

// A lookedUp is a box that was looked up.
type lookedUp struct {
	report.IndexEntry
	seen Sighting
}

// present are the boxes of a sample that count, with when they were last seen.
func (g *Groups) present(boxes []report.IndexEntry, sightings []Sighting) (list []lookedUp) {
	for i, e := range boxes {
		stage := slices.Index(cohort.Stages, g.stageOf(e))
		if stage < 0 || !g.isAside(e, stage) && !g.optedOut(e) {
			list = append(list, lookedUp{e, sightings[i]})
		}
	}
	return list
}

// optedOut reports whether a box's plant does not want the release, which the box was not told. It is no evidence.
func (g *Groups) optedOut(e report.IndexEntry) bool {
	return e.RolloutID != g.of.ID && g.waits[e.FactoryID].For == calendar.ForOptOut
}

// watched are the boxes of a sample that poll often, so that they would be missed. If the rollout leaves out boxes, or many
// were registered since the start, a sample of the others is larger than what is watched of them; see bell.Sizes.
func (g *Groups) watched(boxes []lookedUp, sizes bell.Sizes) []lookedUp {
	return slices.DeleteFunc(boxes, func(b lookedUp) bool { return !sizes.Watched(b.EdgeID, g.stageOf(b.IndexEntry)) })
}

// stageOf is the stage that the hash gives a box.
func (g *Groups) stageOf(e report.IndexEntry) int {
	return cohort.FirstStage(g.of.EdgeType, g.of.TargetVersion, e.EdgeID)
}

// wasBad reports whether a box's failure was known when the rollout was resumed.
func (g *Groups) wasBad(e report.IndexEntry, stage int) bool {
	return !g.resumed.IsZero() && !e.Since.After(g.resumed) && e.Bad(g.resumed, 0, g.soaks[stage])
}

// merge adds what was counted of other boxes.
func (g *Groups) merge(other *Groups) {
	g.Unreached.Merge(other.Unreached)
	g.Told.Merge(other.Told)
	for i := range g.Stages {
		g.Stages[i].Merge(other.Stages[i])
		g.counts[i] = g.counts[i].Plus(other.counts[i])
		g.retrying[i] = g.retrying[i].plus(other.retrying[i])
	}
	g.left, g.excluded, g.aside = g.left+other.left, g.excluded+other.excluded, g.aside+other.aside
	g.kept, g.gone = append(g.kept, other.kept...), append(g.gone, other.gone...)
	g.labels = plus(g.labels, other.labels)
	if g.young != nil && other.young != nil {
		g.young.merge(other.young)
	}
	g.by.merge(other.by)
}

// half is half of the present soak, or SilentAfter if that is longer.
func (g *Groups) half() time.Duration {
	return max(g.policy.SoakAt(g.of.StagedPercent)/2, g.policy.Guard.SilentAfter.Length())
}

// one is a box that was last seen at a time. It is unknown if it was silent when the rollout was resumed.
func (g *Groups) one(seen time.Time) (one guard.Group, known bool) {
	silentAfter := g.policy.Guard.SilentAfter.Length()
	if one = single(g.at.Sub(seen) >= silentAfter); g.at.Sub(seen) >= g.half() {
		one.Away = 1
	}
	return one, !seen.Before(g.resumed.Add(-silentAfter))
}

// treat adds a box that the release has reached to the group of its stage if it was seen since the stage began, and to its places
// if it was seen since the rollout began, whatever happened to it since. If all is set, places are looked at, too.
func (g *Groups) treat(b lookedUp, stage int, all bool) {
	one, known := g.one(b.seen.LastSeen)
	inStage, inRollout := !b.seen.LastSeen.Before(g.starts[stage]), !b.seen.LastSeen.Before(g.of.StartedAt)
	switch {
	case !known:
		if inStage && !g.wasBad(b.IndexEntry, stage) { // add has counted those that were bad
			g.left++
		}
		return
	case inStage:
		g.by.add(b.IndexEntry, guard.Share{Treated: one}, stage)
	}
	if inRollout && all && !g.starts[stage].IsZero() {
		g.by.add(b.IndexEntry, guard.Share{Treated: one}, together)
	}
}

// control adds a box that the release has never reached to what each stage and the box's places are compared with.
func (g *Groups) control(b lookedUp) {
	one, known := g.one(b.seen.LastSeen)
	if !known {
		return
	}
	for stage, start := range g.starts {
		if !start.IsZero() && !b.seen.LastSeen.Before(start) {
			g.by.add(b.IndexEntry, guard.Share{Control: one}, stage)
		}
	}
	if !b.seen.LastSeen.Before(g.of.StartedAt) {
		g.by.add(b.IndexEntry, guard.Share{Control: one}, together)
	}
}

// taken is how a sample of a stage's boxes, or all of them, took the release; nil if it is unknown when any of them was last seen.
func (g *Groups) taken(stage int, boxes []lookedUp, all bool) *guard.Taken {
	t := guard.Taken{Boxes: len(boxes), All: all, Causes: map[guard.Cause]int{}}
	soak := g.soaks[stage]
	installed, seen, dormant := 0, 0, map[guard.Cause]int{}
	for _, b := range boxes {
		box := b.seen
		if box.Offer.State == report.Installed {
			installed++
			if !box.LastSeen.IsZero() {
				seen++
			}
		}
		cause, young := g.cause(box, soak)
		switch {
		case g.isDormant(b, stage):
			dormant[cause]++
			t.Dormant++
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
	if 2*t.Dormant <= t.Boxes || t.Boxes < fewInStage {
		t.Boxes -= t.Dormant
	} else {
		for cause, n := range dormant {
			t.Causes[cause] += n
		}
		t.Dormant = 0
	}
	if 2*t.Paused <= t.Boxes {
		t.Boxes -= t.Paused
	} else {
		t.Causes[guard.Waiting], t.Paused = t.Causes[guard.Waiting]+t.Paused, 0
	}
	t.Needed = g.policy.Guard.Needed(t)
	return &t
}

// A box is dormant if it was last seen longer before its stage began than dormantFor, or a soak if that is longer, and was not
// told since: it is in a store room, or was scrapped. It counts again once it calls, whatever follows. Of fewInStage boxes or more,
// at most half are set aside: if most are off, people should know.
const (
	dormantFor = 8 * 24 * time.Hour
	fewInStage = 10
)

func (g *Groups) isDormant(b lookedUp, stage int) bool {
	since, seen := g.starts[stage].Add(-max(dormantFor, g.soaks[stage])), b.seen.LastSeen
	if b.seen.Never {
		seen = b.RegisteredAt
	}
	return b.seen.Offer.RolloutID != g.of.ID && (b.seen.Never || !seen.IsZero()) && seen.Before(since)
}

// cause is why a box has not run the release for a soak; empty if it has. young is set if it still can in time.
func (g *Groups) cause(box Sighting, soak time.Duration) (cause guard.Cause, young bool) {
	o := box.Offer
	recent := g.at.Sub(o.Since) < g.decideWithin
	if o.RolloutID != g.of.ID {
		return g.untold(box), false
	}
	if box.Restless {
		return guard.Unrest, false
	}
	switch o.State {
	case report.Installed:
		switch {
		case !o.LivedOn(box.LastSeen, soak):
			return guard.Vanished, g.at.Sub(o.Since) < soak+g.policy.Guard.SilentAfter.Length()
		case !g.form.Covers(box.Mislabelled):
			return guard.Mislabelled, false
		}
		return "", false
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
	if g.at.Sub(box.LastSeen) >= g.policy.Guard.SilentAfter.Length() {
		return guard.Unheard, recent
	}
	return guard.NotInstalled, recent
}

// untold is why a box that the stage reaches was not told the release.
func (g *Groups) untold(box Sighting) guard.Cause {
	switch {
	case g.waits[box.FactoryID].For != "":
		return guard.Waiting
	case box.LastSeen.Before(g.of.StartedAt):
		return guard.NotPolled
	case g.at.Sub(box.LastSeen) >= g.policy.Guard.SilentAfter.Length():
		return guard.Gone
	}
	return guard.NotTold
}
