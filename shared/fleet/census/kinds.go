package census

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"wavegate/shared/fleet/bell"
	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/fleet/rollout"
)

const (
	// mostSurveyed limits the boxes that a survey looks up. Of a larger fleet, half of them are boxes that the release has
	// reached, and half the others. All of them are asked for health numbers.
	mostSurveyed = 2 * bell.AskedSize
	// mostNames limits the names of attributes on a channel that a survey uses.
	mostNames = 64
)

// A Surveyed is a box that a survey looks up, with its attributes as of before it was told of the rollout.
type Surveyed struct {
	report.IndexEntry
	Attributes map[string]string
	LastSeen   time.Time
	Health     *report.Health // what it says about its work; nil: nothing

	stage              int
	told, bad, reached bool
	watched            bool // it polls often, even if it listens to a bell
}

// keep keeps a box for a survey.
func (g *Groups) keep(e report.IndexEntry, stage int, told, bad, reached bool) {
	if g.keeps {
		g.kept = append(g.kept, Surveyed{IndexEntry: e, stage: stage, told: told, bad: bad, reached: reached})
	}
}

// KeepAll makes a census that keeps its boxes for Survey.
func KeepAll(of rollout.Rollout, at time.Time) *Census {
	c := NewCensus(of, at)
	c.Groups.keeps, c.Groups.young.keeps = true, true
	return c
}

// Survey chooses the boxes that a survey looks up: all, or those with the smallest hashes.
func (c *Census) Survey() []Surveyed {
	c.settle()
	all := c.Groups.kept
	if !c.established {
		all = append(all, c.Groups.young.kept...)
	}
	slices.SortFunc(all, func(a, b Surveyed) int { return cmp.Or(cmp.Compare(a.Hash, b.Hash), cmp.Compare(a.EdgeID, b.EdgeID)) })
	sizes, groups := c.sizes(), map[bool]int{}
	var chosen []Surveyed
	for _, s := range all {
		s.watched = sizes.Watched(s.EdgeID, cohort.Stages[s.stage])
		if groups[s.reached]++; len(all) <= mostSurveyed || groups[s.reached] <= mostSurveyed/2 {
			chosen = append(chosen, s)
		}
	}
	return chosen
}

// kindsOf looks up the kinds of a channel's boxes.
func (s *Store) kindsOf(ctx context.Context, r rollout.Rollout, at time.Time) ([]guard.Kind, []guard.Worker, error) {
	parts, _, err := each(ctx, s.reports, release.Pair(r.EdgeType, r.Channel), func() *Census { return KeepAll(r, at) }, (*Census).Add)
	if err != nil {
		return nil, nil, err
	}
	sum := KeepAll(r, at)
	for _, part := range parts {
		sum.Merge(part)
	}
	boxes := sum.Survey()
	if err := s.attributes(ctx, r.ID, boxes, true); err != nil {
		return nil, nil, err
	}
	return sum.Groups.Kinds(boxes, 2*s.settings.Heartbeat), sum.Groups.Workers(boxes), nil
}

