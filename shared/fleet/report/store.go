package report

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
)

// A Store stores a row per box.
type Store struct {
	db     *dynamo.DB
	shards Shards
}

// NewStore makes a store.
func NewStore(db *dynamo.DB, shards Shards) *Store { return &Store{db, shards} }

// index orders the rows of a release channel by their stateKey.
const index = "byState"

// item is a row with the keys and copies for the index.
type item struct {
	Row
	Shard     string      `json:"shard"`
	StateKey  string      `json:"stateKey"`
	RolloutID string      `json:"rolloutId,omitempty"`
	Code      FailureCode `json:"code,omitempty"`
	Since     *time.Time  `json:"since,omitempty"`
}

func key(edgeID string) dynamo.Key { return dynamo.Key{"edgeId": edgeID} }

// Get returns a box's row, strongly consistent; its Revision is 0 if there is none.
func (s *Store) Get(ctx context.Context, edgeID string) (row Row, err error) {
	_, err = s.db.Get(ctx, dynamo.Reports, key(edgeID), &row)
	return row, err
}

// GetEventually is Get at half the price: the read is eventually consistent.
func (s *Store) GetEventually(ctx context.Context, edgeID string) (row Row, err error) {
	_, err = s.db.GetEventually(ctx, dynamo.Reports, key(edgeID), &row)
	return row, err
}

// Save writes a row that Next made of another, outside any transaction. It is refused (dynamo.ConditionError) if the
// row has changed meanwhile.
func (s *Store) Save(ctx context.Context, was, next Row) error {
	return s.db.Put(ctx, dynamo.Reports, was, s.item(next), dynamo.AtRevision("edgeId", was.Revision))
}

// ErrOutdated means that an event was decided with an outdated registration of the box, read from a lagging replica. A
// later call uses the right one.
var ErrOutdated = errors.New("report: the box was registered again meanwhile")

// Observe applies an event to a box's row with Next, and returns the resulting row. The registration is the one that
// the event was decided with. If the row changes meanwhile, Observe tries again, at most three times. It returns
// UNAVAILABLE if it cannot tell whether the event was applied, because no event may count twice. What is beside is written
// in the same transaction.
func (s *Store) Observe(ctx context.Context, g Registration, e Input, beside ...dynamo.TransactItem) (row Row, err error) {
	var tried int64 // the revision that the last try wrote, if the store applied it
	err = dynamo.Decide(ctx, func() error {
		was, err := s.Get(ctx, g.EdgeID)
		if err != nil {
			return err
		}
		if was.Revision == 0 {
			// The box was registered before there were rows.
			was = Row{}.Registered(g)
			was.Revision = 0
		}
		if !was.EdgeAt.Equal(g.At) {
			return ErrOutdated
		}
		if tried > 0 && was.Revision > tried {
			// The client sends a write again if its answer is lost, and the second one is refused. So the row may have had
			// this event before it had the later ones.
			return problem.New(problem.Unavailable, "The box's state changed several times at this moment; try again after the given time.").After(time.Second)
		}
		next, changed := Next(was, e)
		row = next
		if !changed {
			return nil
		}
		tried = next.Revision
		if parts := append(s.Trace(was, next, e.When()), beside...); parts != nil {
			return s.db.Commit(ctx, append(parts, s.Part(was, next))...)
		}
		return s.Save(ctx, was, next)
	})
	return row, err
}

// Part is the part of a registration's transaction that writes the box's row; see Row.Registered.
func (s *Store) Part(was, next Row) dynamo.TransactItem {
	unchanged := dynamo.AtRevision("edgeId", was.Revision)
	if was.starts(next.EdgeType) { // nothing of the row stays, not even what a newer version of the service wrote
		return dynamo.TransactNew("report", dynamo.Reports, s.item(next), unchanged)
	}
	return dynamo.TransactPut("report", dynamo.Reports, was, s.item(next), unchanged)
}

func (s *Store) item(r Row) item {
	e := r.Entry()
	i := item{Row: r, Shard: s.shards.Of(r.pair(), r.EdgeID), StateKey: e.StateKey(), RolloutID: e.RolloutID, Code: e.Code}
	if r.Offer != nil {
		i.Since = &e.Since
	}
	return i
}

// indexed is the part of a row in the index.
type indexed struct {
	EdgeID         string      `json:"edgeId"`
	StateKey       string      `json:"stateKey"`
	Running        string      `json:"running"`
	RolloutID      string      `json:"rolloutId"`
	FactoryID      string      `json:"factoryId"`
	OrganizationID string      `json:"organizationId"`
	Code           FailureCode `json:"code"`
	Since          time.Time   `json:"since"`
}

