// Package recovery brings a stage's tables back to a moment, all that belong together, under new names.
package recovery

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
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
	// Empty reports whether the new one holds nothing: it has no history, or there was no such table yet.
	Empty bool
}

// A Past is what of a table can be brought back.
type Past struct {
	Made time.Time
	// Latest is the newest moment that can be brought back, some minutes ago; zero if none can.
	Latest time.Time
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

// longest is how far back recovery goes.
const longest = 35 * 24 * time.Hour

// madeByRestore is how the name of a table ends that a restore made.
var madeByRestore = regexp.MustCompile(`-\d{8}T\d{6}$`)

// Fit compares a plan with what can be brought back. A table that is younger than the moment comes up empty: it was added by
// a release since. It says which those are, and every reason why the moment cannot be had.
func Fit(plan []Restoration, pasts map[dynamo.TableID]Past, at, now time.Time) (fitted []Restoration, says []string, err error) {
	var faults []error
	if now.Sub(at) > longest {
		faults = append(faults, fmt.Errorf("%s is more than %d days ago; restore a backup", at.Format(time.RFC3339), longest/(24*time.Hour)))
	}
	var latest time.Time
	for _, t := range plan {
		past := pasts[t.ID]
		switch {
		case t.Ephemeral:
		case past.Made.After(at) && madeByRestore.MatchString(t.From):
			faults = append(faults, fmt.Errorf("%s was restored itself, after that moment; give the table before it: --from %s=NAME", t.From, t.ID))
		case past.Made.After(at):
			t.Empty = true
			says = append(says, fmt.Sprintf("%s is younger than that moment, and comes up empty", t.ID))
		case past.Latest.IsZero():
			faults = append(faults, fmt.Errorf("%s has no point-in-time recovery", t.From))
		case past.Latest.Before(at) && (latest.IsZero() || past.Latest.Before(latest)):
			latest = past.Latest
		}
		fitted = append(fitted, t)
	}
	if !latest.IsZero() {
		faults = append(faults, fmt.Errorf("the newest moment that can be restored by now is %s", latest.UTC().Format(time.RFC3339)))
	}
	return fitted, says, errors.Join(faults...)
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
	// Restore makes the table To as From was at the moment, or as an empty one, with all settings of From, and returns when
	// it can be read.
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
