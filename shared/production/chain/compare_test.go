package chain

import (
	"maps"
	"slices"
	"testing"

	"wavegate/shared/testing/expect"
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
			if err != nil || !slices.Equal(got.Findings, c.want) {
				t.Errorf("it finds %q, %v; want %q", got.Findings, err, c.want)
			}
		})
	}
}

func TestCompare_ManyDifferences_AreInOrder(t *testing.T) {
	shown := map[string]any{}
	for name := 'a'; name <= 'z'; name++ {
		shown[string(name)] = 1
	}
	got, err := Subject{Name: "it", Shown: shown, Events: []audit.Event{{Resource: audit.Resource{Revision: 1}, After: map[string]any{}}}}.Compare()
	expect.OK(t, err)
	expect.That(t, len(got.Findings) == len(shown) && slices.IsSorted(got.Findings), "it finds %q", got.Findings)
}

// TestCompare_EarlierReleaseBeside: its functions change a resource, and keep the field terms, which they do not know.
func TestCompare_EarlierReleaseBeside(t *testing.T) {
	// A step is an event: what it has before and after.
	type step struct{ before, after map[string]any }
	of := func(name, terms string) map[string]any {
		m := map[string]any{"name": name}
		if terms != "" {
			m["terms"] = terms
		}
		return m
	}
	made := step{nil, of("A", "1-")}
	old := step{of("A", ""), of("B", "")}
	for _, c := range []struct {
		name  string
		shown map[string]any
		steps []step
		want  []string
	}{
		{"it writes, and the row keeps the field", of("B", "1-"), []step{made, old}, nil},
		{"this release goes on", of("C", "1-2"), []step{made, old, {of("B", "1-"), of("C", "1-2")}}, nil},
		{"this release empties the field", of("C", ""), []step{made, old, {of("B", "1-"), of("C", "")}}, nil},
		{"it writes before this release does", of("B", "1-"), []step{{nil, of("A", "")}, {of("A", ""), of("B", "1-")}}, nil},
		{"it answers, or the field is removed", of("B", ""), []step{made, old}, []string{"? it: terms differs from the trail"}},
		{"the field is changed in the row", of("B", "1-9"), []step{made, old}, []string{"it: terms differs from the trail"}},
		{"the field is put in the row", of("B", "1-"), []step{{nil, of("A", "")}, old}, []string{"it: terms differs from the trail"}},
		{"the field is changed between", of("C", "9-"), []step{made, old, {of("B", "9-"), of("C", "9-")}},
			[]string{"it: between revisions 2 and 3, terms changed without an event"}},
		{"the field is removed between", of("C", "3-"), []step{made, old, {of("B", ""), of("C", "3-")}},
			[]string{"it: between revisions 2 and 3, terms changed without an event"}},
		{"the last event loses the field", of("C", "1-2"), []step{made, {of("A", "1-"), of("C", "")}}, []string{"it: terms differs from the trail"}},
		{"another field is changed in the row", of("X", "1-"), []step{made, old}, []string{"it: name differs from the trail"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var events []audit.Event
			for i, s := range c.steps {
				e := audit.Event{Resource: audit.Resource{Revision: int64(i + 1)}, After: s.after}
				if s.before != nil {
					e.Before = s.before
				}
				events = append(events, e)
			}
			got, err := Subject{Name: "it", Shown: c.shown, Events: events, Grown: []string{"terms"}}.Compare()
			for _, f := range got.Unshown {
				got.Findings = append(got.Findings, "? "+f)
			}
			if err != nil || !slices.Equal(got.Findings, c.want) {
				t.Errorf("it finds %q, %v; want %q", got.Findings, err, c.want)
			}
		})
	}
}
