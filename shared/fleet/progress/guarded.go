package progress

import (
	"context"
	"slices"
	"time"

	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/report"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/dynamo"
)

// Guarded is what a census counts only for the guard.
type Guarded struct {
	// Unreached is a random sample of the boxes that the rollout does not reach yet.
	Unreached Sample

	policy  guard.Policy
	at      time.Time
	blaming [4]int // failed boxes whose code is about the release, by stage
	overdue [4]int // boxes that take longer than the policy allows, by stage
	by      map[string]guard.Organization
}

func newGuarded(p guard.Policy, at time.Time) *Guarded {
	return &Guarded{policy: p, at: at, by: map[string]guard.Organization{}}
}

// add counts a box of a stage.
func (g *Guarded) add(e report.Entry, stage int, told, reached bool) {
	switch {
	case !reached:
		g.Unreached.Add(e)
		return
	case !told:
		return
	}
	bad := (report.Offer{Stand: e.Stand, Code: e.Code}).Bad()
	if bad && e.Stand == report.Failed {
		g.blaming[stage]++
	}
	undecided := !e.Stand.Decided() && e.Stand != report.Deferred
	o := g.by[e.OrganizationID]
	switch {
	case undecided && g.at.Sub(e.Since) > g.policy.Guard.DecideWithin.Length():
		g.overdue[stage]++
	case undecided:
		o.Waiting++
	}
	o.Told++
	if e.Stand.Decided() {
		o.Decided++
	}
	if bad {
		o.Bad++
	}
	g.by[e.OrganizationID] = o
}

// merge adds what was counted of other boxes.
func (g *Guarded) merge(other *Guarded) {
	g.Unreached.Merge(other.Unreached)
	for i := range g.blaming {
		g.blaming[i] += other.blaming[i]
		g.overdue[i] += other.overdue[i]
	}
	for id, o := range other.by {
		sum := g.by[id]
		sum.Told += o.Told
		sum.Decided += o.Decided
		sum.Waiting += o.Waiting
		sum.Bad += o.Bad
		g.by[id] = sum
	}
}

// boxes are the counts of the stages as the guard takes them.
func (g *Guarded) boxes(stages []Stage) []guard.Boxes {
	var list []guard.Boxes
	for i, s := range stages {
		list = append(list, guard.Boxes{
			Percent: s.Percent, Expected: s.Expected, NotYetPolled: s.NotYetPolled, Offered: s.Offered, Working: s.Working, Deferred: s.Deferred,
			Installed: s.Installed, Failed: s.Failed, Reverted: s.Reverted, Blaming: g.blaming[i], Overdue: g.overdue[i],
		})
	}
	return list
}

// A Judgement is the guard's verdict on a count.
type Judgement struct {
	guard.Verdict
	// Revision is the revision of the rollout that was judged. PolicyRevision is its revision at the last change of
	// its policy.
	Revision       int64 `json:"revision"`
	PolicyRevision int64 `json:"policyRevision"`
}

// judge has the guard judge a count. treated is the sample of boxes with the release.
func (s *Store) judge(ctx context.Context, r rollout.Rollout, p Progress, g *Guarded, treated []Sighting, last *Progress) (*Judgement, error) {
	e := guard.Evidence{
		Active: r.Status == rollout.Active, Stage: r.StagedPercent, Since: since(r), AsOf: p.AsOf, CountedAt: p.StagedPercent,
		Interval: s.settings.GuardInterval, Stages: g.boxes(p.Stages), Approved: r.Approved(),
	}
	var untreated []Sighting
	err := dynamo.Together(ctx,
		func(ctx context.Context) (err error) {
			untreated, err = s.sightings(ctx, r.ID, g.Unreached.Chosen())
			return err
		},
		func(ctx context.Context) error {
			// A freeze that cannot be read must not keep the guard from halting. A raise reads it again.
			if frozen, err := s.freezes.Holding(ctx); err == nil && frozen != nil {
				e.Freeze = &guard.Freeze{Until: frozen.Until, Reason: frozen.Reason}
			}
			return ctx.Err()
		})
	if err != nil {
		return nil, err
	}
	e.Silence, e.Organizations = g.compare(e.Since, r, treated, untreated)
	if r.StagedPercent == cohort.Stages[len(cohort.Stages)-1] {
		e.Silence.Kept, e.Silence.Control = true, guard.Group{}
		if last != nil && last.Guard != nil {
			e.Silence.Control = last.Guard.Control
		}
	}
	return &Judgement{Verdict: guard.Decide(r.Guarding.Policy, e, p.AsOf), Revision: r.Revision, PolicyRevision: r.Guarding.Revision}, nil
}

// since is when the rollout reached its stage. For older rollouts it is their last change.
func since(r rollout.Rollout) time.Time {
	if r.StageSince != nil {
		return *r.StageSince
	}
	return r.UpdatedAt
}

// compare makes the two groups, as a whole and by organization.
func (g *Guarded) compare(since time.Time, r rollout.Rollout, treated, untreated []Sighting) (guard.Silence, []guard.Organization) {
	var s guard.Silence
	isTreated := func(b Sighting) bool { return b.Offer.RolloutID == r.ID && b.Offer.Awaited() }
	group := func(of *guard.Group, boxes []Sighting, belongs func(Sighting) bool, part func(*guard.Organization) *guard.Group) {
		for _, box := range boxes {
			if box.LastSeen.Before(since) || !belongs(box) {
				continue
			}
			silent := 0
			if g.at.Sub(box.LastSeen) >= g.policy.Guard.SilentAfter.Length() {
				silent = 1
			}
			of.Boxes, of.Silent = of.Boxes+1, of.Silent+silent
			if part == nil {
				continue // not told by organization
			}
			o := g.by[box.OrganizationID]
			in := part(&o)
			in.Boxes, in.Silent = in.Boxes+1, in.Silent+silent
			g.by[box.OrganizationID] = o
		}
	}
	// A box whose offer has changed since the count belongs to neither group.
	group(&s.Treated, treated, isTreated, func(o *guard.Organization) *guard.Group { return &o.Treated })
	group(&s.Present, treated, func(b Sighting) bool { return isTreated(b) && b.Offer.Stage == r.StagedPercent }, nil)
	group(&s.Control, untreated, func(b Sighting) bool { return b.Offer.RolloutID != r.ID },
		func(o *guard.Organization) *guard.Group { return &o.Control })
	var list []guard.Organization
	for id, o := range g.by {
		o.ID = id
		list = append(list, o)
	}
	slices.SortFunc(list, func(a, b guard.Organization) int { return b.Bad + b.Treated.Silent - a.Bad - a.Treated.Silent })
	return s, list
}
