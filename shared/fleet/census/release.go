package census

import (
	"context"
	"errors"
	"slices"
	"time"

	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
)

// A Release is all that is known of a release.
type Release struct {
	release.Published
	Channels []Carrying `json:"channels"`
	Rollouts []Brought  `json:"rollouts"` // that brought it, the latest first; mostBrought at most
	// Ran counts the boxes that ran it before; nil while they are counted for the first time.
	Ran *report.Ran `json:"ran,omitempty"`
}

// Carrying is a channel that has a release, or on which boxes ran it at the last count.
type Carrying struct {
	Channel string     `json:"channel"`
	Current bool       `json:"current"`         // it is the channel's version
	Boxes   *int       `json:"boxes,omitempty"` // that ran it at the last count; nil: never counted
	AsOf    *time.Time `json:"asOf,omitempty"`
	// OptedOut are boxes at plants that opted out then; only with Current.
	OptedOut []OptedOut `json:"optedOut,omitempty"`
}

// Brought is a rollout of a release.
type Brought struct {
	RolloutID string         `json:"rolloutId"`
	Channel   string         `json:"channel"`
	Status    rollout.Status `json:"status"`
	StartedAt time.Time      `json:"startedAt"`
}

const (
	mostBrought = 100
	// ranAge is how old the count of the boxes that ran a release before may be: it reads an item for each of their times.
	ranAge = time.Hour
)

// Release returns what is known of a release, or NOT_FOUND.
func (s *Reader) Release(ctx context.Context, n release.Named) (found Release, err error) {
	var is release.Release
	var said release.Said
	var rows []release.ChannelRow
	err = dynamo.Together(ctx,
		func(ctx context.Context) (err error) {
			is, err = s.releases.Release(ctx, n.EdgeType, n.Version)
			return err
		},
		func(ctx context.Context) (err error) { said, err = s.releases.Said(ctx, n); return err },
		func(ctx context.Context) error {
			return s.releases.EachRow(ctx, n.EdgeType, func(r release.ChannelRow) { rows = append(rows, r) })
		})
	if err == nil && is.Version == "" {
		err = problem.Missing()
	}
	if err != nil {
		return found, err
	}
	found.Published = is.Shown(said.Saying)
	return found, dynamo.Together(ctx,
		func(ctx context.Context) (err error) { found.Channels, err = s.carrying(ctx, n, rows); return err },
		func(ctx context.Context) (err error) {
			found.Rollouts, err = s.brought(ctx, n, is.PublishedAt)
			return err
		},
		func(ctx context.Context) (err error) { found.Ran, err = s.ran(ctx, n); return err })
}

// carrying lists the channels that have a release, and those on which boxes ran it at the last count.
func (s *Reader) carrying(ctx context.Context, n release.Named, rows []release.ChannelRow) ([]Carrying, error) {
	heads := make([]head[ChannelVersions], len(rows))
	var reads []func(context.Context) error
	for i, r := range rows {
		reads = append(reads, func(ctx context.Context) (err error) {
			heads[i], err = readHead[ChannelVersions](ctx, s.db, "channel#"+r.ID(), partLatest)
			return err
		})
	}
	if err := dynamo.Together(ctx, reads...); err != nil {
		return nil, err
	}
	list := []Carrying{}
	for i, r := range rows {
		c := Carrying{Channel: r.Channel.Channel, Current: r.CurrentVersion == n.Version}
		if last := heads[i].Answer; last != nil {
			if c.Boxes, c.AsOf = new(last.running(n.Version)), &last.AsOf; c.Current {
				c.OptedOut = last.OptedOut
			}
		}
		if c.Current || r.Knows(n.Version) || c.Boxes != nil && *c.Boxes > 0 {
			list = append(list, c)
		}
	}
	return list, nil
}

// running is how many boxes run a version.
func (c ChannelVersions) running(version string) int {
	if i := slices.IndexFunc(c.Versions, func(v VersionCount) bool { return v.Version == version }); i >= 0 {
		return c.Versions[i].Boxes
	}
	return 0
}

func (s *Reader) brought(ctx context.Context, n release.Named, since time.Time) ([]Brought, error) {
	list := []Brought{}
	err := s.rollouts.EachSince(ctx, n.EdgeType, since, func(r rollout.Rollout) {
		if r.TargetVersion == n.Version && len(list) < mostBrought {
			list = append(list, Brought{r.ID, r.Channel, r.Status, r.StartedAt})
		}
	})
	return list, err
}

// ran counts the boxes that ran a release before, unless the last count is recent enough.
func (s *Reader) ran(ctx context.Context, n release.Named) (*report.Ran, error) {
	h, err := readHead[report.Ran](ctx, s.db, "release#"+release.Pair(n.EdgeType, n.Version), partLatest)
	if err != nil {
		return nil, err
	}
	ran, err := counted(ctx, s, h, ranAge, func(ctx context.Context, _ *report.Ran) (report.Ran, afterwards, error) {
		ran, err := s.reports.Ran(ctx, n.EdgeType, n.Version)
		return ran, nothing, err
	})
	if err != nil {
		if errors.Is(err, errCounting) {
			err = nil
		}
		return nil, err
	}
	return &ran, nil
}
