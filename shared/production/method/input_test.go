package method_test

import (
	"testing"

	"wavegate/shared/platform/input"
	"wavegate/shared/production/method"
	"wavegate/shared/testing/expect"
)

// TestMoveOf_TimesThatCannotBeStored_AreRefused: a time zone can move a time into the year 10000, and so can rounding up to milliseconds.
func TestMoveOf_TimesThatCannotBeStored_AreRefused(t *testing.T) {
	for from, want := range map[string]int{
		"9999-12-31T23:59:59.999Z": 0, "9999-12-31T23:59:59.999999999Z": 1, "9999-12-31T23:59:59-14:00": 1,
		"0001-01-01T00:00:00Z": 1, "2026-03-02T08:00:00+14:00": 0,
	} {
		_, faults := input.Parse([]byte(`{"status":"released","reason":"r","effectiveFrom":"`+from+`"}`), method.MoveOf)
		expect.Equal(t, len(faults), want, "faults of %s:", from)
	}
}
