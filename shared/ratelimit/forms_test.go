package ratelimit

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/golden"
)

func TestForms_AreKept(t *testing.T) {
	golden.Kept[record](t, dynamo.RateOverrides, "override")
}

// TestForms_OfCounters_AreRead: the limiter reads counters itself. Each of their attributes is known, and the slots add
// up to the total.
func TestForms_OfCounters_AreRead(t *testing.T) {
	golden.Fits(t, dynamo.RateCounters, "counter", golden.Most{slotPrefix: int(slotLog.ring)})
	for _, i := range golden.Of(t, dynamo.RateCounters, "counter") {
		number := func(name string) int64 {
			n, _ := i.Plain[name].(json.Number)
			v, err := n.Int64()
			if err != nil {
				t.Errorf("%s: %s: %v", i.Key(), name, err)
			}
			return v
		}
		it, err := slotLog.decode(golden.Encoded(i.Plain))
		if err != nil {
			t.Errorf("%s: %v", i.Key(), err)
			continue
		}
		counted := 0
		for _, n := range it.slots {
			counted += n
		}
		if int64(it.total) != number(attrTotal) || int64(it.base) != number(attrBase) || counted != it.total {
			t.Errorf("%s: %v is read as %+v", i.Key(), i.Plain, it)
		}
		if _, limited := i.Plain[attrLimit]; limited != (it.override != nil) || limited && (int64(it.override.Limit) != number(attrLimit) || until(*it.override) != number(attrUntil)) {
			t.Errorf("%s: the override of %v is read as %+v", i.Key(), i.Plain, it.override)
		}
		for name := range i.Plain {
			if !strings.HasPrefix(name, slotPrefix) && !slices.Contains([]string{attrSubject, attrTotal, attrBase, attrTTL, attrLimit, attrUntil, attrKeep}, name) {
				t.Errorf("%s: %s: lost", i.Key(), name)
			}
		}
	}
}
