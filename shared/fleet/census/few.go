package census

import (
	"maps"
	"slices"
	"time"

	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/report"
)

// A fewBoxes counts the boxes of a fleet that is too small for tests, by factory and organization.
type fewBoxes struct {
	of          *Groups
	silentAfter time.Duration
	told        map[string]int // by organization
	harmed      []fewHarmed
	untold      map[string]guard.Group // by factory
}

type fewHarmed struct {
	factory, organization string
	silent                bool
}

// newFew begins a look at a small fleet, with the boxes that are gone and were bad. At the last stage there is nobody to
// compare with, so that silence must last longer.
func (g *Groups) newFew() *fewBoxes {
	f := &fewBoxes{of: g, silentAfter: g.policy.Guard.SilentAfter.Length(), told: map[string]int{}, untold: map[string]guard.Group{}}
	if g.of.StagedPercent == cohort.Stages[len(cohort.Stages)-1] {
		f.silentAfter = g.half()
	}
	for _, e := range g.gone {
		f.harm(e, false)
	}
	return f
}

func (f *fewBoxes) harm(e report.IndexEntry, silent bool) {
	f.told[e.OrganizationID]++
	f.harmed = append(f.harmed, fewHarmed{e.FactoryID, e.OrganizationID, silent})
}

// knows reports whether a box was seen since a time, and was not silent when the rollout was resumed.
func (f *fewBoxes) knows(seen, since time.Time) bool {
	return !seen.Before(since) && !seen.Before(f.of.resumed.Add(-f.silentAfter))
}

// treat adds a box of a stage that the release has reached.
func (f *fewBoxes) treat(b lookedUp, stage int) {
	e, told := b.IndexEntry, b.RolloutID == f.of.of.ID
	switch seen := b.seen.LastSeen; {
	case f.of.starts[stage].IsZero() || e.Restless || f.of.wasBad(e, stage):
	case told && e.Bad(f.of.at, f.of.decideWithin, f.of.soaks[stage]):
		f.harm(e, false)
	case !f.knows(seen, f.of.starts[stage]):
	case f.of.at.Sub(seen) >= f.silentAfter:
		f.harm(e, true)
	default:
		f.told[e.OrganizationID]++
	}
}

// control adds a box that the release did not reach, also if it is off since before the last stage.
func (f *fewBoxes) control(b lookedUp) {
	if seen := b.seen.LastSeen; f.knows(seen, f.of.of.StartedAt) {
		f.untold[b.FactoryID] = f.untold[b.FactoryID].Plus(single(f.of.at.Sub(seen) >= f.silentAfter))
	}
}

// look sums up. The boxes of one organization harm nobody else's rollout if the others' boxes contradict them.
func (f *fewBoxes) look() *guard.Few {
	l := f.sum()
	for _, organization := range slices.Sorted(maps.Keys(f.told)) {
		if l.RestsOn(f.sum(organization)) {
			l.Only = organization
		}
	}
	return &l
}

// sum sums up, without the told boxes of some organizations. Boxes without a factory count as one factory. Silent boxes of a
// factory are not harmed if those that the release did not reach are silent there, too: the factory is switched off.
func (f *fewBoxes) sum(without ...string) guard.Few {
	l := guard.Few{At: f.of.at}
	for organization, n := range f.told {
		if !slices.Contains(without, organization) {
			l.Told += n
		}
	}
	factories := map[string]bool{}
	for _, h := range f.harmed {
		if slices.Contains(without, h.organization) {
			continue
		}
		if !h.silent {
			l.Bad++
		}
		there := f.untold[h.factory]
		if h.silent && there.Boxes > 0 && there.Silent == there.Boxes {
			continue
		}
		l.Harmed++
		factories[h.factory] = true
		l.Beside = l.Beside || there.Boxes > there.Silent
	}
	l.Factories = len(factories)
	for _, g := range f.untold {
		l.Untold, l.Quiet = l.Untold+g.Boxes-g.Silent, l.Quiet+g.Silent
	}
	return l
}
