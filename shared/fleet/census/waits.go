package census

import (
	"context"

	"wavegate/shared/fleet/ddi"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/plant"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/calendar"
	"wavegate/shared/platform/dynamo"
)

// mostAsides limits the reads that one page makes for single boxes: releases that the rows of channels do not have, and
// what groups do.
const (
	mostAsides = 60
	ofGroup    = 4 // reads for a box of a group
)

// Waits finds for what the boxes of one page wait: the same as Why says of each. It reads each channel and each plant once.
func (s *Store) Waits() edge.Waits {
	w := waiters{of: s, rows: map[string]release.ChannelRow{}, plants: map[string]plant.Plant{}, releases: map[[2]string]release.Release{}}
	return w.all
}

type waiters struct {
	of       *Store
	rows     map[string]release.ChannelRow
	plants   map[string]plant.Plant
	releases map[[2]string]release.Release
	asides   int
}

// all returns for what the boxes wait, or only the first of them if the others would take more reads than a page may make.
func (w *waiters) all(ctx context.Context, boxes []edge.Shown, reported map[string]report.Row) (waits []calendar.Wait, err error) {
	if err := dynamo.Together(ctx,
		func(ctx context.Context) error { return w.readRows(ctx, boxes) },
		func(ctx context.Context) error { return w.readPlants(ctx, boxes) }); err != nil {
		return nil, err
	}
	for _, box := range boxes {
		if w.asides >= mostAsides {
			break
		}
		wait, err := w.one(ctx, box.Edge, reported[box.EdgeID])
		if err != nil {
			return nil, err
		}
		waits = append(waits, wait)
	}
	return waits, nil
}

// one is for what a box waits.
func (w *waiters) one(ctx context.Context, e edge.Edge, known report.Row) (none calendar.Wait, err error) {
	updates := w.plants[e.FactoryID].Updates
	if e.FactoryID == "" || updates == nil && e.Group == "" {
		return none, nil
	}
	row := w.rows[e.Pair()]
	box := polling.BoxOf(known, ddi.Has(known), w.of.db.Now())
	box.Edge = e
	find := func(version string) (release.Release, error) { return w.release(ctx, e.EdgeType, version) }
	r, published, err := polling.Resolve(box, row, find)
	if err != nil || !published {
		return none, err
	}
	if known.DDI && r.Version != box.Has() {
		if told, err := find(r.Version); err != nil || !told.Sufficient() {
			return none, err
		}
	}
	wait := polling.Waits(box, r, row, updates)
	if wait.For == "" && polling.TakesTurn(box, r, row) {
		w.asides += ofGroup
		open, err := w.of.plants.Turn(ctx, polling.Opening{Wait: wait}, box, r, row)
		return open.Wait, err
	}
	return wait, nil
}

// release reads the release of a version once.
func (w *waiters) release(ctx context.Context, edgeType, version string) (release.Release, error) {
	at := [2]string{edgeType, version}
	if known, is := w.releases[at]; is {
		return known, nil
	}
	w.asides++
	r, err := w.of.releases.Release(ctx, edgeType, version)
	if err == nil {
		w.releases[at] = r
	}
	return r, err
}

// readRows reads the rows of the boxes' channels that were not read yet.
func (w *waiters) readRows(ctx context.Context, boxes []edge.Shown) error {
	var channels []release.Name
	for _, e := range boxes {
		if _, known := w.rows[e.Pair()]; !known {
			w.rows[e.Pair()] = release.ChannelRow{}
			channels = append(channels, release.Name{EdgeType: e.EdgeType, Channel: e.Channel})
		}
	}
	read, err := w.of.releases.Rows(ctx, channels)
	for _, row := range read {
		w.rows[row.ID()] = row
	}
	return err
}

// readPlants reads the boxes' plants that were not read yet.
func (w *waiters) readPlants(ctx context.Context, boxes []edge.Shown) error {
	var ids []string
	for _, e := range boxes {
		if _, known := w.plants[e.FactoryID]; !known && e.FactoryID != "" {
			w.plants[e.FactoryID] = plant.Plant{}
			ids = append(ids, e.FactoryID)
		}
	}
	read, err := plant.GetAll(ctx, w.of.db, ids)
	for _, p := range read {
		w.plants[p.FactoryID] = p
	}
	return err
}
