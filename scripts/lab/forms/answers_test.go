package main

import (
	"testing"
	"time"

	"wavegate/shared/testing/golden"
)

// TestAnswers_AboutOldItems_AreTheSame makes every read that was recorded, on the items that were recorded with it.
func TestAnswers_AboutOldItems_AreTheSame(t *testing.T) {
	t.Parallel()
	items, err := golden.Items()
	if err != nil {
		t.Fatal(err)
	}
	recorded, err := readAnswers()
	if err != nil {
		t.Fatal(err)
	}
	w := opened(t)
	w.values = recorded.Values
	by, err := w.load(t.Context(), items, recorded.Recorded)
	if err != nil {
		t.Fatal(err)
	}
	shift := by - time.Duration(recorded.Shift)*time.Second
	for _, was := range recorded.Calls {
		now, err := w.make(was.read)
		if err != nil {
			t.Fatal(err)
		}
		for _, fault := range compare(was, now, shift) {
			t.Errorf("%s: %s: %s", was.By, w.fill(was.Call), fault)
		}
	}
	t.Logf("%d answers about items of %s", len(recorded.Calls), recorded.Recorded.Format(time.DateOnly))
}
