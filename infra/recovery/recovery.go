// Package recovery brings a stage's tables back to a moment, all that belong together, under new names.
package recovery

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"wavegate/shared/platform/dynamo"
)

// Names are the names of tables.
type Names map[dynamo.TableID]string

// A Restoration is one that is brought back.
type Restoration struct {
	dynamo.Table
	// From is the name of the table as it is, and To that of the new one.
	From, To string
	// Empty tells that the new one holds nothing: its table has no history.
	Empty bool
}

// Together are the tables that a restore brings back at once: all but the limiter's counters and the bell's calls. Every change writes its
// event with it, so a table of another moment than the audit table's tells another story. The idempotency records are
// not brought back but started empty: the old ones name what is gone.
func Together() []dynamo.Table {
	return slices.DeleteFunc(slices.Clone(dynamo.Tables), func(t dynamo.Table) bool { return t.ID == dynamo.RateCounters || t.ID == dynamo.Bells })
}

// Plan says which tables are brought back, and the names of the new ones.
func Plan(stage string, now Names, at time.Time) ([]Restoration, error) {
	var plan []Restoration
	for _, t := range Together() {
		from := now[t.ID]
		if from == "" {
			return nil, fmt.Errorf("the stage %s has no table %s; it has %v", stage, t.ID, slices.Sorted(maps.Keys(now)))
		}
		plan = append(plan, Restoration{Table: t, From: from, Empty: t.Ephemeral,
			To: fmt.Sprintf("wavegate-%s-%s-%s", stage, t.ID, at.UTC().Format("20060102T150405"))})
	}
	return plan, nil
}

// Restored are the names of the new tables.
func Restored(plan []Restoration) Names {
	names := Names{}
	for _, t := range plan {
		names[t.ID] = t.To
	}
	return names
}

// A Store brings tables back.
type Store interface {
	// Restore makes the table To as From was at the moment, or as an empty one, and returns when it can be read.
	Restore(ctx context.Context, t Restoration, at time.Time) error
}

// Restore brings all tables of a plan back to one moment.
func Restore(ctx context.Context, s Store, plan []Restoration, at time.Time) error {
	failed := make([]error, len(plan))
	var all sync.WaitGroup
	for i, t := range plan {
		all.Go(func() {
			if err := s.Restore(ctx, t, at); err != nil {
				failed[i] = fmt.Errorf("restore %s as %s: %w", t.From, t.To, err)
			}
		})
	}
	all.Wait()
	return errors.Join(failed...)
}
