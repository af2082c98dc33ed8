package chain

import (
	"maps"
	"slices"
	"testing"

	"wavegate/shared/trail/audit"
)

// TestCompare_FieldThatIsNewerThanTheTrail_IsNoDifference: a release that adds a field shows it for every resource, also
// for those whose last event an earlier release wrote. What is not the value of an unset field was changed by hand.
func TestCompare_FieldThatIsNewerThanTheTrail_IsNoDifference(t *testing.T) {
	event := func(revision int64, before, after map[string]any) audit.Event {
		e := audit.Event{Resource: audit.Resource{Revision: revision}, After: after}
		if before != nil {
			e.Before = before
		}
		return e
	}
	old := map[string]any{"name": "Milling", "revision": 1}
	with := func(m map[string]any, name string, value any) map[string]any {
		m = maps.Clone(m)
		m[name] = value
		return m
	}
	next := map[string]any{"name": "Turning", "revision": 2}
	for _, c := range []struct {
		name   string
		shown  map[string]any
		events []audit.Event
		want   []string
	}{
		{"null", with(old, "urgency", nil), []audit.Event{event(1, nil, old)}, nil},
		{"empty", with(old, "urgency", ""), []audit.Event{event(1, nil, old)}, nil},
		{"false", with(old, "urgent", false), []audit.Event{event(1, nil, old)}, nil},
		{"zero", with(old, "stones", 0), []audit.Event{event(1, nil, old)}, nil},
		{"an empty list", with(old, "stones", []any{}), []audit.Event{event(1, nil, old)}, nil},
		{"an empty object", with(old, "stones", map[string]any{}), []audit.Event{event(1, nil, old)}, nil},
		{"a value", with(old, "urgency", "high"), []audit.Event{event(1, nil, old)}, []string{"it: urgency differs from the trail"}},
		{"true", with(old, "urgent", true), []audit.Event{event(1, nil, old)}, []string{"it: urgent differs from the trail"}},
		{"a list with a null", with(old, "stones", []any{nil}), []audit.Event{event(1, nil, old)}, []string{"it: stones differs from the trail"}},
		{"a field that the trail has, emptied", with(old, "name", ""), []audit.Event{event(1, nil, old)}, []string{"it: name differs from the trail"}},
		{"a field that the trail has, removed", map[string]any{"revision": 1}, []audit.Event{event(1, nil, old)}, []string{"it: name differs from the trail"}},
		{"between two releases", with(next, "urgency", "high"),
			[]audit.Event{event(1, nil, old), event(2, with(old, "urgency", ""), with(next, "urgency", "high"))}, nil},
		{"back to the earlier release", next,
			[]audit.Event{event(1, nil, with(old, "urgency", "")), event(2, old, next)}, nil},
		{"changed between two releases", next,
			[]audit.Event{event(1, nil, old), event(2, with(old, "urgency", "high"), next)}, []string{"it: between revisions 1 and 2, urgency changed without an event"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Subject{Name: "it", Shown: c.shown, Events: c.events}.Compare()
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("it finds %q, %v; want %q", got, err, c.want)
			}
		})
	}
}
