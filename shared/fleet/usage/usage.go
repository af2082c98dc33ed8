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
	"wavegate/shared/platform/dynamo"
)

// A Finder finds what uses artifacts.
type Finder struct {
	releases *release.Store
	edges    *edge.Store
	counts   *census.Reader
}

// NewFinder makes a finder. The settings are those of counts.
func NewFinder(db *dynamo.DB, settings census.Settings) *Finder {
	return &Finder{release.NewStore(db), edge.NewStore(db), census.NewReader(db, settings)}
}

// A Shown is an artifact, and what uses it if the call asks for that.
type Shown struct {
	artifact.Artifact
	Uses []string `json:"uses,omitempty"`
}

// Get returns an artifact, or NOT_FOUND.
func (f *Finder) Get(ctx context.Context, artifacts *artifact.Store, look artifact.Look) (found Shown, err error) {
	if found.Artifact, err = artifacts.Get(ctx, look.Name); err == nil && look.Uses {
		found.Uses, err = f.Of(ctx, look.Name)
	}
	return found, err
}

// most limits what an answer names. One use is enough to refuse a deletion.
const most = 20

// Of lists what uses an artifact: a channel that may tell it to boxes, a release that requires it or has it as a document,
// a box that is pinned to it, and boxes that run it by the last count of their channel.
func (f *Finder) Of(ctx context.Context, n artifact.Name) (uses []string, err error) {
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
	boxes := make([][]string, len(rows))
	var reads []func(context.Context) error
	for i, row := range rows {
		reads = append(reads, func(ctx context.Context) (err error) {
			boxes[i], err = f.byBoxes(ctx, row.Channel, versions)
			return err
		})
	}
	if len(versions) > 0 {
		err = dynamo.Together(ctx, reads...)
	}
	uses = append(uses, slices.Concat(boxes...)...)
	return uses[:min(len(uses), most)], err
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

// running lists the boxes of a counted channel that run one of some versions, and those that may: a box can say that it runs
// anything, so the list of versions is cut, and what it leaves out may be one of these.
func running(channel string, count census.ChannelVersions, versions []string) (uses []string) {
	for _, v := range count.Versions {
		if slices.Contains(versions, v.Version) {
			uses = append(uses, fmt.Sprintf("boxes of channel %s run %s: %d", channel, v.Version, v.Boxes))
		}
	}
	if count.OtherVersions > 0 && len(uses) < len(versions) {
		uses = append(uses, fmt.Sprintf("boxes of channel %s may run it: %d run versions beyond the %d that most run", channel, count.OtherVersions, len(count.Versions)))
	}
	return uses
}

// byBoxes lists the boxes of a channel that run one of some versions or are pinned to it.
func (f *Finder) byBoxes(ctx context.Context, c release.Channel, versions []string) (uses []string, err error) {
	count, err := f.counts.Channel(ctx, c.EdgeType, c.Channel, true)
	if err != nil {
		return nil, err
	}
	uses = running(c.Channel, count, versions)
	err = f.edges.EachPinned(ctx, c.EdgeType, c.Channel, func(e edge.Edge) {
		if slices.Contains(versions, e.Pin.Version) && len(uses) < most {
			uses = append(uses, fmt.Sprintf("box %s is pinned to %s", e.EdgeID, e.Pin.Version))
		}
	})
	return uses, err
}
