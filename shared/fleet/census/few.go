package census

import (
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
	bad         int
	harmed      []fewHarmed
	untold      map[string]guard.Group // by factory
}

type fewHarmed struct {
	factory, organization string
	silent                bool
}

// newFew begins a look at a small fleet, with the boxes that are gone and were bad. At the last stage there is nobody to
// compare with, so that silence must last longer.
func (g *Groups) newFew(longer time.Duration, percent int) *fewBoxes {
	f := &fewBoxes{of: g, silentAfter: g.policy.Guard.SilentAfter.Length(), told: map[string]int{}, untold: map[string]guard.Group{}}
	if percent == cohort.Stages[len(cohort.Stages)-1] {
		f.silentAfter = longer
	}
	for _, e := range g.gone {
		f.harm(e, false)
	}
	return f
}

func (f *fewBoxes) harm(e report.IndexEntry, silent bool) {
	if f.told[e.OrganizationID]++; !silent {
		f.bad++
	}
	f.harmed = append(f.harmed, fewHarmed{e.FactoryID, e.OrganizationID, silent})
}

// knows reports whether a box was seen since a time, and was not silent when the rollout was resumed.
func (f *fewBoxes) knows(seen, since time.Time) bool {
	return !seen.Before(since) && !seen.Before(f.of.resumed.Add(-f.silentAfter))
}

// add adds the boxes of a stage that the release has reached.
func (f *fewBoxes) add(boxes []report.IndexEntry, sightings []Sighting, stage int) {
	if f == nil {
		return
	}
	for i, e := range boxes {
		told := e.RolloutID == f.of.of.ID
		switch seen := sightings[i].LastSeen; {
		case e.Restless || f.of.wasBad(e, stage):
		case told && e.Bad(f.of.at, f.of.decideWithin, f.of.soaks[stage]):
			f.harm(e, false)
		case !f.knows(seen, f.of.starts[stage]):
		case f.of.at.Sub(seen) >= f.silentAfter:
			f.harm(e, true)
		default:
			f.told[e.OrganizationID]++
		}
	}
}

// compare adds the boxes that the release did not reach, also if they are off since before the last stage.
func (f *fewBoxes) compare(boxes []report.IndexEntry, sightings []Sighting) {
	if f == nil {
		return
	}
	for i, e := range boxes {
		if seen := sightings[i].LastSeen; f.knows(seen, f.of.of.StartedAt) {
			f.untold[e.FactoryID] = f.untold[e.FactoryID].Plus(single(f.of.at.Sub(seen) >= f.silentAfter))
		}
	}
}

// look sums up. Boxes without a factory count as one factory. Silent boxes of a factory are not harmed if those that the
// release did not reach are silent there, too: the factory is switched off. The boxes of one organization alone harm nobody
// else's rollout if the others' boxes contradict them.
func (f *fewBoxes) look() *guard.Few {
	l := guard.Few{At: f.of.at, Bad: f.bad}
	for _, n := range f.told {
		l.Told += n
	}
	factories, organizations := map[string]bool{}, map[string]bool{}
	for _, h := range f.harmed {
		there := f.untold[h.factory]
		if h.silent && there.Boxes > 0 && there.Silent == there.Boxes {
			continue
		}
		l.Harmed++
		factories[h.factory], organizations[h.organization] = true, true
		l.Beside = l.Beside || there.Boxes > there.Silent
	}
	l.Factories = len(factories)
	for organization := range organizations {
		if len(organizations) == 1 && l.Told-f.told[organization] >= guard.OthersEnough {
			l.Only = organization
		}
	}
	for _, g := range f.untold {
		l.Untold, l.Quiet = l.Untold+g.Boxes-g.Silent, l.Quiet+g.Silent
	}
	return &l
}
