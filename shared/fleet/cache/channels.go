package cache

import (
	"context"
	"time"

	"wavegate/shared/fleet/release"
)

// Channels caches the rows of release channels, and the releases that rollouts bring, in a container for a short time,
// so that polls do not read them each time. A change to a channel reaches every poll within keep. It is safe for
// concurrent use.
type Channels struct {
	keep     time.Duration
	rows     *Of[release.ChannelRow]
	releases *Of[release.Release]
}

// NewChannels makes an empty cache over a store. now must be a clock like time.Now, which reads the wall clock and the
// monotonic clock.
func NewChannels(store *release.Store, keep time.Duration, now func() time.Time) *Channels {
	return &Channels{keep: keep, rows: New(now, store.Row), releases: New(now, store.Release)}
}

// unknownKeep is how long a row is kept for a box that runs a version that is not in the row.
const unknownKeep = 250 * time.Millisecond

// Row returns a channel's row for a box that has installed a version, or did not say which. The row's Revision is 0 if
// there is no such channel.
//
// A box may have been told a version by another container, which read the row later than this one. With a row that does
// not know the version, the box would be sent back. So the row is read again, at most once in unknownKeep, no matter
// how many boxes run unknown versions. Therefore no container sends a box back if it polls again unknownKeep or more
// after it was told the version. The exception is a version that the channel had before: the row knows it, since most
// boxes run one after a publication. For such a version it takes as long as rows are kept.
func (c *Channels) Row(ctx context.Context, edgeType, channel, installed string) (release.ChannelRow, error) {
	row, err := c.rows.Get(ctx, edgeType, channel, c.keep)
	if err != nil || installed == "" || row.Knows(installed) {
		return row, err
	}
	return c.rows.Get(ctx, edgeType, channel, min(c.keep, unknownKeep))
}

// Target returns a rollout's target with the latest address that was published for its bytes on any channel: the
// address that the rollout started with may be dead by now.
func (c *Channels) Target(ctx context.Context, edgeType string, t release.RolloutTarget) (release.RolloutTarget, error) {
	known, err := c.Release(ctx, edgeType, t.Version)
	return known.At(t), err
}

// Release returns the release of a version; its Version is empty if it was never published.
func (c *Channels) Release(ctx context.Context, edgeType, version string) (release.Release, error) {
	return c.releases.Get(ctx, edgeType, version, c.keep)
}
