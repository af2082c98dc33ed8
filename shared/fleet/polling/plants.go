package polling

import (
	"cmp"
	"context"
	"time"

	"wavegate/shared/fleet/cache"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/plant"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/calendar"
	"wavegate/shared/platform/dynamo"
)

// Has is what the box runs or, if it does not say, was told last. A waiting DDI box that does not say is told nothing.
func (b Box) Has() string {
	if b.Installed == "" && b.Told == "" && b.Offer != nil {
		return b.Offer.Version
	}
	return cmp.Or(b.Installed, b.Told)
}

// asks reports whether the box's plant decides when it is told: it is told something new, not by a pin, and it is not its
// first version.
func (b Box) asks(r Resolution) bool {
	return b.FactoryID != "" && r.Source != FromPin && r.Version != b.Has() && b.Has() != ""
}

// passes is what a box's plant cannot keep waiting.
func passes(r Resolution, row release.ChannelRow) calendar.Haste {
	if r.Source == FromRollout {
		return row.Passes(r.RolloutID)
	}
	var haste calendar.Haste
	if r.Target() == row.CurrentVersion { // and not what a box keeps
		haste = row.Passes("")
	}
	haste.Urgent = haste.Urgent || r.ReturnedFrom != "" && row.ReturnedUrgently(r.ReturnedFrom)
	return haste
}

// Waits is for how long a box waits for its plant, before it is told something.
func Waits(b Box, r Resolution, row release.ChannelRow, u *calendar.Updates) calendar.Wait {
	if !b.asks(r) {
		return calendar.Wait{}
	}
	return u.Wait(passes(r, row), b.At)
}

// wait is what a box is told while it waits: what it has.
func (b Box) wait(w calendar.Wait, find Releases) (Resolution, error) {
	is, err := find(b.Has())
	r := Resolution{RolloutTarget: is.Target(), Source: FromWaits, Wait: w}
	r.Version = b.Has()
	return r, err
}

// Plants decides for the boxes of a container when they are told. It keeps their plants for a moment.
type Plants struct {
	plants  *cache.Of[plant.Plant]
	keep    time.Duration
	reports *report.Store
	seen    func(ctx context.Context, subject string) (time.Time, error)
}

// plantKeep is for how many times as long as a channel a plant is kept: with the default settings, for a minute.
const plantKeep = 30

// NewPlants makes an empty Plants.
func NewPlants(db *dynamo.DB, s Settings, now func() time.Time) *Plants {
	read := func(ctx context.Context, id, _ string) (plant.Plant, error) { return plant.Get(ctx, db, id) }
	return &Plants{plants: cache.New(now, read), keep: plantKeep * s.ChannelCache, reports: report.NewStore(db, s.Shards)}
}

// Seeing returns the plants that know when the subject of a box made its last call. Only groups ask for it.
func (p *Plants) Seeing(seen func(context.Context, string) (time.Time, error)) *Plants {
	p.seen = seen
	return p
}

// An Opening says whether a box's plant lets it be told something.
type Opening struct {
	Updates *calendar.Updates // of the plant, if the box asks
	Wait    calendar.Wait
	// Blocker is the box of the group for which it waits.
	Blocker string
	// Turn must be written with what the box is told, so that no other box of its group is told at the same time.
	Turn []dynamo.TransactItem
}

// Open finds whether a box is told something now.
func (p *Plants) Open(ctx context.Context, b Box, r Resolution, row release.ChannelRow) (o Opening, err error) {
	if !b.asks(r) {
		return o, nil
	}
	known, err := p.plants.Get(ctx, b.FactoryID, "", p.keep)
	if err != nil {
		return o, err
	}
	o.Updates, o.Wait = known.Updates, Waits(b, r, row, known.Updates)
	if o.Wait.For != "" || !TakesTurn(b, r, row) {
		return o, nil
	}
	return p.Turn(ctx, o, b, r, row)
}

// Turn is the opening of a plant for a box that takes turns: it waits if another box of its group blocks it.
func (p *Plants) Turn(ctx context.Context, o Opening, b Box, r Resolution, row release.ChannelRow) (Opening, error) {
	group, err := p.reports.Group(ctx, b.FactoryID, b.Group)
	if err != nil {
		return o, err
	}
	if o.Blocker, err = p.blocker(ctx, group.Without(b.EdgeID), b, r.Version, Patience(r, row)); err != nil {
		return o, err
	}
	if o.Blocker != "" {
		o.Wait.For = calendar.ForGroup
		return o, nil
	}
	o.Turn = []dynamo.TransactItem{p.reports.GroupPart(group.With(b.EdgeID))}
	return o, nil
}

// TakesTurn reports whether a box whose plant is open is told something only if no box of its group blocks it.
func TakesTurn(b Box, r Resolution, row release.ChannelRow) bool {
	return b.Group != "" && b.asks(r) && !passes(r, row).Urgent && !b.wasTold(r)
}

// How long a box must have run what it was told until the next one of its group is told. Below 100 percent nobody knows yet
// whether the target lasts, and a stage soaks for longer than that anyway.
const (
	proof      = 10 * time.Minute
	earlyProof = 4 * time.Hour
)

// Patience is for how long one box of a group keeps the others from being told. It may take as long to install as the
// rollout's policy says.
func Patience(r Resolution, row release.ChannelRow) report.Patience {
	p := report.Patience{Proof: proof, DecideWithin: guard.Default().Guard.DecideWithin.Length()}
	if r.Source == FromRollout && row.Rollout.StagedPercent < 100 {
		p.Proof = earlyProof
	}
	if r.Source == FromRollout && row.Rollout.DecideWithin > 0 {
		p.DecideWithin = time.Duration(row.Rollout.DecideWithin) * time.Second
	}
	return p
}

// wasTold reports whether the box has its turn for what it is told, and need not wait for its group again. One that waited
// since it was told, because its plant was closed, or that failed, has to take another turn.
func (b Box) wasTold(r Resolution) bool {
	o := b.Offer
	return b.TurnAt != nil && o != nil && o.Version == r.Version && b.Told == r.Version && (r.Source != FromRollout || o.RolloutID == r.RolloutID) &&
		o.State != report.Installed && o.State != report.Reverted
}

// blocker is a box of a group that keeps the others from being told a version; empty: none does.
func (p *Plants) blocker(ctx context.Context, g report.Group, b Box, version string, patience report.Patience) (string, error) {
	rows, err := p.reports.GetAll(ctx, g.Members)
	if err != nil {
		return "", err
	}
	for _, id := range g.Members {
		row := rows[id]
		var seen time.Time
		if row.Subject != "" && row.Offer != nil && p.seen != nil {
			if seen, err = p.seen(ctx, row.Subject); err != nil {
				return "", err
			}
		}
		if row.Blocks(version, patience, seen, b.At) {
			return id, nil
		}
	}
	return "", nil
}