func (x indexed) entry() (IndexEntry, error) {
	e, err := IndexEntryOf(x.StateKey)
	e.Running, e.RolloutID, e.FactoryID, e.OrganizationID = x.Running, x.RolloutID, x.FactoryID, x.OrganizationID
	if e.Code, e.Since = x.Code, x.Since; e.Trace {
		e.TraceID = x.EdgeID
	}
	return e, err
}

// Shards is the number of partitions of a channel's rows.
func (s *Store) Shards() int { return int(s.shards) }

// Each calls a function with each box of one partition of a release channel, in no particular order. It reads an index
// that lags behind the rows, usually by less than a second. For a box that cannot be read it calls unreadable, and
// continues with the others.
func (s *Store) Each(ctx context.Context, pair string, shard int, each func(IndexEntry), unreadable func(error)) error {
	of := dynamo.Selection{Table: dynamo.Reports, Index: index, Partition: s.shards.At(pair, shard)}
	return dynamo.WalkReadable(ctx, s.db, of, func(x indexed) error {
		e, err := x.entry()
		if err != nil {
			unreadable(fmt.Errorf("report: box %s: %w", x.EdgeID, err))
			return nil
		}
		each(e)
		return nil
	}, func(id string, err error) { unreadable(fmt.Errorf("report: box %s: %w", id, err)) })
}

// A Search selects the boxes in a state with what a rollout offered.
type Search struct {
	Pair      string // of the rollout's channel
	RolloutID string
	Version   string
	State     State
}

// open parses a position: the shard, and the key after which to continue.
func (s *Store) open(q Search, position string) (shard int, after string, ok bool) {
	number, stateKey, _ := strings.Cut(position, separator)
	shard, err := strconv.Atoi(number)
	if err != nil || shard < 0 || shard >= int(s.shards) || !strings.HasPrefix(stateKey, StatePrefix(q.Version, q.State)) {
		return 0, "", false
	}
	e, err := IndexEntryOf(stateKey)
	return shard, stateKey, err == nil && e.EdgeID != ""
}

// IsPosition reports whether a text is a position in the search.
func (s *Store) IsPosition(q Search, position string) bool {
	_, _, ok := s.open(q, position)
	return ok
}

// Find returns a page of the boxes of a search. The boxes are found with an index that lags, and then read: boxes that have
// left the state meanwhile are skipped.
func (s *Store) Find(ctx context.Context, q Search, w dynamo.Span) (dynamo.Page[Row], error) {
	first, after := 0, ""
	if w.After != "" {
		var ok bool
		if first, after, ok = s.open(q, w.After); !ok {
			return dynamo.Page[Row]{}, fmt.Errorf("report: %q is not a position in the search", w.After)
		}
	}
	search, prefix := dynamo.NewSearch[Row](s.db, w, dynamo.MostLooked), StatePrefix(q.Version, q.State)
	for shard := first; shard < int(s.shards); shard, after = shard+1, "" {
		of := dynamo.Selection{Table: dynamo.Reports, Index: index, Partition: s.shards.At(q.Pair, shard), Least: prefix, Most: prefix + "~"}
		ends, err := dynamo.Look(ctx, search, of, after, 0, strconv.Itoa(shard)+separator, shard+1 < int(s.shards),
			func(ctx context.Context, found []indexed) ([]*Row, error) { return s.shown(ctx, q, found) })
		if err != nil || ends {
			return search.Page(), err
		}
	}
	return search.Page(), nil
}

// shown are the rows of those boxes that are in the search.
func (s *Store) shown(ctx context.Context, q Search, found []indexed) ([]*Row, error) {
	var ids []string
	for _, x := range found {
		if x.RolloutID == q.RolloutID {
			ids = append(ids, x.EdgeID)
		}
	}
	rows, err := s.GetAll(ctx, ids)
	shown := make([]*Row, len(found))
	for i, x := range found {
		row := rows[x.EdgeID]
		delete(rows, x.EdgeID) // it counts once
		if o := row.Counted(); o.RolloutID == q.RolloutID && o.State == q.State && row.pair() == q.Pair {
			shown[i] = &row
		}
	}
	return shown, err
}

// GetAll reads the rows of boxes, and returns those that there are, by box. By the id of a trace, it returns a row with the
// attributes of the trace.
func (s *Store) GetAll(ctx context.Context, ids []string) (map[string]Row, error) {
	var keys []dynamo.Key
	asked := map[string]bool{}
	for _, id := range ids {
		if !asked[id] { // a box that moves in the index while it is read is there twice
			keys, asked[id] = append(keys, key(id)), true
		}
	}
	list, err := dynamo.GetAll[Row](ctx, s.db, dynamo.Reports, keys)
	rows := make(map[string]Row, len(list))
	for _, row := range list {
		rows[row.EdgeID] = row
	}
	return rows, err
}
