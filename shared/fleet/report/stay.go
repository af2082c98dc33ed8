package report

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/timestamp"
)

// A Stay is what a box runs, and how it came to that. It lies in the row while it lasts, and in the box's history once it has
// ended; see Past. All times are those at which the service heard of it: a box that is silent tells later.
type Stay struct {
	Version string `json:"version" stored:"identity"`
	// RolloutID is the rollout that told the box the version, and ToldAt when the box was told it; nil: it runs it by itself.
	RolloutID string     `json:"rolloutId,omitempty"`
	ToldAt    *time.Time `json:"toldAt,omitempty"`
	RanAt     time.Time  `json:"ranAt" stored:"identity"` // the first call that said so
}

// A Kept is how many stays of a box were kept on its last day (UTC) with one, and how many were lost since the last one that
// was kept, because the box changed too often.
type Kept struct {
	Day  string `json:"day"`
	N    int    `json:"n"`
	Lost int    `json:"lost,omitempty"`
}

// A Pending is a version that a box was told and has not run.
type Pending struct {
	Version   string      `json:"version"`
	RolloutID string      `json:"rolloutId,omitempty"`
	ToldAt    time.Time   `json:"toldAt"`
	Code      FailureCode `json:"code,omitempty"` // why it failed, if it did
}

// Pending is what the box was told last and has not run; nil: it runs it, or was told nothing.
func (r Row) Pending() *Pending {
	if o := r.Offer; o != nil && o.neverRan(r) {
		return &Pending{o.Version, o.RolloutID, o.ToldAt, o.Code}
	}
	return nil
}

// An End is why a stay ended.
type End string

// Ends.
const (
	Replaced End = "replaced" // by what the box ran or was told then
	Moved    End = "moved"    // another organization took the box over
	Gone     End = "retired"
	Retyped  End = "retyped" // the box got another edge type
)

// A Spell is a stay as callers see it, or a version that the box was told and did not run. It belongs to the organization
// that the box had then.
type Spell struct {
	EdgeID         string      `json:"edgeId"`
	EdgeType       string      `json:"edgeType"`
	Version        string      `json:"version"`
	OrganizationID string      `json:"organizationId,omitempty"`
	FactoryID      string      `json:"factoryId,omitempty"`
	Channel        string      `json:"channel"` // at the end
	RolloutID      string      `json:"rolloutId,omitempty"`
	ToldAt         *time.Time  `json:"toldAt,omitempty"`
	RanAt          *time.Time  `json:"ranAt,omitempty"`
	EndedAt        *time.Time  `json:"endedAt,omitempty"` // nil: it lasts
	End            End         `json:"end,omitempty"`
	Code           FailureCode `json:"code,omitempty"` // why it failed or fell back, if it did
	Lost           int         `json:"lost,omitempty"` // ended before this one, and were not kept
}

// Began sorts the spells of a box: by when the box ran the version first, or was told it if it never ran it.
func (p Spell) Began() string {
	if p.RanAt != nil {
		return timestamp.Text(*p.RanAt) + separator + "ran"
	}
	return timestamp.Text(*p.ToldAt) + separator + "told"
}

// A Past is a spell that has ended, as it is stored. It never changes, and goes after ten years.
type Past struct {
	Spell
	Began string `json:"began"`
	// Shard and Place are the key in the index of a version's spells.
	Shard   string `json:"shard"`
	Place   string `json:"place"`
	Expires int64  `json:"expires"`
	dynamo.Unknown
}

// Past is an ended spell as it is stored.
func (p Spell) Past() Past {
	began := p.Began()
	return Past{Spell: p, Began: began, Shard: stayShards.Of(p.EdgeType+"/"+p.Version, p.EdgeID),
		Place: strings.Join([]string{p.OrganizationID, p.EdgeID, began}, separator), Expires: p.EndedAt.Add(historyFor).Unix()}
}

