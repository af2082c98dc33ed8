package enrolment

import (
	"context"
	"slices"
	"time"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/trail/change"
)

// A Waiting is a box that waits to be accepted. A call with the same id and another hash makes another Waiting, so that
// nobody can swap the hash that a person has seen.
type Waiting struct {
	EdgeID      string    `json:"edgeId"`
	TokenSHA256 string    `json:"tokenSha256"`
	Since       time.Time `json:"since"`
}

func waitingKey(id string, p Pair) dynamo.Key {
	return key(id, waiting+p.EdgeID+"/"+p.TokenSHA256)
}

// write is the part of a transaction that stores the waiting box.
func (w Waiting) write(e Enrolment) dynamo.TransactItem {
	at := waitingKey(e.ID, Pair{w.EdgeID, w.TokenSHA256})
	return dynamo.TransactPut("waiting", dynamo.Enrolments, struct {
		Waiting
		ID      string `json:"id"`
		Part    string `json:"part"`
		Expires int64  `json:"expires"`
	}{w, at["id"], at["part"], e.expires()}, dynamo.Condition{})
}

// waits reports whether a box waits with an id and a hash.
func (s *Store) waits(ctx context.Context, id string, p Pair) (bool, error) {
	return s.db.Get(ctx, dynamo.Enrolments, waitingKey(id, p), new(Waiting))
}

// mostGone limits how many boxes are dropped at a time.
const mostGone = 50

// wait adds a waiting box to a set of changes, unless it waits already. The oldest ones are dropped.
func (s *Store) wait(ctx context.Context, set *change.Set, e Enrolment, p Pair) error {
	there, err := s.waits(ctx, e.ID, p)
	if err != nil || there {
		return err
	}
	all, err := s.allWaiting(ctx, e.ID)
	if err != nil {
		return err
	}
	set.With(Waiting{p.EdgeID, p.TokenSHA256, s.db.Now()}.write(e))
	for i, old := range all[min(MostBoxes-1, len(all)):] {
		if i < mostGone {
			set.With(dynamo.TransactDelete("gone", dynamo.Enrolments, waitingKey(e.ID, Pair{old.EdgeID, old.TokenSHA256}), dynamo.Condition{}))
		}
	}
	return nil
}

// allWaiting returns the waiting boxes, newest first.
func (s *Store) allWaiting(ctx context.Context, id string) ([]Waiting, error) {
	var all []Waiting
	of := dynamo.Selection{Table: dynamo.Enrolments, Partition: id, Least: waiting, Most: waiting + "~"}
	err := dynamo.Walk(ctx, s.db, of, nil, 0, func(w Waiting) error {
		all = append(all, w)
		return nil
	})
	slices.SortStableFunc(all, func(a, b Waiting) int { return b.Since.Compare(a.Since) })
	return all, err
}
