// Package census counts how far rollouts are and which boxes run what, from the boxes' reports. It counts rows and
// keeps no counters: a census is exact if nothing changes while it is taken. Otherwise it is wrong by at most the boxes
// that changed. There are no counters to repair.
//
// The rules here are pure. store.go keeps what was counted, count.go counts, and tick.go does so once a
// minute.
package census

import (
	"slices"
	"time"

	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/fleet/rollout"
)

// A StageCounts counts the boxes that a stage is the first to reach.
type StageCounts struct {
	Percent int `json:"percent"`
	guard.Counts
}

// A Census counts the boxes of a rollout's channel.
type Census struct {
	Stages []StageCounts
	// Codes counts the failed boxes by why they failed.
	Codes map[report.FailureCode]int
	// Factories counts the boxes that the rollout reaches, by factory; boxes without a factory are under the empty name.
	Factories map[string]guard.Counts
	// Awaited is a random sample of the boxes that are expected to poll, and the number of all of them.
	Awaited Sample
	// Groups is what only the guard needs; nil if the rollout has no policy.
	Groups *Groups

	// Young counts the boxes that were registered since the rollout started. The guard judges them apart, unless
	// NewFleet is set: no box of the channel was registered a day before the start.
	Young       int
	established bool
	// Pinned and Held count the boxes of the channel that are told another version, because somebody asked for it.
	Pinned, Held int
	// Restless counts the boxes that the guard does not count because nobody can tell what they say.
	Restless int
	// Frequent counts the boxes that call too often.
	Frequent int
	// Mislabelled counts the boxes that run the target and say so in other words, by the form for which they would be good.
	Mislabelled map[report.Form]int
	// Returning counts the boxes that had the target of a rollout that was returned and still run it, and Returned those
	// that run another version now. Pinned and held boxes stay, and are in neither.
	Returning, Returned int

	at         time.Time
	of         rollout.Rollout
	carried    release.Carried
	form       report.Form                  // of the edge type; only if boxes have labels
	traces     map[string]report.IndexEntry // of boxes that were not counted yet
	unreadable Unreadable                   // boxes that were not counted
	sighted    map[string]Sighting          // what was looked up, by box
}

// newFleet is how long before a rollout's start a box must have been registered on a channel, so that only boxes from
// before the start are evidence.
const newFleet = 24 * time.Hour

// NewFleet reports whether the channel is too new for boxes from before the start.
func (c *Census) NewFleet() bool { return !c.established && c.Young > 0 }

// NewCensus makes an empty census of a rollout's boxes at a time.
func NewCensus(of rollout.Rollout, at time.Time) *Census {
	c := &Census{of: of, carried: of.Carried(), at: at, Codes: map[report.FailureCode]int{}, Factories: map[string]guard.Counts{},
		Mislabelled: map[report.Form]int{}, traces: map[string]report.IndexEntry{}, sighted: map[string]Sighting{}}
	if of.Terms != nil {
		c.Groups = newGroups(of, at)
	}
	for _, percent := range cohort.Stages {
		c.Stages = append(c.Stages, StageCounts{Percent: percent})
	}
	return c
}

// Add counts one box of the channel. A box with an offer of another rollout counts as not told yet. The traces of a
// channel come before its boxes. A box that came back counts once: as it was if that speaks against the release, or if
// it was not told again.
func (c *Census) Add(e report.IndexEntry) {
	told := e.RolloutID == c.of.ID && e.RolloutID != ""
	t, known := c.traces[e.EdgeID]
	if c.of.ReturnedAt != nil && !e.Trace && (told || known) && !e.Aside(c.at) {
		switch {
		case e.Running == c.of.TargetVersion:
			c.Returning++
		case known && !told:
			c.Returned++
		}
	}
	switch {
	case e.Trace && told && (!known || outweighs(e, t)):
		c.traces[e.EdgeID] = e
	case e.Trace || known && (!told || t.Code.BlamesRelease()):
	default:
		delete(c.traces, e.EdgeID)
		c.add(e)
	}
}

// outweighs reports whether a box that left two traces counts as in the first one: the failure, or else what it did last.
func outweighs(e, other report.IndexEntry) bool {
	return !other.Code.BlamesRelease() && (e.Code.BlamesRelease() || e.Since.After(other.Since))
}

// settle counts the boxes that left a trace and did not come back.
func (c *Census) settle() {
	for id, e := range c.traces {
		delete(c.traces, id)
		c.add(e)
	}
}

