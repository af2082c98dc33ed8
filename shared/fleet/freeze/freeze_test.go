package freeze

import (
	"strings"
	"testing"
	"time"

	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

var noon = time.Date(2026, 12, 20, 12, 0, 0, 0, time.UTC)

func TestSet_EveryStateAndWish(t *testing.T) {
	until := noon.Add(24 * time.Hour)
	set, _, err := record{}.set(Wish{"holidays", until}, noon)
	expect.Must(t, err == nil && set.holds(noon) && set.Revision == 1, "set %+v, %v", set, err)
	lifted, _, err := set.lift(noon.Add(time.Hour))
	expect.Must(t, err == nil && !lifted.holds(noon) && lifted.Revision == 2, "lifted %+v, %v", lifted, err)
	for name, c := range map[string]struct {
		was       record
		reason    string
		until, at time.Time
		created   time.Time
		event     string
	}{
		"none before":          {record{}, "holidays", until, noon, noon, "FreezeSet"},
		"the same":             {set, "holidays", until, noon.Add(time.Hour), noon, ""},
		"another end":          {set, "holidays", until.Add(time.Hour), noon.Add(time.Hour), noon, "FreezeSet"},
		"another reason":       {set, "stocktaking", until, noon.Add(time.Hour), noon, "FreezeSet"},
		"after one was lifted": {lifted, "holidays", until, noon.Add(2 * time.Hour), noon.Add(2 * time.Hour), "FreezeSet"},
		"after one has ended":  {set, "holidays", until.Add(time.Hour), until, until, "FreezeSet"},
		"as long as possible":  {record{}, "holidays", noon.Add(longest), noon, noon, "FreezeSet"},
	} {
		next, event, err := c.was.set(Wish{c.reason, c.until}, c.at)
		changed := event != ""
		if err != nil || event != c.event || !next.CreatedAt.Equal(c.created) || next.Reason != c.reason || changed != (next.Revision == c.was.Revision+1) {
			t.Errorf("%s: %+v, %q, %v", name, next, event, err)
		}
	}
	for name, until := range map[string]time.Time{"now": noon, "past": noon.Add(-time.Hour), "too long": noon.Add(longest + time.Millisecond)} {
		if next, event, err := (record{}).set(Wish{"holidays", until}, noon); !problem.Has(err, problem.ValidationFailed) || event != "" || next != (record{}) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLift_WhereNoneHolds_IsNotFound(t *testing.T) {
	set, _, _ := record{}.set(Wish{"holidays", noon.Add(time.Hour)}, noon)
	lifted, _, _ := set.lift(noon)
	for name, c := range map[string]struct {
		was record
		at  time.Time
	}{"none": {record{}, noon}, "lifted": {lifted, noon}, "ended": {set, noon.Add(time.Hour)}} {
		next, event, err := c.was.lift(c.at)
		expect.That(t, problem.Has(err, problem.NotFound) && event == "" && next == c.was, "%s: %q, %v", name, event, err)
	}
}

func TestRefuse_OnlyAReasonPasses_AndItIsToldUntilWhen(t *testing.T) {
	f := &Freeze{Reason: "holidays", Until: noon}
	err := f.Refuse(audit.Grounds{Reason: "a security fix"})
	expect.That(t, problem.Has(err, problem.Frozen) && strings.Contains(err.Error(), "2026-12-20T12:00:00Z: holidays"),
		"refused with %v", err)
	err = f.Refuse(audit.Grounds{OverrideReason: "a security fix"})
	expect.That(t, err == nil, "with a reason: %v", err)
	err = (*Freeze)(nil).Refuse(audit.Grounds{})
	expect.That(t, err == nil, "without a freeze: %v", err)
}
