package census

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"wavegate/shared/fleet/edgetype"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/plant"
	"wavegate/shared/fleet/release"
	"wavegate/shared/fleet/report"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/calendar"
	"wavegate/shared/platform/dynamo"
)

// atOnce is how many requests a count makes in parallel.
const atOnce = 16

// each hands the boxes of a channel to one accumulator per shard, and returns the accumulators once all boxes are read.
// It skips boxes that cannot be read, and returns them.
func each[A any](ctx context.Context, s *report.Store, pair string, make func() A, add func(A, report.IndexEntry)) ([]A, Unreadable, error) {
	parts := []A{}
	var left Unreadable
	var mu sync.Mutex
	unreadable := func(err error) {
		mu.Lock()
		defer mu.Unlock()
		left.add(err)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for shard := range s.Shards() {
		group.Go(func() error {
			part := make()
			if err := s.Each(ctx, pair, shard, func(e report.IndexEntry) { add(part, e) }, unreadable); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			parts = append(parts, part)
			return nil
		})
	}
	err := group.Wait()
	return parts, left, err
}

// census counts the boxes of a rollout's channel as of a time.
func (s *Store) census(ctx context.Context, r rollout.Rollout, at time.Time) (*Census, error) {
	parts, left, err := each(ctx, s.reports, release.Pair(r.EdgeType, r.Channel), func() *Census { return NewCensus(r, at) }, (*Census).Add)
	if err != nil {
		return nil, err
	}
	sum := NewCensus(r, at)
	sum.unreadable = left
	for _, part := range parts {
		sum.Merge(part)
	}
	return sum, nil
}

// count counts a rollout, and has the guard judge it if it has a policy. last is the count before, or nil.
func (s *Store) count(ctx context.Context, r rollout.Rollout, last *Progress) (Progress, Hour, error) {
	return s.countAndJudge(ctx, r, last, false)
}

// countByTick is count for a tick. The guard looks at silence only in a tick, so that callers who ask for new counts do
// not cause more errors.
func (s *Store) countByTick(ctx context.Context, r rollout.Rollout, last *Progress) (Progress, Hour, error) {
	return s.countAndJudge(ctx, r, last, true)
}

func (s *Store) countAndJudge(ctx context.Context, r rollout.Rollout, last *Progress, looks bool) (Progress, Hour, error) {
	r = s.settings.paced(r)
	var freeze *guard.Freeze
	var known *Progress // whose samples are recent enough
	if looks && !s.settings.sampleDue(r, last, s.db.Now()) {
		known = last
	}
	p, c, hour, err := s.look(ctx, r, known, func(ctx context.Context) error {
		if r.Terms == nil {
			return nil
		}
		// A freeze that cannot be read must not keep the guard from halting. A promotion reads it again.
		if frozen, err := s.freezes.Holding(ctx); err == nil && frozen != nil {
			freeze = &guard.Freeze{Until: frozen.Until, Reason: frozen.Reason}
		}
		return ctx.Err()
	})
	if err == nil && c.Groups != nil {
		p.Guard, err = s.judge(ctx, c, last, looks, known != nil, freeze)
		// The next thing that people ask for is the silent boxes. If the guard only advises, it asks for a halt again and again.
		if err == nil && known != nil && p.Guard.Action == guard.Halt && (last.Guard == nil || last.Guard.Action != guard.Halt) {
			p.Silent, err = s.silence(ctx, r, c)
		}
		if last != nil {
			p.Work = last.Work
		}
		if looks && err == nil {
			var unread error
			if p.Work, unread = s.work(ctx, c, p.Work); unread != nil {
				c.unreadable.add(unread)
			}
		}
		p.unreadable = c.unreadable
	}
	return p, hour, err
}

// judge has the guard judge a count. If reuses is set, it may rely on what the last count looked up, unless something would
// follow from that.
func (s *Store) judge(ctx context.Context, c *Census, last *Progress, looks, reuses bool, freeze *guard.Freeze) (*Judgement, error) {
	var before *Judgement
	if last != nil {
		before = last.Guard
	}
	question := Ask(c, before, looks)
	if reuses {
		if j := question.reuse(before, freeze); j != nil {
			return j, nil
		}
	}
	sightings, err := s.sightings(ctx, c, question.Boxes())
	if err != nil {
		return nil, err
	}
	if !looks {
		return question.Judge(sightings, freeze, nil), nil
	}
	return question.Judge(sightings, freeze, func() ([]guard.Kind, []guard.Worker) {
		kinds, workers, err := s.kindsOf(ctx, c.of, c.Groups.at)
		if err != nil {
			c.unreadable.add(err)
		}
		return kinds, workers
	}), nil
}

// countFactories counts a rollout by factory.
func (s *Store) countFactories(ctx context.Context, r rollout.Rollout, _ *Progress) (Progress, Hour, error) {
	p, c, hour, err := s.look(ctx, r, nil)
	if err == nil {
		p.Factories, p.MoreFactories = troubled(c.Factories)
		err = s.openings(ctx, c, p.Factories)
	}
	return p, hour, err
}

// look counts a rollout and finds when a sample of its boxes was last seen, unless that is known from the last count. In
// parallel with the boxes, it reads the hour of the history that the count belongs to, and calls beside.
func (s *Store) look(ctx context.Context, r rollout.Rollout, known *Progress, beside ...func(context.Context) error) (Progress, *Census, Hour, error) {
	now := s.db.Now()
	var c *Census
	var hour Hour
	err := dynamo.Together(ctx, append(beside,
		func(ctx context.Context) (err error) {
			c, err = s.census(ctx, r, now)
			return err
		},
		func(ctx context.Context) (err error) {
			hour, err = s.hour(ctx, r.ID, now)
			return err
		})...)
	if err != nil {
		return Progress{}, nil, Hour{}, err
	}
	waiting, err := s.waiting(ctx, c)
	if err == nil && c.mislabelled("") > 0 {
		err = s.readForm(ctx, c)
	}
	if err != nil {
		return Progress{}, nil, Hour{}, err
	}
	var silent Silence
	if known != nil {
		silent = known.Silent
	} else if silent, err = s.silence(ctx, r, c); err != nil {
		return Progress{}, nil, Hour{}, err
	}
	return Progress{
		RolloutID: r.ID, AsOf: now, StagedPercent: r.StagedPercent, Stages: c.Stages, Failures: c.Codes,
		Silent: silent,
		Young:  c.Young, NewFleet: c.NewFleet(), Pinned: c.Pinned, Held: c.Held, Restless: c.Restless, Frequent: c.Frequent, Mislabelled: c.mislabelled(c.form),
		Returning: c.Returning, Returned: c.Returned, Waiting: waiting, unreadable: c.unreadable,
	}, c, hour, nil
}

// readForm reads which labels are good for the boxes of a count.
func (s *Store) readForm(ctx context.Context, c *Census) error {
	of, err := edgetype.NewStore(s.db).Read(ctx, c.of.EdgeType)
	if c.form = of.VersionForm; c.Groups != nil {
		c.Groups.form = c.form
	}
	return err
}

// silence looks up how many boxes of a count are silent.
func (s *Store) silence(ctx context.Context, r rollout.Rollout, c *Census) (Silence, error) {
	sightings, err := s.sightings(ctx, c, c.Awaited.Chosen())
	return Silent(c.Awaited.Boxes, sightings, c.at, s.silentAfter(r, c.at)), err
}

// silentAfter is how long ago a silent box of a rollout was last seen: no longer than the guard waits, so that boxes for
// which it halts are silent.
func (s *Store) silentAfter(r rollout.Rollout, now time.Time) time.Duration {
	after := report.SilentAfter(s.settings.interval(r, now))
	if r.Terms == nil {
		return after
	}
	return min(after, s.settings.paced(r).Terms.Policy.Guard.SilentAfter.Length())
}

// forSightings is the time that a count has to look up when boxes were last seen.
const forSightings = 15 * time.Second

// sightings looks up when the boxes of a sample of a count were last seen; each box once for a count. A box that has
// another offer by now is returned without an offer. A box that cannot be read in time is unknown, which is not an error:
// the guard can still judge failures. The only error is that of a context that ended.
func (s *Store) sightings(ctx context.Context, c *Census, boxes []report.IndexEntry) ([]Sighting, error) {
	list := make([]Sighting, len(boxes))
	inTime, cancel := context.WithTimeout(ctx, forSightings)
	defer cancel()
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i, e := range boxes {
		if seen, ok := c.sighted[e.EdgeID]; ok {
			list[i] = seen
			continue
		}
		group.Go(func() error {
			list[i] = s.sighting(inTime, c.of.ID, e.EdgeID)
			return nil
		})
	}
	_ = group.Wait() // no lookup fails
	for _, seen := range list {
		c.sighted[seen.EdgeID] = seen
	}
	return list, ctx.Err()
}

func (s *Store) sighting(ctx context.Context, rolloutID, edgeID string) Sighting {
	box := Sighting{EdgeID: edgeID}
	row, err := s.reports.Get(ctx, edgeID)
	if err != nil {
		return box
	}
	box.OrganizationID, box.FactoryID, box.Restless = row.OrganizationID, row.FactoryID, row.Restless != nil
	box.Mislabelled = row.Mislabelled()
	if o := row.Counted(); o.RolloutID == rolloutID {
		box.Offer = o
	}
	if row.Subject == "" {
		box.Never = true
		return box
	}
	if at, err := s.seen(ctx, row.Subject); err == nil {
		box.LastSeen = at
	}
	return box
}

// mostFactories limits the factories of an answer.
const mostFactories = 1000

// troubled lists factories, those with the most failed and reverted boxes first.
func troubled(by map[string]guard.Counts) (list []FactoryCounts, more int) {
	for id, n := range by {
		list = append(list, FactoryCounts{FactoryID: id, Counts: n})
	}
	slices.SortFunc(list, func(a, b FactoryCounts) int {
		return cmp.Or(cmp.Compare(b.Failed+b.Reverted, a.Failed+a.Reverted), cmp.Compare(b.Expected, a.Expected), cmp.Compare(a.FactoryID, b.FactoryID))
	})
	if len(list) > mostFactories {
		return list[:mostFactories], len(list) - mostFactories
	}
	return list, 0
}

func (s *Reader) countChannel(ctx context.Context, edgeType, channel string) (ChannelVersions, error) {
	at := s.db.Now()
	published := map[string]bool{}
	var parts []*Versions
	var left Unreadable
	err := dynamo.Together(ctx,
		func(ctx context.Context) error {
			return s.releases.Each(ctx, edgeType, func(r release.Release) { published[r.Version] = true })
		},
		func(ctx context.Context) (err error) {
			parts, left, err = each(ctx, s.reports, release.Pair(edgeType, channel), func() *Versions { return NewVersions(at) }, (*Versions).Add)
			return err
		})
	var sum Versions
	for _, part := range parts {
		sum.Merge(*part)
	}
	c := sum.Among(published)
	c.EdgeType, c.Channel, c.AsOf = edgeType, channel, at
	c.Boxes, c.Unknown = sum.Boxes()+left.Items, sum.Unknown()+left.Items
	c.Pinned, c.Held, c.OldestPin = sum.Aside()
	c.ImportedUnknown, c.Frequent = sum.unproven, sum.frequent
	if err != nil {
		return c, err
	}
	plants, err := plant.GetAll(ctx, s.db, slices.Collect(maps.Keys(sum.plants)))
	for _, p := range plants {
		if p.Updates.Wait(calendar.Haste{}, c.AsOf).For != "" {
			c.AtClosedPlants += sum.plants[p.FactoryID]
		}
	}
	return c, err
}

// Running lists boxes of a channel that say that they run one of some versions, at most so many and one more.
func (s *Reader) Running(ctx context.Context, edgeType, channel string, versions []string, most int) (ids []string, err error) {
	parts, _, err := each(ctx, s.reports, release.Pair(edgeType, channel), func() *[]string { return new([]string) }, func(ids *[]string, e report.IndexEntry) {
		if !e.Trace && len(*ids) <= most && slices.Contains(versions, e.Running) {
			*ids = append(*ids, e.EdgeID)
		}
	})
	for _, part := range parts {
		ids = append(ids, *part...)
	}
	return ids[:min(len(ids), most+1)], err
}

// Deadline is how long a tick may take: a little less than the time until the next one.
const Deadline = 55 * time.Second
