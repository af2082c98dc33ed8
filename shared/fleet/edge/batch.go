package edge

import (
	"context"
	"encoding/json"
	"time"

	"wavegate/shared/fleet/bell"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/problem"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/change"
	"wavegate/shared/trail/idempotency"
)

// BatchCounts counts the boxes of a batch by what happened to them.
type BatchCounts struct {
	Registered int `json:"registered"` // new, or registered again
	Reassigned int `json:"reassigned"`
	Unchanged  int `json:"unchanged"`
	// TakenOver and Items are only for a batch that takes boxes over.
	TakenOver int         `json:"takenOver,omitempty"`
	Items     []BatchMove `json:"items,omitempty"`
}

// A BatchMove is what happened to one box.
type BatchMove struct {
	EdgeID  string `json:"edgeId"`
	Outcome string `json:"outcome"` // registered, reassigned, takenOver or unchanged
}

// PutAll registers or moves the boxes of a batch, all in one transaction or none. A claim that was used before changes
// nothing and returns the counts of its first use. The check runs with the reads, but refuses only after the claim was
// read. PutAll returns NOT_FOUND and FORBIDDEN like Put, what the check returns, errors of Enter,
// and CONFLICT if a box keeps changing.
func (r *Registry) PutAll(ctx context.Context, from audit.Origin, batch []BatchItem, claim idempotency.Claim,
	check func(context.Context) (refusal, err error)) (tally BatchCounts, err error) {
	for _, m := range batch {
		if err := m.mayBeSaid(r.caller); err != nil {
			return tally, err
		}
	}
	var called []bell.Call
	arrivals := ArrivalsBy(RegistrarOf(r.caller))
	err = change.Make(ctx, r.db, from, func(set *change.Set) error {
		called = nil
		var first string
		var repeated bool
		var refusal error
		was, err := r.findAll(ctx, batch,
			func(ctx context.Context) (err error) { first, repeated, err = claim.First(ctx, r.db); return err },
			func(ctx context.Context) (err error) { refusal, err = check(ctx); return err })
		switch {
		case err != nil:
			return err
		case repeated:
			return json.Unmarshal([]byte(first), &tally)
		case refusal != nil:
			return refusal
		}
		batch, err := r.pinAll(ctx, batch, was, from.Actor.Person(), set.After(time.Time{}))
		if err != nil {
			return err
		}
		leaving, err := r.leave(ctx, set, batch, was)
		if err != nil {
			return err
		}
		grouped, err := r.regroupAll(ctx, set, batch, was)
		if err != nil {
			return err
		}
		moved, err := r.move(set, batch, was, leaving+grouped)
		if err != nil {
			return err
		}
		tally, called = moved.tally, moved.called
		if err := r.Enter(ctx, arrivals, moved.arriving...); err != nil {
			return err
		}
		result, err := json.Marshal(tally)
		if err != nil {
			return err
		}
		set.With(claim.Parts(string(result), set.After(time.Time{}))...)
		return nil
	})
	if err == nil {
		r.bells.Ring(ctx, called...)
	}
	return tally, err
}

// mostWrites is how many of a transaction's 100 writes the boxes of a batch may take.
const mostWrites = 96

// A moving is what a batch does to its boxes.
type moving struct {
	tally    BatchCounts
	called   []bell.Call
	arriving []Edge
}

