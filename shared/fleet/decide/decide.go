// Package decide says what a box is told to run, and why. The answers to polls, to DDI clients, to people who ask why, and lists
// of waiting boxes are words for its decision.
package decide

import (
	"cmp"
	"context"
	"time"

	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/edgetype"
	"wavegate/shared/fleet/plant"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/calendar"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
)

// A Box is a box's row, and what the box has at a time.
type Box struct {
	report.Row
	// Has is the version that the box says it has: the one that it runs, or that its DDI client has written to disk. Runs is
	// the one that it runs. Empty: it does not say.
	Has, Runs string
	// DDI is set if the box is told by DDI. It shadows the row's, which says so of the last poll.
	DDI bool
	At  time.Time
}

// Saying is a box that says in a poll what it runs; empty: it does not say.
func Saying(row report.Row, runs string, at time.Time) Box {
	return Box{Row: row, Has: runs, Runs: runs, At: at}
}

// Known is a box that still has what it said last. A DDI client says it between polls.
func Known(row report.Row, at time.Time) Box {
	return Box{Row: row, Has: row.Has(), Runs: row.Running, DDI: row.DDI, At: at}
}

// presumed is what the box has or, if it does not say, was told last. A waiting DDI box that does not say is told nothing.
func (b Box) presumed() string {
	if b.Has == "" && b.Told == "" && b.Offer != nil {
		return b.Offer.Version
	}
	return cmp.Or(b.Has, b.Told)
}

// A Decision is what a box is told now, and why.
type Decision struct {
	// RolloutTarget is the version that the box is told. While the box waits or is told nothing new, it is what the box has, and
	// may have only a version.
	release.RolloutTarget
	Reason Reason
	// Next is what the box is told once it has run this version, a stone, or once nothing keeps it from that; nil: this version
	// is the last one.
	Next *Decision
	// RolloutID is set for Rollout, and for Installed while the channel remembers the rollout.
	RolloutID string
	// ReturnedFrom is the rollout that brought the box what it runs, and that was returned.
	ReturnedFrom string
	// HeldAt is since when the box is held; only with Hold.
	HeldAt *time.Time

	Channel release.ChannelRow
	// Release is that of a version which a DDI box is told, or is not told because it lacks details.
	Release release.Release
	// Updates are those of the box's plant if it has a say, and Wait is for how long the box waits; only with Window, Pause,
	// OptOut and Group. Blocker is the box of the group for which it waits.
	Updates *calendar.Updates
	Wait    calendar.Wait
	Blocker Blocker
	// Turn must be written with what the box is told, so that no other box of its group is told at the same time; nil: the box
	// takes no turn.
	Turn []dynamo.TransactItem
}

// A Blocker is the box of a group that keeps another from being told a version.
type Blocker struct {
	EdgeID string
	// Silent is set if nobody hears from it. Seen is when it made its last call; zero: unknown. Until is when its group no
	// longer waits for it; zero: somebody must take it out of the group.
	Silent      bool
	Seen, Until time.Time
}

// Towards is the version that the box is told once it has run this one; empty: this is no stone.
func (d Decision) Towards() string {
	if d.Reason == Stone || d.Reason == RequiresUnknown {
		return d.Next.Version
	}
	return ""
}

// Target is the version that the box is told in the end.
func (d Decision) Target() string { return cmp.Or(d.Towards(), d.Version) }

// Waits reports whether the box is told what it has until its plant takes updates, or its group lets it.
func (d Decision) Waits() bool { return d.Source() == FromWaits }

// Polled is what the answer to a poll of the box notes of it.
func (d Decision) Polled(box report.Row) report.Polled {
	p := report.Polled{Told: d.Version, HeldAt: d.HeldAt, ReturnedFrom: d.ReturnedFrom, Waits: d.Waits(), Turn: d.Turn != nil}
	if d.Source() == FromRollout {
		p.RolloutID, p.Stage, p.Towards = d.RolloutID, cohort.FirstStage(box.EdgeType, d.Target(), box.EdgeID), d.Towards()
	}
	return p
}

