package recovery_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"wavegate/infra/recovery"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/expect"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func stage() recovery.Names {
	names := recovery.Names{}
	for _, t := range dynamo.Tables {
		names[t.ID] = "old-" + string(t.ID)
	}
	return names
}

// TestPlan_BringsBackWhatBelongsTogether: all tables with a history, and an empty table of idempotency records,
// but not the counters and the bell's calls.
func TestPlan_BringsBackWhatBelongsTogether(t *testing.T) {
	plan := expect.Value(recovery.Plan("prod", stage(), noon))(t)
	expect.That(t, len(plan) == len(dynamo.Tables)-2, "%d of %d tables come back", len(plan), len(dynamo.Tables))
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
	_, err := recovery.Plan("prod", names, noon)
	expect.That(t, err != nil && strings.Contains(err.Error(), "no table releases"), "the error is %v", err)
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
	expect.OK(t, err)
	f := &failing{}
	err = recovery.Restore(t.Context(), f, plan, noon)
	if f.asked != len(plan) || err == nil || !strings.Contains(err.Error(), "old-edges") || !strings.Contains(err.Error(), "old-audit") {
		t.Errorf("%d were requested, and the error is %v", f.asked, err)
	}
}

// TestFit_YoungerTables_ComeUpEmpty: a later release added them.
func TestFit_YoungerTables_ComeUpEmpty(t *testing.T) {
	plan := expect.Value(recovery.Plan("prod", stage(), noon))(t)
	now := noon.Add(time.Hour)
	past := func(change func(map[dynamo.TableID]recovery.Past)) map[dynamo.TableID]recovery.Past {
		pasts := map[dynamo.TableID]recovery.Past{}
		for _, one := range plan {
			pasts[one.ID] = recovery.Past{Made: noon.Add(-time.Hour), Latest: now.Add(-5 * time.Minute)}
		}
		change(pasts)
		return pasts
	}
	for name, c := range map[string]struct {
		pasts map[dynamo.TableID]recovery.Past
		now   time.Time
		empty []dynamo.TableID // in addition to the idempotency records
		says  string           // of the error; empty: there is none
	}{
		"all are older": {past(func(map[dynamo.TableID]recovery.Past) {}), now, nil, ""},
		"one is younger": {past(func(p map[dynamo.TableID]recovery.Past) {
			p[dynamo.Enrolments] = recovery.Past{Made: noon.Add(time.Minute)}
		}),
			now, []dynamo.TableID{dynamo.Enrolments}, ""},
		"one has no recovery": {past(func(p map[dynamo.TableID]recovery.Past) { p[dynamo.Edges] = recovery.Past{Made: noon.Add(-time.Hour)} }),
			now, nil, "old-edges has no point-in-time recovery"},
		"a moment that is too new": {past(func(p map[dynamo.TableID]recovery.Past) {
			p[dynamo.Edges] = recovery.Past{Made: noon.Add(-time.Hour), Latest: noon.Add(-time.Minute)}
		}), now, nil, "can be restored is 2026-03-01T11:59:00Z"},
		"a moment that is too old": {past(func(map[dynamo.TableID]recovery.Past) {}), noon.Add(36 * 24 * time.Hour), nil, "restore a backup"},
	} {
		t.Run(name, func(t *testing.T) {
			fitted, says, err := recovery.Fit(plan, c.pasts, noon, c.now)
			if (c.says == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Fatalf("the error is %v, want %q", err, c.says)
			}
			expect.Equal(t, len(says), len(c.empty), "it says %v", says)
			for _, one := range fitted {
				expect.Equal(t, one.Empty, one.ID == dynamo.Idempotency || slices.Contains(c.empty, one.ID), "%s is empty", one.ID)
			}
		})
	}
}

// TestFit_TableThatARestoreMade_IsNotTakenForANewOne: it would start empty, although the earlier table has the items.
func TestFit_TableThatARestoreMade_IsNotTakenForANewOne(t *testing.T) {
	names := stage()
	names[dynamo.Edges] = "wavegate-prod-edges-20260301T110000"
	plan := expect.Value(recovery.Plan("prod", names, noon))(t)
	pasts := map[dynamo.TableID]recovery.Past{}
	for _, one := range plan {
		pasts[one.ID] = recovery.Past{Made: noon.Add(time.Minute)}
	}
	if _, _, err := recovery.Fit(plan, pasts, noon, noon.Add(time.Hour)); err == nil || !strings.Contains(err.Error(), "--from edges=NAME") {
		t.Errorf("the error is %v", err)
	}
}