// move adds the changes of a batch to a set. leaving is how many parts about factories and groups are in it already.
func (r *Registry) move(set *change.Set, batch []BatchItem, was []Stored, leaving int) (done moving, err error) {
	ended := 0
	for i, m := range batch {
		next, _, event := was[i].Edge.assign(m.EdgeID, m.Assignment, was[i].Row.Tokens, set.After(was[i].Edge.UpdatedAt))
		if event != "" {
			if err := mayAssign(r.caller, was[i].Edge, next, was[i].Row); err != nil {
				return done, err
			}
		}
		if arrives(was[i].Edge, next) {
			done.arriving = append(done.arriving, next)
		}
		if event != "" {
			ended += len(r.reports.Ending(was[i].Row, was[i].Row.Registered(next.Registration()), next.UpdatedAt))
		}
		if event != "" && was[i].Edge.Exists() && was[i].Edge.OrganizationID != next.OrganizationID {
			leaving++ // the event for its former organization
		}
		event, calls := r.Record(set, m, was[i])
		done.tally.count(m, event)
		done.called = append(done.called, calls...)
	}
	if 3*len(batch)+ended+leaving > mostWrites {
		return done, problem.New(problem.Conflict, "The call would make %d writes, and a transaction has %d: three a box, and one for each offer of a rollout "+
			"that a box loses, each version that its history keeps, each box that changes its organization, and each group and factory that changes. Send at most %d boxes in one call.", 3*len(batch)+ended+leaving, mostWrites, mostWrites/7)
	}
	return done, nil
}

// findAll reads the boxes of a batch, in parallel with other reads.
func (r *Registry) findAll(ctx context.Context, batch []BatchItem, reads ...func(context.Context) error) ([]Stored, error) {
	found := make([]Stored, len(batch))
	for i, m := range batch {
		reads = append(reads, func(ctx context.Context) (err error) { found[i], err = r.Find(ctx, m.EdgeID); return err })
	}
	return found, dynamo.Together(ctx, reads...)
}

// leave adds the conditions on which boxes of a batch leave their factories, and returns how many they are.
func (r *Registry) leave(ctx context.Context, set *change.Set, batch []BatchItem, was []Stored) (added int, err error) {
	left := map[string]bool{}
	for i, m := range batch {
		before := was[i].Edge
		next, _, _ := before.assign(m.EdgeID, m.Assignment, was[i].Row.Tokens, set.After(before.UpdatedAt))
		conditions, err := r.left(ctx, before, next)
		if err != nil {
			return 0, err
		}
		if len(conditions) > 0 && !left[before.FactoryID] {
			left[before.FactoryID] = true
			set.With(conditions...)
			added += len(conditions)
		}
	}
	return added, nil
}

// A Stored holds all that is stored of a box; it is zero if nothing is.
type Stored struct {
	Edge Edge
	Row  report.Row
}

// Find reads a box, strongly consistent.
func (r *Registry) Find(ctx context.Context, id string) (f Stored, err error) {
	err = dynamo.Together(ctx,
		func(ctx context.Context) error {
			_, err := r.db.Get(ctx, dynamo.Edges, key(id), &f.Edge)
			return err
		},
		func(ctx context.Context) (err error) {
			f.Row, err = r.reports.Get(ctx, id)
			return err
		})
	return f, err
}

// Record adds an assignment's change to a box to a set of changes. It returns the name of the event, empty if nothing
// changes, and the boxes to call once the set is written; see Ring.
func (r *Registry) Record(set *change.Set, m BatchItem, f Stored) (event string, called []bell.Call) {
	next, has, event := f.Edge.assign(m.EdgeID, m.Assignment, f.Row.Tokens, set.After(f.Edge.UpdatedAt))
	if event == "" {
		return "", nil
	}
	change.Record(set, r.along(&f.Row, &has), f.Edge, next, event)
	return event, r.calls(f.Edge, next)
}

// Ring calls boxes after their changes were written.
func (r *Registry) Ring(ctx context.Context, called ...bell.Call) { r.bells.Ring(ctx, called...) }

func (t *BatchCounts) count(m BatchItem, event string) {
	outcome, number := "unchanged", &t.Unchanged
	switch event {
	case registered:
		outcome, number = "registered", &t.Registered
	case reassigned:
		outcome, number = "reassigned", &t.Reassigned
	case takenOver:
		outcome, number = "takenOver", &t.TakenOver
	}
	*number++
	if m.TakeOver {
		t.Items = append(t.Items, BatchMove{m.EdgeID, outcome})
	}
}
