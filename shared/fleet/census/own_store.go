package census

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"wavegate/shared/access/auth"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/plant"
	"wavegate/shared/fleet/report"
	"wavegate/shared/fleet/rollout"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/problem"
)

// OfFleet is a request for an organization's fleet.
type OfFleet struct {
	OrganizationID string
	Fresh          bool
}

// OfFleetOf reads the path parameter organizationId and the query parameter fresh.
func OfFleetOf(in *input.Reader) OfFleet {
	return OfFleet{in.Path("organizationId", input.Name), in.Flag("fresh")}
}

// OfOwnRollout is a request for what an organization sees of a rollout.
type OfOwnRollout struct {
	OfFleet
	ID string
}

// OfOwnRolloutOf reads the path parameters organizationId and id, and the query parameter fresh.
func OfOwnRolloutOf(in *input.Reader) OfOwnRollout {
	return OfOwnRollout{OfFleetOf(in), in.Path("id", input.UUID)}
}

// Fleet returns an organization's fleet, from the last count or a new one; see counted. It reads the organization's boxes
// only, so neither the answer nor its cost depends on the boxes of others. It returns NOT_FOUND for an organization that
// the caller may not see.
func (s *Reader) Fleet(ctx context.Context, caller auth.Principal, of OfFleet) (Fleet, error) {
	if !caller.MaySee(of.OrganizationID) {
		return Fleet{}, problem.Missing()
	}
	edges := edge.NewStore(s.db)
	var h head[string]
	var has bool
	err := dynamo.Together(ctx,
		func(ctx context.Context) (err error) {
			h, err = readHead[string](ctx, s.db, "organization#"+of.OrganizationID, partLatest)
			return err
		},
		func(ctx context.Context) (err error) {
			has, err = edges.Has(ctx, of.OrganizationID, "", "")
			return err
		})
	if err != nil {
		return Fleet{}, err
	}
	if !has { // nothing is stored under names of organizations that have no box
		return Fleet{OrganizationID: of.OrganizationID, AsOf: s.db.Now(), Channels: []OwnChannel{}}, nil
	}
	// It is stored as a text, of which each release reads what it knows. A count replaces all of it.
	text, err := counted(ctx, s, h, s.settings.ageOf(of.Fresh), func(ctx context.Context, _ *string) (string, afterwards, error) {
		f, err := s.countFleet(ctx, edges, of.OrganizationID)
		if err != nil {
			return "", nothing, err
		}
		text, err := f.Text()
		return text, nothing, err
	})
	if err != nil {
		return Fleet{}, err
	}
	var f Fleet
	err = json.Unmarshal([]byte(text), &f)
	return f, err
}

// OwnRollout returns what an organization sees of a rollout. It returns NOT_FOUND if none of its boxes is on the
// rollout's channel, as if there were no such rollout.
func (s *Reader) OwnRollout(ctx context.Context, caller auth.Principal, of OfOwnRollout) (OwnRollout, error) {
	var fleet Fleet
	var r rollout.Rollout
	var known bool
	err := dynamo.Together(ctx,
		func(ctx context.Context) (err error) { fleet, err = s.Fleet(ctx, caller, of.OfFleet); return err },
		func(ctx context.Context) (err error) { r, known, err = s.rollouts.Find(ctx, of.ID); return err })
	if err != nil {
		return OwnRollout{}, err
	}
	// The last count usually knows, so that the boxes are not read again.
	has := slices.ContainsFunc(fleet.Channels, func(c OwnChannel) bool { return c.EdgeType == r.EdgeType && c.Channel == r.Channel })
	if !has {
		has, err = s.has(ctx, of.OrganizationID, r)
	}
	if err == nil && !(known && has) {
		err = problem.Missing()
	}
	if err != nil {
		return OwnRollout{}, err
	}
	return fleet.of(r), nil
}

// rolloutOf returns a rollout, and whether there is one that concerns an organization: a box of it is on the rollout's
// channel.
func (s *Reader) rolloutOf(ctx context.Context, organizationID, id string) (r rollout.Rollout, known bool, err error) {
	r, known, err = s.rollouts.Find(ctx, id)
	if err != nil {
		return r, false, err
	}
	has, err := s.has(ctx, organizationID, r)
	return r, known && has, err
}

// has reports whether a box of an organization is on a rollout's channel. For a rollout that does not exist, it makes the same
// requests as for one that is only others'.
func (s *Reader) has(ctx context.Context, organizationID string, r rollout.Rollout) (bool, error) {
	return edge.NewStore(s.db).Has(ctx, organizationID, cmp.Or(r.EdgeType, nowhere), cmp.Or(r.Channel, nowhere))
}

// nowhere names no edge type and no channel.
const nowhere = "-"

// An ownCount counts an organization's boxes of one channel.
type ownCount struct {
	channel  OwnChannel
	of       *rollout.Rollout // nil: none
	last     *Progress
	census   *Census
	versions *Versions
}

