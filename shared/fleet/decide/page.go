package decide

import (
	"context"

	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/edgetype"
	"wavegate/shared/fleet/plant"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/calendar"
	"wavegate/shared/platform/dynamo"
)

// A Page is the Sources of a page of boxes, or of a single one. It reads each channel, release and plant once, as it is now.
type Page struct {
	groups
	db       *dynamo.DB
	releases *release.Store
	rows     map[string]release.ChannelRow
	plants   map[string]plant.Plant
	known    map[[2]string]release.Release
	asides   int
}

// mostAsides limits the reads that one page makes for single boxes: releases that the rows of channels do not have, and
// what groups do.
const (
	mostAsides = 60
	ofGroup    = 4 // reads for a box of a group
)

// NewPage makes a Page.
func NewPage(db *dynamo.DB, seen report.LastSeen) *Page {
	return &Page{
		groups: groups{report.NewStore(db, 0), seen}, db: db, releases: release.NewStore(db),
		rows: map[string]release.ChannelRow{}, plants: map[string]plant.Plant{}, known: map[[2]string]release.Release{},
	}
}

// Row returns the row of a channel.
func (p *Page) Row(ctx context.Context, edgeType, channel, _ string) (row release.ChannelRow, err error) {
	pair := release.Pair(edgeType, channel)
	row, read := p.rows[pair]
	if !read {
		if row, err = p.releases.Row(ctx, edgeType, channel); err == nil {
			p.rows[pair] = row
		}
	}
	return row, err
}

// Release returns the release of a version.
func (p *Page) Release(ctx context.Context, edgeType, version string) (r release.Release, err error) {
	at := [2]string{edgeType, version}
	r, read := p.known[at]
	if !read {
		p.asides++
		if r, err = p.releases.Release(ctx, edgeType, version); err == nil {
			p.known[at] = r
		}
	}
	return r, err
}

// Plant returns a plant.
func (p *Page) Plant(ctx context.Context, factoryID string) (of plant.Plant, err error) {
	of, read := p.plants[factoryID]
	if !read {
		if of, err = plant.Get(ctx, p.db, factoryID); err == nil {
			p.plants[factoryID] = of
		}
	}
	return of, err
}

// Settings returns those of an edge type.
func (p *Page) Settings(ctx context.Context, edgeType string) (edgetype.Settings, error) {
	return edgetype.NewStore(p.db).Read(ctx, edgeType)
}

// Blocker finds the box of a group that keeps another waiting.
func (p *Page) Blocker(ctx context.Context, b Box, version string, patience report.Patience) (Blocker, []dynamo.TransactItem, error) {
	p.asides += ofGroup
	return p.groups.Blocker(ctx, b, version, patience)
}

// Waiting lists for what the boxes of one page wait; see edge.Waits.
func Waiting(db *dynamo.DB, seen report.LastSeen) func() edge.Waits {
	return func() edge.Waits { return NewPage(db, seen).waits }
}

// waits returns for what boxes wait, or only the first of them if the others would take more reads than a page may make.
func (p *Page) waits(ctx context.Context, boxes []edge.Shown, rows map[string]report.Row) (waits []calendar.Wait, err error) {
	if err := dynamo.Together(ctx,
		func(ctx context.Context) error { return p.readRows(ctx, rows) },
		func(ctx context.Context) error { return p.readPlants(ctx, rows) }); err != nil {
		return nil, err
	}
	now := p.db.Now()
	for _, shown := range boxes {
		if p.asides >= mostAsides {
			break
		}
		var d Decision
		row := rows[shown.EdgeID]
		if row.FactoryID != "" && (p.plants[row.FactoryID].Updates != nil || row.Group != "") {
			if d, err = Decide(ctx, Known(row, now), p); err != nil {
				return nil, err
			}
		}
		waits = append(waits, d.Wait)
	}
	return waits, nil
}

// readRows reads the rows of the boxes' channels that were not read yet.
func (p *Page) readRows(ctx context.Context, boxes map[string]report.Row) error {
	var channels []release.Name
	for _, b := range boxes {
		pair := release.Pair(b.EdgeType, b.Channel)
		if _, read := p.rows[pair]; !read {
			p.rows[pair] = release.ChannelRow{}
			channels = append(channels, release.Name{EdgeType: b.EdgeType, Channel: b.Channel})
		}
	}
	read, err := p.releases.Rows(ctx, channels)
	for _, row := range read {
		p.rows[row.ID()] = row
	}
	return err
}

// readPlants reads the boxes' plants that were not read yet.
func (p *Page) readPlants(ctx context.Context, boxes map[string]report.Row) error {
	var ids []string
	for _, b := range boxes {
		if _, read := p.plants[b.FactoryID]; !read && b.FactoryID != "" {
			p.plants[b.FactoryID] = plant.Plant{}
			ids = append(ids, b.FactoryID)
		}
	}
	read, err := plant.GetAll(ctx, p.db, ids)
	for _, of := range read {
		p.plants[of.FactoryID] = of
	}
	return err
}
