package main

import (
	"strings"
	"testing"
	"time"

	"wavegate/infra/recovery"
	"wavegate/scripts/lab/proof/ledger"
	"wavegate/shared/platform/dynamo"
)

func TestRead_TakesTheTablesOfTheStageAlone(t *testing.T) {
	names, err := read(strings.NewReader("/wavegate/prod/tables/edges\twavegate-prod-edges-1\n/wavegate/prod/pool/id\teu-1\n/wavegate/test/tables/audit\tx\n"), "prod")
	if err != nil || len(names) != 1 || names[dynamo.Edges] != "wavegate-prod-edges-1" {
		t.Errorf("it read %v, %v", names, err)
	}
}

func TestTell_SaysTheSetting(t *testing.T) {
	var out strings.Builder
	if err := tell(&out, "prod", recovery.Names{dynamo.Edges: "e-2"}, ledger.Books{}); err != nil {
		t.Errorf("%v: %s", err, out.String())
	}
	if !strings.Contains(out.String(), `"restoredTables": {"edges":"e-2"}`) || !strings.Contains(out.String(), "tell one story") {
		t.Errorf("it says %s", out.String())
	}
}

// TestTell_OfTablesThatDisagree_IsAFailure: a thing without an event is of another moment than the trail.
func TestTell_OfTablesThatDisagree_IsAFailure(t *testing.T) {
	var out strings.Builder
	books := ledger.Books{dynamo.Factories: {{"factoryId": "munich-1", "revision": 1.0, "updatedAt": time.Now().Format(time.RFC3339)}}}
	if err := tell(&out, "prod", nil, books); err == nil || !strings.Contains(out.String(), "WRONG: ") {
		t.Errorf("%v: %s", err, out.String())
	}
}

func TestRun_WithoutAMoment_IsRefused(t *testing.T) {
	for _, args := range [][]string{nil, {"--stage", "prod"}, {"--at", "2026-03-01T12:00:00Z"}, {"--stage", "prod", "--at", "yesterday"}} {
		if err := run(t.Context(), args, strings.NewReader(""), &strings.Builder{}); err == nil {
			t.Errorf("%v passes", args)
		}
	}
}