const (
	// historyFor is how long an ended stay is kept: the Cyber Resilience Act asks makers to keep what they did for ten years
	// (Regulation (EU) 2024/2847, article 13).
	historyFor = 10 * 365 * 24 * time.Hour
	// mostStays bounds the stays that are kept of a box and a day, so that no box floods the table. What is beyond is counted.
	mostStays = 24
	// stayShards spreads the stays of a version, since many boxes end theirs at once when the next version comes: 1,000,000
	// boxes that end one within their minute of polling write 521 times a second into each.
	stayShards Shards = 32
)

// stays notes since when the box runs what it says, and counts what ends.
func (r *Row) stays(was Row, at time.Time) {
	switch {
	case r.Running == "" || r.Assumed: // the box has not said it
		r.Stay = nil
	case r.Stay == nil || r.Stay.Version != r.Running:
		r.Stay = &Stay{Version: r.Running, RanAt: at}
		if was.Stay != nil && !at.After(was.Stay.RanAt) {
			r.Stay.RanAt = was.Stay.RanAt.Add(time.Millisecond) // no two have one key
		}
		if o := was.Offer; o != nil && o.Version == r.Running {
			r.Stay.RolloutID, r.Stay.ToldAt = o.RolloutID, &o.ToldAt
		}
	}
	if n := len(was.ended(*r, at)); n > 0 {
		today := was.Kept.on(at)
		kept := min(n, mostStays-today.N)
		if kept > 0 {
			today.Lost = 0
		}
		today.N, today.Lost = today.N+kept, today.Lost+n-kept
		r.Kept = &today
	}
}

// on is what was kept on the day of a time.
func (k *Kept) on(at time.Time) (today Kept) {
	if k != nil {
		today = *k
	}
	if day := at.UTC().Format(time.DateOnly); today.Day != day {
		today.Day, today.N = day, 0
	}
	return today
}

// past is what is kept of what ends with a change of the row. What a registration ends is always kept.
func (r Row) past(next Row, at time.Time) []Spell {
	ended, today := r.ended(next, at), r.Kept.on(at)
	if r.ends(next) == Replaced {
		ended = ended[:min(len(ended), mostStays-today.N)]
	}
	if len(ended) > 0 {
		ended[0].Lost = today.Lost
	}
	return ended
}

// Lasting is what the box runs, and what it was told and has not run.
func (r Row) Lasting() []Spell {
	list := r.ended(Row{Retired: true}, time.Time{})
	for i := range list {
		list[i].EndedAt, list[i].End = nil, ""
	}
	return list
}

// ended is what ends with a change of the row.
func (r Row) ended(next Row, at time.Time) (ended []Spell) {
	o, end := r.Offer, r.ends(next)
	p := Spell{EdgeID: r.EdgeID, EdgeType: r.EdgeType, OrganizationID: r.OrganizationID, FactoryID: r.FactoryID, Channel: r.Channel, EndedAt: &at, End: end}
	if s := r.Stay; s != nil && s.Version == r.Running && (end != Replaced || next.Stay == nil || next.Stay.Version != s.Version) {
		ran := p
		ran.Version, ran.RolloutID, ran.ToldAt, ran.RanAt = s.Version, s.RolloutID, s.ToldAt, &s.RanAt
		if o != nil && o.Version == s.Version {
			ran.Code = o.Code
			if next.Offer != nil && next.Offer.Is(*o) {
				ran.Code = next.Offer.Code // the call that ends the stay says that the box fell back
			}
		}
		ended = append(ended, ran)
	}
	if o != nil && o.neverRan(r) && next.neverRuns(*o, end) {
		told := p
		told.Version, told.RolloutID, told.ToldAt, told.Code = o.Version, o.RolloutID, &o.ToldAt, o.Code
		ended = append(ended, told)
	}
	return ended
}

// neverRuns reports whether an offer that the box has not run is not the row's any more, and has not become what it runs.
func (r Row) neverRuns(o Offer, end End) bool {
	return end != Replaced || (r.Offer == nil || !r.Offer.Is(o)) && r.Running != o.Version
}

