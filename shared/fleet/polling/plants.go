package polling

import (
	"cmp"
	"context"
	"time"

	"wavegate/shared/fleet/cache"
	"wavegate/shared/fleet/plant"
	"wavegate/shared/fleet/release"
	"wavegate/shared/platform/calendar"
	"wavegate/shared/platform/dynamo"
)

// has is what the box runs or, if it does not say, was told last.
func (b Box) has() string { return cmp.Or(b.Installed, b.Told) }

// asks reports whether the box's plant decides when it is told: it is told something new, not by a pin, and it is not its
// first version.
func (b Box) asks(r Resolution) bool {
	return b.FactoryID != "" && r.Source != FromPin && r.Version != b.has() && b.has() != ""
}

// Waits is for how long a box waits for its plant, before it is told something.
func Waits(b Box, r Resolution, row release.ChannelRow, u *calendar.Updates) calendar.Wait {
	if !b.asks(r) {
		return calendar.Wait{}
	}
	haste := row.Passes("")
	switch {
	case r.Source == FromRollout:
		haste = row.Passes(r.RolloutID)
	case r.ReturnedFrom != "" && row.ReturnedUrgently(r.ReturnedFrom):
		haste.Urgent = true
	}
	return u.Wait(haste, b.At)
}

// wait is what a box is told while it waits: what it has.
func (b Box) wait(w calendar.Wait, find Releases) (Resolution, error) {
	is, err := find(b.has())
	r := Resolution{RolloutTarget: is.Target(), Source: FromWaits, Wait: w}
	r.Version = b.has()
	return r, err
}

// Plants keeps the plants of a container's boxes for a moment.
type Plants struct {
	plants *cache.Of[plant.Plant]
	keep   time.Duration
}

// plantKeep is for how many times as long as a channel a plant is kept: with the default settings, for a minute.
const plantKeep = 30

// NewPlants makes an empty Plants.
func NewPlants(db *dynamo.DB, s Settings, now func() time.Time) *Plants {
	return &Plants{keep: plantKeep * s.ChannelCache, plants: cache.New(now, func(ctx context.Context, id, _ string) (plant.Plant, error) {
		return plant.Get(ctx, db, id)
	})}
}

// Of returns when the plant of a box takes updates; nil: always, or the box does not ask.
func (p *Plants) Of(ctx context.Context, b Box, r Resolution) (*calendar.Updates, error) {
	if !b.asks(r) {
		return nil, nil
	}
	known, err := p.plants.Get(ctx, b.FactoryID, "", p.keep)
	return known.Updates, err
}
