package edge

import (
	"context"
	"time"

	"wavegate/shared/fleet/release"
)

// Channels keeps the rows of release channels, and the releases that rollouts bring, in a container for a
// short time, so that the polls of a fleet cost no read of them. Whatever is done to a channel reaches
// every poll within keep. It is safe for concurrent use.
type Channels struct {
	keep     time.Duration
	rows     *cache[release.ChannelRow]
	releases *cache[release.Release]
}

// NewChannels makes an empty cache over a store. now must be a clock like time.Now, whose times carry
// both readings.
func NewChannels(store *release.Store, keep time.Duration, now func() time.Time) *Channels {
	clock := instants(now)
	return &Channels{keep: keep, rows: newCache(clock, store.Row), releases: newCache(clock, store.Release)}
}

// unknownKeep is how long a row is kept for a box that runs a version which the row does not know.
const unknownKeep = 250 * time.Millisecond

// Row returns a channel's row for a box that says what it has installed, or nothing; the row's Revision
// is 0 when there is no such channel.
//
// A box may have a version from another container, which read the row after this one did: by a row that
// does not know the version the box would be sent back. So the row is read again then, at most once in
// unknownKeep, however many boxes run what no row knows. A box that installs a version and polls again
// unknownKeep or more after it was told of it is sent back by no container, but for a version that the
// channel had before: the row knows it, since after a publication most boxes run one. For such a version it
// takes as long as rows are kept.
func (c *Channels) Row(ctx context.Context, edgeType, channel, installed string) (release.ChannelRow, error) {
	row, err := c.rows.get(ctx, edgeType, channel, c.keep)
	if err != nil || installed == "" || row.Knows(installed) {
		return row, err
	}
	return c.rows.get(ctx, edgeType, channel, min(c.keep, unknownKeep))
}

// Target returns a rollout's target with the address where its bytes were last said to be, on any
// channel: the one that the rollout started with may be dead by now.
func (c *Channels) Target(ctx context.Context, edgeType string, t release.RolloutTarget) (release.RolloutTarget, error) {
	known, err := c.Release(ctx, edgeType, t.Version)
	return known.At(t), err
}

// Release returns what a version stands for; its Version is empty when it was never published.
func (c *Channels) Release(ctx context.Context, edgeType, version string) (release.Release, error) {
	return c.releases.get(ctx, edgeType, version, c.keep)
}