// Missing is the refusal of a box whose stone is missing.
func (d Decision) Missing() error {
	return problem.New(problem.Unavailable, "Release %s, which %s requires, is missing. Publish it again.", d.Next.Version, d.Next.Next.Version)
}

// Sources are where a decision reads. There is one for a container, which keeps what it reads for a moment, and one for a page of
// boxes, or a single one, which reads everything once.
type Sources interface {
	// Row returns the row of a channel. One that was kept, and does not know what the box has, is read again; see cache.Channels.
	Row(ctx context.Context, edgeType, channel, has string) (release.ChannelRow, error)
	// Release returns the release of a version; its Version is empty if it was never published.
	Release(ctx context.Context, edgeType, version string) (release.Release, error)
	Plant(ctx context.Context, factoryID string) (plant.Plant, error)
	// Settings returns those of an edge type.
	Settings(ctx context.Context, edgeType string) (edgetype.Settings, error)
	// Blocker returns the box of the group that keeps a box from being told a version. If there is none, it returns the write
	// that takes the box's turn, which is not nil.
	Blocker(ctx context.Context, b Box, version string, p report.Patience) (blocker Blocker, turn []dynamo.TransactItem, err error)
}

// Decide decides what a box is told, in this order: what its pin, hold, channel and rollout tell it, and the stone before that
// (Resolve); whether anybody knows what it runs, if it comes from another server; whether its DDI client can take that; whether its plant takes updates; whether it is its turn in its group.
func Decide(ctx context.Context, b Box, from Sources) (Decision, error) {
	d, err := resolved(ctx, b, from)
	if err != nil || d.Version == "" || d.Reason == StoneMissing {
		return d, err
	}
	if b.Has == "" && b.Unproven() {
		return b.keeps(d, Imported, ""), nil
	}
	if b.DDI && d.Version != b.Has {
		if d.Release, err = from.Release(ctx, b.EdgeType, d.Version); err != nil {
			return d, err
		}
		if !d.Release.Sufficient() {
			return b.keeps(d, Undescribed, b.Has), nil
		}
	}
	if !b.asks(d) {
		return d, nil
	}
	of, err := from.Plant(ctx, b.FactoryID)
	if err != nil {
		return d, err
	}
	if d.Updates, err = b.mayOptOut(ctx, of.Updates, from); err != nil {
		return d, err
	}
	if d.Wait = d.Updates.Wait(passes(d), b.At); d.Wait.For == "" && b.takesTurn(d) {
		if d.Blocker, d.Turn, err = from.Blocker(ctx, b, d.Version, patience(d)); err != nil {
			return d, err
		}
		if d.Blocker.EdgeID != "" {
			d.Wait.For = calendar.ForGroup
		}
	}
	if d.Wait.For == "" {
		return d, nil
	}
	if b.DDI { // its client is not told again what it has
		return b.keeps(d, Reason(d.Wait.For), b.Has), nil
	}
	return b.keeps(d, Reason(d.Wait.For), b.presumed()), nil
}

// resolved is Resolve with the row of the box's channel. A pinned or held box runs a version that the row need not know, so the
// row is not read again for it.
func resolved(ctx context.Context, b Box, from Sources) (d Decision, err error) {
	find := func(version string) (release.Release, error) { return from.Release(ctx, b.EdgeType, version) }
	resolve := func(has string) error {
		row, err := from.Row(ctx, b.EdgeType, b.Row.Channel, has)
		if err == nil {
			d, err = Resolve(b, row, find)
		}
		return err
	}
	if b.Pin != nil || b.Hold != nil {
		if err := resolve(""); err != nil || d.Source() == FromPin || d.Source() == FromHold {
			return d, err
		}
	}
	return d, resolve(b.Has)
}

// keeps is the decision for a box that is told what it has, although it would be told another version.
func (b Box) keeps(next Decision, why Reason, has string) Decision {
	d := Decision{Reason: why, Next: &next, Channel: next.Channel, Release: next.Release, Updates: next.Updates, Wait: next.Wait, Blocker: next.Blocker}
	d.Version = has
	return d
}
