package cache

import (
	"context"
	"time"

	"wavegate/shared/fleet/release"
)

// UnknownKeep is how long a row is kept for a box with an unknown version.
const UnknownKeep = unknownKeep

// ChannelsAt makes a cache whose two clocks a test sets.
func ChannelsAt(keep time.Duration, clocks func() (wall time.Time, monotonic time.Duration), read func(context.Context, string, string) (release.ChannelRow, error)) *Channels {
	return &Channels{keep: keep, rows: newAt(func() instant {
		wall, monotonic := clocks()
		return instant{wall, monotonic}
	}, read)}
}
