package edge

import (
	"context"
	"encoding/json"
	"time"

	"wavegate/shared/fleet/bell"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/trail/audit"
	"wavegate/shared/trail/change"
	"wavegate/shared/trail/idempotency"
)

// A BatchCounts counts what became of the boxes of a batch.
type BatchCounts struct {
	Registered int `json:"registered"` // new, or registered again
	Reassigned int `json:"reassigned"`
	Unchanged  int `json:"unchanged"`
}

// PutAll registers the boxes of a batch or assigns them anew, all in one transaction or none. A claim that
// was used before changes nothing and gives the first tally. The check is made with the reads, and refuses
// after the claim was looked at. PutAll returns what the check returns, and CONFLICT when a box keeps changing.
func (r *Registry) PutAll(ctx context.Context, from audit.Origin, batch []BatchItem, claim idempotency.Claim,
	check func(context.Context) (refusal, err error)) (tally BatchCounts, err error) {
	var called []bell.Call
	err = change.Make(ctx, r.db, from, func(set *change.Set) error {
		called = nil
		was := make([]stored, len(batch))
		var first string
		var repeated bool
		var refusal error
		reads := []func(context.Context) error{
			func(ctx context.Context) (err error) {
				first, repeated, err = claim.First(ctx, r.db)
				return err
			},
			func(ctx context.Context) (err error) {
				refusal, err = check(ctx)
				return err
			},
		}
		for i, m := range batch {
			reads = append(reads, func(ctx context.Context) error { return r.find(ctx, m.EdgeID, &was[i]) })
		}
		if err := dynamo.Together(ctx, reads...); err != nil {
			return err
		}
		switch {
		case repeated:
			return json.Unmarshal([]byte(first), &tally)
		case refusal != nil:
			return refusal
		}
		tally = BatchCounts{}
		for i, m := range batch {
			event, calls := r.record(set, m, was[i])
			tally.count(event)
			called = append(called, calls...)
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

// A stored is what is stored of a box.
type stored struct {
	edge Edge
	row  report.Row
}

func (r *Registry) find(ctx context.Context, id string, f *stored) error {
	return dynamo.Together(ctx,
		func(ctx context.Context) error {
			_, err := r.db.Get(ctx, dynamo.Edges, key(id), &f.edge)
			return err
		},
		func(ctx context.Context) (err error) {
			f.row, err = r.reports.Get(ctx, id)
			return err
		})
}

// record records what an assignment makes of a box, and returns the name of its event and whom to call then.
func (r *Registry) record(set *change.Set, m BatchItem, f stored) (event string, called []bell.Call) {
	next, has, event := f.edge.assign(m.EdgeID, m.Assignment, f.row.Tokens, set.After(f.edge.UpdatedAt))
	if event == "" {
		return "", nil
	}
	change.Record(set, r.along(&f.row, &has), f.edge, next, event)
	return event, calls(f.edge, next)
}

func (t *BatchCounts) count(event string) {
	switch event {
	case registered:
		t.Registered++
	case reassigned:
		t.Reassigned++
	default:
		t.Unchanged++
	}
}