func (c *Census) add(e report.IndexEntry) {
	percent, told := e.Stage, e.RolloutID == c.of.ID && e.RolloutID != ""
	if !told {
		percent = cohort.FirstStage(c.of.EdgeType, c.of.TargetVersion, e.EdgeID)
	}
	i := slices.Index(cohort.Stages, percent)
	if i < 0 {
		return // no rollout offered this
	}
	if !e.Trace && e.Aside(c.at) {
		switch {
		case e.Unproven: // the channel's count has them
		case e.PinnedUntil.IsZero():
			c.Held++
		default:
			c.Pinned++
		}
	}
	if e.Restless && !e.Trace {
		c.Restless++
	}
	if e.Frequent && !e.Trace {
		c.Frequent++
	}
	reached := told || c.carried.Reaches(c.of.EdgeType, e.EdgeID, e.OrganizationID, e.RegisteredAt, false)
	count(&c.Stages[i].Counts, e, told, reached)
	young := e.RegisteredAt.After(c.of.StartedAt)
	if young {
		c.Young++
	}
	c.established = c.established || !e.RegisteredAt.After(c.of.StartedAt.Add(-newFleet))
	switch {
	case c.Groups == nil:
	case young:
		c.Groups.young.add(e, i, told, reached)
	default:
		c.Groups.add(e, i, told, reached)
	}
	if !reached {
		return
	}
	factory := c.Factories[e.FactoryID]
	count(&factory, e, told, reached)
	c.Factories[e.FactoryID] = factory
	if !told {
		return
	}
	if e.Mislabelled != "" && e.State == report.Installed && !e.Trace {
		c.Mislabelled[e.Mislabelled]++
	}
	if e.State == report.Failed {
		c.Codes[e.Code]++
	}
	if !e.Trace && (report.Offer{State: e.State}).Awaited() {
		c.Awaited.Add(e)
	}
}

// count counts a box; told is set if its offer is the rollout's.
func count(n *guard.Counts, e report.IndexEntry, told, reached bool) {
	n.Expected++
	switch {
	case !reached:
	case !told:
		n.NotYetPolled++
	case e.State == report.Working:
		n.Working++
	case e.State == report.Deferred:
		n.Deferred++
	case e.State == report.Installed:
		n.Installed++
	case e.State == report.Failed:
		n.Failed++
	case e.State == report.Reverted:
		n.Reverted++
	default:
		n.Offered++
	}
}

// Merge adds what another census of the same rollout counted, of other boxes.
func (c *Census) Merge(other *Census) {
	other.settle()
	c.Pinned, c.Held = c.Pinned+other.Pinned, c.Held+other.Held
	c.Restless, c.Frequent = c.Restless+other.Restless, c.Frequent+other.Frequent
	c.Returning, c.Returned = c.Returning+other.Returning, c.Returned+other.Returned
	c.Young, c.established = c.Young+other.Young, c.established || other.established
	for i := range c.Stages {
		c.Stages[i].Counts = c.Stages[i].Plus(other.Stages[i].Counts)
	}
	c.Mislabelled = plus(c.Mislabelled, other.Mislabelled)
	for code, n := range other.Codes {
		c.Codes[code] += n
	}
	for factory, n := range other.Factories {
		c.Factories[factory] = c.Factories[factory].Plus(n)
	}
	c.Awaited.Merge(other.Awaited)
	if c.Groups != nil {
		c.Groups.merge(other.Groups)
	}
}

// mislabelled is how many boxes that run the target are mislabelled if their edge type has a form.
func (c *Census) mislabelled(form report.Form) int { return uncovered(c.Mislabelled, form) }

// uncovered is how many mislabelled boxes a form does not make good.
func uncovered(by map[report.Form]int, form report.Form) (n int) {
	for needs, boxes := range by {
		if !form.Covers(needs) {
			n += boxes
		}
	}
	return n
}

// plus adds counts of mislabelled boxes.
func plus(by, more map[report.Form]int) map[report.Form]int {
	if by == nil {
		by = map[report.Form]int{}
	}
	for form, n := range more {
		by[form] += n
	}
	return by
}

// Total adds up all stages.
func Total(stages []StageCounts) guard.Counts {
	var sum guard.Counts
	for _, s := range stages {
		sum = sum.Plus(s.Counts)
	}
	return sum
}