// neverRan reports whether the box was told a version that it has not run since.
func (o Offer) neverRan(r Row) bool {
	return o.State != Installed && o.State != Reverted && r.Running != o.Version
}

// ends is why what the row has ends with another one.
func (r Row) ends(next Row) End {
	switch {
	case next.Retired:
		return Gone
	case r.starts(next.EdgeType):
		return Retyped
	case r.OrganizationID != next.OrganizationID:
		return Moved
	}
	return Replaced
}

// Ending are the parts of a transaction that keep what ends with a change of a row: a trace, and the box's history.
func (s *Store) Ending(was, next Row, at time.Time) []dynamo.TransactItem {
	parts := s.trace(was, next, at)
	for _, p := range was.past(next, at) {
		parts = append(parts, dynamo.TransactNew("stay", dynamo.Stays, p.Past(), dynamo.Condition{}))
	}
	return parts
}

// History returns a page of what a box ran and was told, the newest first, before a position of it; see Spell.Began. row is
// the box's row. An organization sees what is its own; "" sees all.
func (s *Store) History(ctx context.Context, edgeID string, row Row, organizationID, before string, limit int) (page dynamo.Page[Spell], err error) {
	var list []Spell
	for _, p := range row.Lasting() {
		if (before == "" || p.Began() < before) && (organizationID == "" || p.OrganizationID == organizationID) {
			list = append(list, p)
		}
	}
	of := dynamo.Selection{Table: dynamo.Stays, Partition: edgeID, Descending: true}
	if before != "" {
		of.Least, of.Most = "0", before
	}
	read := 0
	err = dynamo.Walk(ctx, s.db, of, nil, limit+2, func(p Past) error {
		if p.Spell.Began() == before || organizationID != "" && p.OrganizationID != organizationID {
			return nil
		}
		list = append(list, p.Spell)
		if read++; read > limit {
			return dynamo.ErrEnough
		}
		return nil
	})
	slices.SortStableFunc(list, func(a, b Spell) int { return strings.Compare(b.Began(), a.Began()) })
	page.Items, page.More = list[:min(len(list), limit)], len(list) > limit
	return page, err
}

// WasTold reports whether a box was told one of some versions, as far as its history is kept.
func (s *Store) WasTold(ctx context.Context, row Row, versions []string) (told bool, err error) {
	was := func(version string, at *time.Time) bool { return at != nil && slices.Contains(versions, version) }
	if told = slices.Contains(versions, row.Told); told {
		return true, nil
	}
	for _, p := range row.Lasting() {
		told = told || was(p.Version, p.ToldAt)
	}
	if told {
		return true, nil
	}
	err = dynamo.Walk(ctx, s.db, dynamo.Selection{Table: dynamo.Stays, Partition: row.EdgeID}, nil, 0, func(p Past) error {
		if told = told || was(p.Version, p.ToldAt) || p.Lost > 0; told {
			return dynamo.ErrEnough
		}
		return nil
	})
	return told, err
}

// IsBegan reports whether a text is a position in a box's history.
func IsBegan(text string) bool {
	at, how, _ := strings.Cut(text, separator)
	began, err := time.Parse(time.RFC3339Nano, at)
	return err == nil && timestamp.Text(began) == at && (how == "ran" || how == "told")
}

