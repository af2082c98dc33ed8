// Package usage finds what uses an artifact that the service keeps: whatever a box may be told, or runs.
package usage

import (
	"context"
	"fmt"
	"slices"

	"wavegate/shared/fleet/artifact"
	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/dynamo"
)

// A Finder finds what uses artifacts.
type Finder struct {
	releases *release.Store
	edges    *edge.Store
	counts   *census.Reader
	reports  *report.Store
}

// NewFinder makes a finder. The settings are those of counts.
func NewFinder(db *dynamo.DB, settings census.Settings) *Finder {
	return &Finder{release.NewStore(db), edge.NewStore(db), census.NewReader(db, settings), report.NewStore(db, settings.Shards)}
}

// A Shown is an artifact, and what uses it if the call asks for that.
type Shown struct {
	artifact.Artifact
	Uses []string `json:"uses,omitempty"`
}

// Get returns an artifact, or NOT_FOUND.
func (f *Finder) Get(ctx context.Context, artifacts *artifact.Store, look artifact.Look) (found Shown, err error) {
	if found.Artifact, err = artifacts.Get(ctx, look.Name); err == nil && look.Uses {
		found.Uses, err = f.Of(ctx, look.Name, false)
	}
	return found, err
}

// most limits what an answer names. One use is enough to refuse a deletion.
const most = 20

// Of lists what uses an artifact: a channel that may tell it to boxes, a release that requires it or has it as a document,
// a box that is pinned to it, and boxes that run it by the last count of their channel; with told, only those that were told it.
func (f *Finder) Of(ctx context.Context, n artifact.Name, told bool) (uses []string, err error) {
	runs := f.running
	if told {
		runs = f.told
	}
	var rows []release.ChannelRow
	var releases []release.Release
	var said map[string]release.Saying
	err = dynamo.Together(ctx,
		func(ctx context.Context) error {
			return f.releases.EachRow(ctx, n.EdgeType, func(r release.ChannelRow) { rows = append(rows, r) })
		},
		func(ctx context.Context) error {
			return f.releases.Each(ctx, n.EdgeType, func(r release.Release) { releases = append(releases, r) })
		},
		func(ctx context.Context) (err error) { said, err = f.releases.SaidOf(ctx, n.EdgeType); return err })
	if err != nil {
		return nil, err
	}
	uses, versions := inReleases(n.SHA256, rows, releases, said)
	if len(versions) > 0 {
		var boxes []string
		boxes, err = f.byBoxes(ctx, n.EdgeType, versions, runs)
		uses = append(uses, boxes...)
	}
	return uses[:min(len(uses), most)], err
}

// byBoxes lists the boxes that run one of some versions of a type or are pinned to it, on any channel.
func (f *Finder) byBoxes(ctx context.Context, edgeType string, versions []string,
	runs func(ctx context.Context, edgeType, channel string, versions []string) ([]string, error)) (uses []string, err error) {
	var pinned []edge.Edge
	var channels []string
	err = dynamo.Together(ctx,
		func(ctx context.Context) (err error) { pinned, err = f.edges.Pinned(ctx, edgeType); return err },
		func(ctx context.Context) (err error) { channels, err = f.edges.Channels(ctx, edgeType); return err })
	if err != nil {
		return nil, err
	}
	for _, e := range pinned {
		channels = append(channels, e.Channel)
		if slices.Contains(versions, e.Pin.Version) {
			uses = append(uses, fmt.Sprintf("box %s is pinned to %s", e.EdgeID, e.Pin.Version))
		}
	}
	slices.Sort(channels)
	channels = slices.Compact(channels)
	found := make([][]string, len(channels))
	var reads []func(context.Context) error
	for i, channel := range channels {
		reads = append(reads, func(ctx context.Context) (err error) {
			found[i], err = runs(ctx, edgeType, channel, versions)
			return err
		})
	}
	err = dynamo.Together(ctx, reads...)
	return append(uses, slices.Concat(found...)...), err
}

// inReleases lists what uses an artifact among channels and releases, and the versions that have it.
func inReleases(sha256 string, rows []release.ChannelRow, releases []release.Release, said map[string]release.Saying) (uses, versions []string) {
	for _, r := range releases {
		if r.SHA256 == sha256 {
			versions = append(versions, r.Version)
		}
	}
	for _, row := range rows {
		for _, t := range row.Targets() {
			if use := fmt.Sprintf("channel %s has version %s", row.Channel.Channel, t.Version); t.SHA256 == sha256 && !slices.Contains(uses, use) {
				uses = append(uses, use)
			}
		}
	}
	for _, r := range releases {
		if slices.Contains(versions, r.Requires) {
			uses = append(uses, fmt.Sprintf("release %s requires %s", r.Version, r.Requires))
		}
		switch is := said[r.Version]; {
		case slices.Contains(is.Documents.Kept(), sha256):
			uses = append(uses, fmt.Sprintf("release %s has it as a document", r.Version))
		case slices.Contains(is.Kept(), sha256):
			uses = append(uses, fmt.Sprintf("release %s had it as a document", r.Version))
		}
	}
	return uses, versions
}

// running lists the boxes of a channel that run one of some versions, by its last count.
func (f *Finder) running(ctx context.Context, edgeType, channel string, versions []string) ([]string, error) {
	count, err := f.counts.Recent(ctx, edgeType, channel)
	return running(channel, count, versions), err
}

// running lists the boxes of a counted channel that run one of some versions, and those that may: the list of versions is cut,
// and what it leaves out may be one of these.
func running(channel string, count census.ChannelVersions, versions []string) (uses []string) {
	for _, v := range count.Versions {
		if slices.Contains(versions, v.Version) {
			uses = append(uses, fmt.Sprintf("boxes of channel %s run %s: %d", channel, v.Version, v.Boxes))
		}
	}
	if count.Cut && len(uses) < len(versions) {
		uses = append(uses, fmt.Sprintf("boxes of channel %s may run it: %d run versions beyond the %d that most run", channel, count.OtherVersions, len(count.Versions)))
	}
	return uses
}

// mostClaims limits the boxes of a channel of which is looked up whether they were told a version. If more run it, they use it.
const mostClaims = 100

// told lists the boxes of a channel that run one of some versions and were told it.
func (f *Finder) told(ctx context.Context, edgeType, channel string, versions []string) (uses []string, err error) {
	ids, err := f.counts.Running(ctx, edgeType, channel, versions, mostClaims)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	if len(ids) > mostClaims {
		return []string{fmt.Sprintf("more than %d boxes of channel %s run it", mostClaims, channel)}, nil
	}
	rows, err := f.reports.GetAll(ctx, ids)
	if err != nil {
		return nil, err
	}
	told := make([]bool, len(ids))
	var reads []func(context.Context) error
	for i, id := range ids {
		reads = append(reads, func(ctx context.Context) (err error) {
			told[i], err = f.reports.WasTold(ctx, rows[id], versions)
			return err
		})
	}
	err = dynamo.Together(ctx, reads...)
	for i, id := range ids {
		if told[i] {
			uses = append(uses, fmt.Sprintf("box %s was told it", id))
		}
	}
	return uses, err
}
