// Package recovery restores a deployment's tables to a moment, all together, under new names.
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

// A Restoration is a table to restore.
type Restoration struct {
	dynamo.Table
	// From is the name of the existing table, and To that of the new one.
	From, To string
	// Empty reports whether the new table is empty: the table has no history, or did not exist at the moment.
	Empty bool
}

// A Past is the period to which a table can be restored.
type Past struct {
	Made time.Time
	// Latest is the newest moment that can be restored, some minutes ago; zero if none can.
	Latest time.Time
}

// Together are the tables that a restore restores to the same moment: all except the limiter's counters and the bell's
// calls. Every change writes its audit event in the same transaction, so a table of another moment would contradict the
// audit trail. The idempotency records start empty, because the old ones refer to things that are gone.
func Together() []dynamo.Table {
	return slices.DeleteFunc(slices.Clone(dynamo.Tables), func(t dynamo.Table) bool { return t.ID == dynamo.RateCounters || t.ID == dynamo.Bells })
}

// Plan lists the tables to restore, with the names of the new ones.
func Plan(stage string, now Names, at time.Time) ([]Restoration, error) {
	var plan []Restoration
	for _, t := range Together() {
		from := now[t.ID]
		if from == "" {
			return nil, fmt.Errorf("the deployment %s has no table %s; it has %v", stage, t.ID, slices.Sorted(maps.Keys(now)))
		}
		plan = append(plan, Restoration{Table: t, From: from, Empty: t.Ephemeral,
			To: fmt.Sprintf("wavegate-%s-%s-%s", stage, t.ID, at.UTC().Format("20060102T150405"))})
	}
	return plan, nil
}

// longest is how far back point-in-time recovery goes.
const longest = 35 * 24 * time.Hour

// madeByRestore matches the end of a restored table's name.
var madeByRestore = regexp.MustCompile(`-\d{8}T\d{6}$`)

// Fit compares a plan with what can be restored. A table that did not exist at the moment, because a later release added
// it, starts empty; says lists these. The error lists every reason why the moment cannot be restored.
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
			faults = append(faults, fmt.Errorf("%s was made by a restore after that moment; name the earlier table: --from %s=NAME", t.From, t.ID))
		case past.Made.After(at):
			t.Empty = true
			says = append(says, fmt.Sprintf("%s did not exist at that moment, and starts empty", t.ID))
		case past.Latest.IsZero():
			faults = append(faults, fmt.Errorf("%s has no point-in-time recovery", t.From))
		case past.Latest.Before(at) && (latest.IsZero() || past.Latest.Before(latest)):
			latest = past.Latest
		}
		fitted = append(fitted, t)
	}
	if !latest.IsZero() {
		faults = append(faults, fmt.Errorf("the newest moment that can be restored is %s", latest.UTC().Format(time.RFC3339)))
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

// A Store restores tables.
type Store interface {
	// Restore makes the table To with the content of From at the moment, or empty, and with all settings of From. It returns
	// when the table can be read.
	Restore(ctx context.Context, t Restoration, at time.Time) error
}

// Restore restores all tables of a plan to one moment.
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