// EverRan returns a page of the spells of a version that have ended, by organization and box, after a position, or from the
// start. An organization sees what is its own; "" sees all.
func (s *Store) EverRan(ctx context.Context, edgeType, version, organizationID, position string, limit int) (page dynamo.Page[Past], err error) {
	shard, place := 0, ""
	if position != "" {
		number, rest, _ := strings.Cut(position, separator)
		if shard, err = strconv.Atoi(number); err != nil {
			return page, err
		}
		place = rest
	}
	read := func(ctx context.Context, shard int, place string) ([]Past, error) {
		of := dynamo.Selection{Table: dynamo.Stays, Index: "byVersion", Partition: stayShards.At(edgeType+"/"+version, shard)}
		if organizationID != "" {
			of.Least, of.Most = organizationID+separator, organizationID+separator+"~"
		}
		found, err := dynamo.List[Past](ctx, s.db, of, dynamo.Span{Limit: limit + 1, After: place})
		return found.Items, err
	}
	if place != "" { // most pages end in the shard in which they begin
		if page.Items, err = read(ctx, shard, place); err != nil {
			return page, err
		}
		shard++
	}
	if len(page.Items) <= limit {
		found := make([][]Past, int(stayShards)-shard)
		var reads []func(context.Context) error
		for i := range found {
			reads = append(reads, func(ctx context.Context) (err error) { found[i], err = read(ctx, shard+i, ""); return err })
		}
		if err := dynamo.Together(ctx, reads...); err != nil {
			return page, err
		}
		page.Items = append(page.Items, slices.Concat(found...)...)
	}
	if page.More = len(page.Items) > limit; page.More {
		page.Items = page.Items[:limit]
	}
	return page, nil
}

// Ran counts the boxes that ran a version before: their spells have ended.
type Ran struct {
	AsOf  time.Time `json:"asOf"`
	Boxes int       `json:"boxes"`
	First *Began    `json:"first,omitempty"` // the first one that ran it
	Last  *Began    `json:"last,omitempty"`  // the last one that began to run it
}

// Began is when a box first said that it runs a version.
type Began struct {
	EdgeID string    `json:"edgeId"`
	RanAt  time.Time `json:"ranAt"`
}

// before is the earlier one of two.
func (b *Began) before(other *Began) *Began {
	if b == nil || other != nil && other.RanAt.Before(b.RanAt) {
		return other
	}
	return b
}

// after is the later one of two.
func (b *Began) after(other *Began) *Began {
	if b == nil || other != nil && other.RanAt.After(b.RanAt) {
		return other
	}
	return b
}

// Ran counts the boxes that ran a version before. It reads all of its spells that have ended.
func (s *Store) Ran(ctx context.Context, edgeType, version string) (Ran, error) {
	type spell struct {
		EdgeID string     `json:"edgeId"`
		RanAt  *time.Time `json:"ranAt"`
	}
	sum, parts := Ran{AsOf: s.db.Now()}, make([]Ran, stayShards)
	var reads []func(context.Context) error
	for i := range parts {
		reads = append(reads, func(ctx context.Context) error {
			boxes := map[string]bool{} // all spells of a box are in one shard
			of := dynamo.Selection{Table: dynamo.Stays, Index: "byVersion", Partition: stayShards.At(edgeType+"/"+version, i)}
			err := dynamo.Walk(ctx, s.db, of, nil, 0, func(p spell) error {
				if p.RanAt != nil {
					began := &Began{p.EdgeID, *p.RanAt}
					boxes[p.EdgeID], parts[i].First, parts[i].Last = true, parts[i].First.before(began), parts[i].Last.after(began)
				}
				return nil
			})
			parts[i].Boxes = len(boxes)
			return err
		})
	}
	err := dynamo.Together(ctx, reads...)
	for _, p := range parts {
		sum.Boxes, sum.First, sum.Last = sum.Boxes+p.Boxes, sum.First.before(p.First), sum.Last.after(p.Last)
	}
	return sum, err
}

// PositionOf is the position of a spell among those of its version, and IsPositionOf whether a text is one.
func PositionOf(p Past) string {
	_, number, _ := strings.Cut(p.Shard, separator)
	return number + separator + p.Place
}

// IsPositionOf reports whether a text is a position among the spells of a version.
func IsPositionOf(text string) bool {
	number, place, _ := strings.Cut(text, separator)
	shard, err := strconv.Atoi(number)
	return err == nil && shard >= 0 && shard < int(stayShards) && strings.Count(place, separator) == 3
}
