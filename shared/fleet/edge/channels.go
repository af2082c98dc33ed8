package edge

import (
	"context"
	"sync"
	"time"

	"wavegate/shared/fleet/release"
)

// Channels keeps the rows of release channels in a container for a short time, so that the polls of a
// fleet cost no read of them. What is read is read strongly consistent, and its age counts from the
// start of the read: a row that is served was the channel's no longer than keep before the poll. So
// whatever is done to a channel reaches every poll within keep. It is safe for concurrent use.
type Channels struct {
	read func(ctx context.Context, edgeType, channel string) (release.Row, error)
	now  func() instant
	keep time.Duration

	mu   sync.Mutex
	rows map[string]reading
}

// A reading is a row and the moment at which its read began.
type reading struct {
	row   release.Row
	began instant
}

// An instant is what both clocks of a machine say. A container is frozen between its calls: its
// monotonic clock may stand still meanwhile. The wall clock may be set back. Neither does both, so a
// row is old when either clock says so.
type instant struct {
	wall      time.Time
	monotonic time.Duration
}

// NewChannels makes an empty cache over a store. now must be a clock like time.Now, whose times carry
// both readings.
func NewChannels(store *release.Store, keep time.Duration, now func() time.Time) *Channels {
	start := now()
	return &Channels{read: store.Row, keep: keep, rows: map[string]reading{}, now: func() instant {
		t := now()
		return instant{wall: t.Round(0), monotonic: t.Sub(start)} // Round takes the monotonic reading out
	}}
}

// mostRows bounds the rows that a container keeps. Beyond it all are dropped: they are read anew every
// few seconds anyway.
const mostRows = 1024

// Row returns a channel's row; its Revision is 0 when there is no such channel.
func (c *Channels) Row(ctx context.Context, edgeType, channel string) (release.Row, error) {
	pair, began := release.Pair(edgeType, channel), c.now()
	c.mu.Lock()
	kept, ok := c.rows[pair]
	c.mu.Unlock()
	if ok && c.fresh(kept.began, began) {
		return kept.row, nil
	}
	row, err := c.read(ctx, edgeType, channel)
	if err != nil {
		// Nothing old is served instead: it may have been halted since.
		return release.Row{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.rows) >= mostRows {
		clear(c.rows)
	}
	c.rows[pair] = reading{row, began}
	return row, nil
}

// fresh tells whether a read that began then may be served now. A wall clock that went back says
// nothing about age, so such a reading is not.
func (c *Channels) fresh(then, now instant) bool {
	wall := now.wall.Sub(then.wall)
	return wall >= 0 && wall < c.keep && now.monotonic-then.monotonic < c.keep
}
