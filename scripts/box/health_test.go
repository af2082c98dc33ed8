package box

import (
	"math"
	"testing"
	"time"
)

func TestHealth_SaysWhatItIsAskedFor(t *testing.T) {
	now := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	h := &Health{now: func() time.Time { return now }}
	says := func(step, installed, want string) {
		t.Helper()
		if got := h.query([]string{"cycle", "crashes", "heat"}, installed); got != want {
			t.Errorf("%s: %q, want %q", step, got, want)
		}
	}
	says("nothing measured", "1.0.0", "")
	h.Measure("cycle", 10)
	h.Measure("cycle", 13)
	h.Measure("other", 1)
	h.Measure("cycle", math.NaN())
	h.Count("crashes", 0)
	says("a counter that is too young", "1.0.0", "&health=cycle%3A11.5")
	now = now.Add(2 * time.Hour)
	h.Count("crashes", 1)
	says("a crash in two hours", "1.0.0", "&health=cycle%3A11.5&health=crashes%3A12")
	now = now.Add(23 * time.Hour)
	says("the values of a day ago are gone", "1.0.0", "&health=crashes%3A1")
	h.Measure("cycle", 20)
	h.Measure("heat", -4)
	says("what the service would not take", "1.0.0", "&health=cycle%3A20&health=crashes%3A1")
	says("another version starts anew", "1.1.0", "")
	h.Measure("cycle", 22)
	says("of the new version", "1.1.0", "&health=cycle%3A22")
	if q := (*Health)(nil).query([]string{"cycle"}, "1.0.0"); q != "" {
		t.Errorf("without one: %q", q)
	}
}
