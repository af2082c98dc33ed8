package polling

import (
	"context"

	"wavegate/shared/fleet/cache"
	"wavegate/shared/fleet/release"
)

// Tell resolves what a box is told, with the rows and releases that a container keeps. It returns the row, too.
//
// A pinned or held box runs a version that the row of its channel need not know. So the row is not read again for it.
func Tell(ctx context.Context, channels *cache.Channels, b Box) (r Resolution, row release.ChannelRow, published bool, err error) {
	find := func(version string) (release.Release, error) { return channels.Release(ctx, b.EdgeType, version) }
	resolve := func(installed string) error {
		if row, err = channels.Row(ctx, b.EdgeType, b.Channel, installed); err == nil {
			r, published, err = Resolve(b, row, find)
		}
		return err
	}
	if b.Pin != nil || b.Hold != nil {
		if err := resolve(""); err != nil || r.Source == FromPin || r.Source == FromHold {
			return r, row, published, err
		}
	}
	err = resolve(b.Installed)
	return r, row, published, err
}