// countFleet counts an organization's boxes. A box that moves meanwhile may be missing.
func (s *Reader) countFleet(ctx context.Context, edges *edge.Store, organizationID string) (Fleet, error) {
	f := Fleet{OrganizationID: organizationID, AsOf: s.db.Now()}
	on := map[string][]edge.Edge{}
	err := edges.Each(ctx, organizationID, func(e edge.Edge) error {
		on[e.Pair()] = append(on[e.Pair()], e)
		f.Boxes++
		return nil
	})
	if err != nil {
		return f, err
	}
	all := []OwnChannel{}
	for _, some := range on {
		all = append(all, OwnChannel{EdgeType: some[0].EdgeType, Channel: some[0].Channel, Boxes: len(some)})
	}
	f.Channels, f.MoreChannels = largest(all)
	counts := make([]ownCount, len(f.Channels))
	err = inParallel(ctx, len(counts), func(ctx context.Context, i int) (err error) {
		counts[i], err = s.begin(ctx, f, f.Channels[i])
		return err
	})
	if err != nil {
		return f, err
	}
	for i, c := range counts {
		if err := s.add(ctx, &counts[i], on[c.channel.pair()], organizationID); err != nil {
			return f, err
		}
		f.Channels[i] = counts[i].done(organizationID)
	}
	return f, s.openingsOf(ctx, f, counts)
}

// openingsOf adds to a fleet for which plants its boxes wait. A plant is read once, whatever channels have boxes there.
func (s *Reader) openingsOf(ctx context.Context, f Fleet, counts []ownCount) error {
	ids := map[string]bool{}
	for _, c := range counts {
		if c.census != nil {
			for _, id := range c.census.untoldAt() {
				ids[id] = true
			}
		}
	}
	plants, err := plant.GetAll(ctx, s.db, slices.Collect(maps.Keys(ids)))
	if err != nil {
		return err
	}
	for i, c := range counts {
		if c.census != nil {
			own, err := s.allowed(ctx, c.of.EdgeType, plants)
			if err != nil {
				return err
			}
			f.Channels[i].Rollout.Waiting = c.census.wait(own)
		}
	}
	return nil
}

// begin reads what is on a channel.
func (s *Reader) begin(ctx context.Context, f Fleet, channel OwnChannel) (ownCount, error) {
	c := ownCount{channel: channel, versions: NewVersions(f.AsOf)}
	row, err := s.releases.Row(ctx, channel.EdgeType, channel.Channel)
	c.channel.CurrentVersion = row.CurrentVersion
	if err != nil || row.Rollout == nil {
		return c, err
	}
	var r rollout.Rollout
	err = dynamo.Together(ctx,
		func(ctx context.Context) (err error) { r, err = s.rollouts.Get(ctx, row.Rollout.ID); return err },
		func(ctx context.Context) error {
			h, err := readHead[Progress](ctx, s.db, row.Rollout.ID, partLatest)
			c.last = h.Answer
			return err
		})
	plain := r
	plain.Terms = nil // the guard's evidence is not counted
	c.of, c.census = &r, NewCensus(plain, f.AsOf)
	return c, err
}

// add counts boxes by their rows.
func (s *Reader) add(ctx context.Context, c *ownCount, boxes []edge.Edge, organizationID string) error {
	var mu sync.Mutex
	return inParallel(ctx, (len(boxes)+soughtAtOnce-1)/soughtAtOnce, func(ctx context.Context, i int) error {
		some := boxes[i*soughtAtOnce : min(len(boxes), (i+1)*soughtAtOnce)]
		ids := make([]string, len(some))
		for n, e := range some {
			ids[n] = e.EdgeID
		}
		rows, err := s.reports.GetAll(ctx, ids)
		mu.Lock()
		defer mu.Unlock()
		for _, e := range some {
			row, there := rows[e.EdgeID]
			if !there { // the box was registered before there were rows
				row = report.Row{}.Registered(e.Registration())
			}
			if row.OrganizationID == organizationID && row.EdgeType == e.EdgeType && row.Channel == e.Channel {
				c.count(row.Entry())
			}
		}
		return err
	})
}

func (c *ownCount) count(e report.IndexEntry) {
	c.versions.Add(e)
	if c.census != nil {
		c.census.Add(e)
	}
}

// done is the channel with what was counted.
func (c *ownCount) done(organizationID string) OwnChannel {
	channel := c.channel.ran(c.versions)
	if c.of != nil {
		own := ownRollout(*c.of, organizationID).counted(c.census, c.last)
		channel.Rollout = &own
	}
	return channel
}

// inParallel calls a function with each number below n, and returns the first error.
func inParallel(ctx context.Context, n int, each func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i := range n {
		group.Go(func() error { return each(ctx, i) })
	}
	return group.Wait()
}