// attributes looks up the boxes' attributes and health numbers, and if sightings is set, when the boxes were last seen.
func (s *Store) attributes(ctx context.Context, rolloutID string, boxes []Surveyed, sightings bool) error {
	const some = 100
	inTime, cancel := context.WithTimeout(ctx, forSightings)
	defer cancel()
	group, reading := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for chunk := range slices.Chunk(boxes, some) {
		group.Go(func() error {
			ids := make([]string, len(chunk))
			for i, box := range chunk {
				ids[i] = cmp.Or(box.TraceID, box.EdgeID)
			}
			rows, err := s.reports.GetAll(reading, ids)
			if err != nil {
				return err
			}
			for i, id := range ids {
				row := rows[id]
				chunk[i].Health = row.Health
				if chunk[i].Attributes = row.AttributesBefore(rolloutID); row.Subject == "" || chunk[i].Trace || !sightings {
					continue
				}
				if at, err := s.seen(inTime, row.Subject); err == nil { // otherwise it is unknown
					chunk[i].LastSeen = at
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// Kinds counts boxes by each value of each attribute; those without the attribute have an empty one. An attribute of which all
// boxes have the same value is left out: they are no kind, but everybody, which the last one counts. A box is silent after
// SilentAfter, or unwatched if that is longer, in which a box that is not watched polls.
func (g *Groups) Kinds(boxes []Surveyed, unwatched time.Duration) []guard.Kind {
	names := namesOf(boxes)
	seen := g.silences(boxes, unwatched)
	several := slices.ContainsFunc(boxes, func(box Surveyed) bool { return box.OrganizationID != boxes[0].OrganizationID })
	kinds := map[[2]string]*tallied{}
	all := tallied{told: map[string]bool{}, bad: map[string]bool{}}
	for i, box := range boxes {
		all.add(box, seen[i])
		for _, name := range names {
			k := in(kinds, [2]string{name, valueOf(box, name)})
			if k.add(box, seen[i]); several {
				in(k.by, box.OrganizationID).add(box, seen[i])
			}
		}
	}
	list, values := []guard.Kind{}, map[string]int{}
	for _, key := range slices.SortedFunc(maps.Keys(kinds), byName) {
		k := kinds[key].sum()
		k.Name, k.Value = key[0], key[1]
		list, values[k.Name] = append(list, k), values[k.Name]+1
	}
	list = slices.DeleteFunc(list, func(k guard.Kind) bool { return values[k.Name] == 1 })
	return append(list, guard.Kind{Name: guard.OfAll, Share: all.Share})
}

// A tallied is a kind with the factories of its told and of its bad boxes, and what each organization contributes.
type tallied struct {
	guard.Kind
	told, bad map[string]bool
	by        map[string]*tallied
}

func in[K comparable](all map[K]*tallied, key K) *tallied {
	if all[key] == nil {
		all[key] = &tallied{told: map[string]bool{}, bad: map[string]bool{}, by: map[string]*tallied{}}
	}
	return all[key]
}

func (k *tallied) sum() guard.Kind {
	k.Factories, k.BadFactories = len(k.told), len(k.bad)
	for organization, part := range k.by {
		if k.By == nil {
			k.By = map[string]guard.Kind{}
		}
		k.By[organization] = part.sum()
	}
	return k.Kind
}

func (k *tallied) add(box Surveyed, seen sighted) {
	if box.told {
		k.Told++
		k.told[box.FactoryID] = true
	}
	if box.told && (box.bad || box.State.Decided()) {
		k.Decided++
	}
	if box.told && box.bad {
		k.Bad++
		k.bad[box.FactoryID] = true
	}
	switch {
	case seen == unseen:
	case !box.reached:
		k.Control = k.Control.Plus(single(seen == isSilent))
	default:
		k.Treated = k.Treated.Plus(single(seen == isSilent))
	}
}

// namesOf are the names of the boxes' attributes. If there are too many, each organization's most frequent name comes first,
// then each one's second, and so on: so no organization hides the kinds of the others behind names that it makes up.
func namesOf(boxes []Surveyed) []string {
	counts, own := map[string]int{}, map[string]map[string]int{}
	for _, box := range boxes {
		if own[box.OrganizationID] == nil {
			own[box.OrganizationID] = map[string]int{}
		}
		for name := range box.Attributes {
			if name != guard.OfFactory && name != guard.OfOrganization {
				counts[name]++
				own[box.OrganizationID][name]++
			}
		}
	}
	places := map[string]int{}
	for _, of := range own {
		for i, name := range mostFrequent(of) {
			if place, known := places[name]; !known || i < place {
				places[name] = i
			}
		}
	}
	names := mostFrequent(counts)
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(places[a], places[b]) })
	return append(names[:min(len(names), mostNames)], guard.OfFactory, guard.OfOrganization)
}

// mostFrequent orders names by their counts.
func mostFrequent(counts map[string]int) []string {
	return slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(counts[b]-counts[a], cmp.Compare(a, b)) })
}

func valueOf(box Surveyed, name string) string {
	switch name {
	case guard.OfFactory:
		return box.FactoryID
	case guard.OfOrganization:
		return box.OrganizationID
	}
	return box.Attributes[name]
}

// A sighted says what a survey knows about a box's silence.
type sighted int

const (
	unseen sighted = iota // not since the rollout began, or its factory is switched off: it is in no group
	isSeen
	isSilent
)

// silence says whether a box is silent. All boxes are judged in the same way, reached or not, watched or not: otherwise what is
// switched off for some hours, or since before the last stage, would count in one of the groups only.
func (g *Groups) silence(box Surveyed, unwatched time.Duration) sighted {
	after := max(g.policy.Guard.SilentAfter.Length(), unwatched)
	switch {
	case box.Trace || box.LastSeen.IsZero() || box.LastSeen.Before(g.of.StartedAt.Add(-unwatched)) || box.LastSeen.Before(g.resumed.Add(-after)):
		return unseen
	case g.at.Sub(box.LastSeen) >= after:
		return isSilent
	}
	return isSeen
}

// silences says for each box whether it is silent. No box of a factory in which most boxes are silent counts. One or two boxes
// do not show that their factory is switched off: otherwise no box that dies alone in its factory counts.
func (g *Groups) silences(boxes []Surveyed, unwatched time.Duration) []sighted {
	seen, factories := make([]sighted, len(boxes)), map[string]guard.Group{}
	for i, box := range boxes {
		if seen[i] = g.silence(box, unwatched); seen[i] != unseen && box.FactoryID != "" {
			factories[box.FactoryID] = factories[box.FactoryID].Plus(single(seen[i] == isSilent))
		}
	}
	for i, box := range boxes {
		if sum := factories[box.FactoryID]; sum.Boxes >= enoughDark && dark(sum.Silent, sum.Boxes) {
			seen[i] = unseen
		}
	}
	return seen
}
