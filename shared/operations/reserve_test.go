package operations_test

import (
	"slices"
	"testing"

	"wavegate/shared/operations"
)

// TestTable_TheReserve_ServesWhatMustGetThrough: halts, withdrawals and a platform owner's calls on limits.
func TestTable_TheReserve_ServesWhatMustGetThrough(t *testing.T) {
	var got []string
	for _, op := range operations.Table {
		if op.Limit == operations.Reserved {
			got = append(got, op.ID)
		}
	}
	slices.Sort(got)
	want := []string{"delete-rate-limit", "get-rate-limit", "put-rate-limit", "update-method-version", "update-rollout"}
	if !slices.Equal(got, want) {
		t.Errorf("the reserve serves %v, want %v", got, want)
	}
}
