package recovery_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"wavegate/infra/recovery"
	"wavegate/shared/platform/dynamo"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func stage() recovery.Names {
	names := recovery.Names{}
	for _, t := range dynamo.Tables {
		names[t.ID] = "old-" + string(t.ID)
	}
	return names
}

// TestPlan_BringsBackWhatBelongsTogether: all tables with a history, an empty table of idempotency records, and
// the counters and calls not at all.
func TestPlan_BringsBackWhatBelongsTogether(t *testing.T) {
	plan, err := recovery.Plan("prod", stage(), noon)
	if err != nil {
		t.Fatal(err)
	}
	if len(plan) != len(dynamo.Tables)-2 {
		t.Errorf("%d of %d tables come back", len(plan), len(dynamo.Tables))
	}
	for _, one := range plan {
		if one.ID == dynamo.RateCounters || one.ID == dynamo.Bells || one.Empty != (one.ID == dynamo.Idempotency) || one.From != "old-"+string(one.ID) ||
			one.To != "wavegate-prod-"+string(one.ID)+"-20260301T120000" {
			t.Errorf("it has %+v", one)
		}
	}
}

func TestPlan_OfAStageWithoutATable_IsNone(t *testing.T) {
	names := stage()
	delete(names, dynamo.Releases)
	if _, err := recovery.Plan("prod", names, noon); err == nil || !strings.Contains(err.Error(), "no table releases") {
		t.Errorf("the error is %v", err)
	}
}

type failing struct {
	mu    sync.Mutex
	asked int
}

func (f *failing) Restore(_ context.Context, t recovery.Restoration, _ time.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	if t.ID == dynamo.Edges || t.ID == dynamo.Audit {
		return errors.New("no history")
	}
	return nil
}

func TestRestore_NamesEveryTableThatFails(t *testing.T) {
	plan, err := recovery.Plan("prod", stage(), noon)
	if err != nil {
		t.Fatal(err)
	}
	f := &failing{}
	err = recovery.Restore(t.Context(), f, plan, noon)
	if f.asked != len(plan) || err == nil || !strings.Contains(err.Error(), "old-edges") || !strings.Contains(err.Error(), "old-audit") {
		t.Errorf("%d were asked for, and the error is %v", f.asked, err)
	}
}
