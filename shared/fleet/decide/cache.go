package decide

import (
	"context"
	"time"

	"wavegate/shared/fleet/cache"
	"wavegate/shared/fleet/edgetype"
	"wavegate/shared/fleet/plant"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/dynamo"
)

// A Cache is the Sources of a container. It is safe for concurrent use.
type Cache struct {
	*cache.Channels
	groups
	plants *cache.Of[plant.Plant]
	types  *cache.Of[edgetype.Settings]
	keep   time.Duration
}

// plantKeep is for how many times as long as a channel a plant is kept: with the default settings, for a minute.
const plantKeep = 30

// NewCache makes an empty Cache that keeps channels for a time. now must be a clock like time.Now; see cache.NewChannels.
func NewCache(db *dynamo.DB, keep time.Duration, shards report.Shards, seen report.LastSeen, now func() time.Time) *Cache {
	read := func(ctx context.Context, id, _ string) (plant.Plant, error) { return plant.Get(ctx, db, id) }
	settings := func(ctx context.Context, edgeType, _ string) (edgetype.Settings, error) {
		return edgetype.NewStore(db).Read(ctx, edgeType)
	}
	return &Cache{
		Channels: cache.NewChannels(release.NewStore(db), keep, now), groups: groups{report.NewStore(db, shards), seen},
		plants: cache.New(now, read), types: cache.New(now, settings), keep: plantKeep * keep,
	}
}

// Plant returns a plant.
func (c *Cache) Plant(ctx context.Context, factoryID string) (plant.Plant, error) {
	return c.plants.Get(ctx, factoryID, "", c.keep)
}

// Settings returns those of an edge type.
func (c *Cache) Settings(ctx context.Context, edgeType string) (edgetype.Settings, error) {
	return c.types.Get(ctx, edgeType, "", c.keep)
}

// groups reads what boxes of a group do. Nothing of it is kept.
type groups struct {
	reports *report.Store
	seen    report.LastSeen
}

// Blocker finds the box of a group that keeps another from being told a version; see Sources.
func (g groups) Blocker(ctx context.Context, b Box, version string, p report.Patience) (is Blocker, turn []dynamo.TransactItem, err error) {
	group, err := g.reports.Group(ctx, b.FactoryID, b.Group)
	if err != nil {
		return is, nil, err
	}
	members := group.Without(b.EdgeID).Members
	rows, err := g.reports.GetAll(ctx, members)
	if err != nil {
		return is, nil, err
	}
	for _, id := range members {
		row := rows[id]
		var seen time.Time
		if row.Subject != "" && row.Offer != nil && g.seen != nil {
			if seen, err = g.seen(ctx, row.Subject); err != nil {
				return is, nil, err
			}
		}
		if row.Blocks(version, p, seen, b.At) {
			if is.EdgeID = id; report.Silent(seen, b.At) {
				is.Silent, is.Seen, is.Until = true, seen, row.WaitedFor(version, seen)
			}
			return is, nil, nil
		}
	}
	return is, []dynamo.TransactItem{g.reports.GroupPart(group.With(b.EdgeID))}, nil
}
