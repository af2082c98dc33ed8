package contract_test

import (
	"reflect"
	"strings"
	"testing"

	"wavegate/shared/fleet/cohort"
	"wavegate/shared/platform/input"
	"wavegate/shared/platform/paging"
)

// TestLimits_InTheProse_AreTheCodes compares numbers that no schema can express.
func TestLimits_InTheProse_AreTheCodes(t *testing.T) {
	doc := document(t)
	prose := strings.Join(strings.Fields(doc.Info.Description+doc.Tags.Get("Problems").Description), " ")
	for says, holds := range map[string]bool{
		"of 16 KiB at most":                              input.MaxBody == 16<<10,
		"The body is over 16 KiB, or":                    input.MaxBody == 16<<10,
		"The offset is over 10,000.":                     paging.MaxOffset == 10_000,
		"A rollout goes through 1, 10, 50, 100 percent.": reflect.DeepEqual(cohort.Stages, []int{1, 10, 50, 100}),
		"nests deeper than 16 levels":                    input.MaxDepth == 16,
	} {
		if !strings.Contains(prose, says) || !holds {
			t.Errorf("the prose says %q: %v; the code agrees: %v", says, strings.Contains(prose, says), holds)
		}
	}
}
