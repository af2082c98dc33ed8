package main

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"wavegate/shared/testing/expect"
	"wavegate/shared/testing/golden"
)

// foreign is an attribute that no code knows, as if a later release had written it.
const foreign = "zForeign"

// onlyOnce are the kinds that are never written again, or never with other values, and why.
var onlyOnce = map[string]string{
	"audit: event":             "events are only added",
	"idempotency: record":      "a key is used again after a day at the earliest",
	"method-contents: content": "other bytes have another key",
	"method-places: place":     "it has nothing besides its key",
	"enrolments: waiting box":  "it waits until it is registered or dropped",
	"progress: form":           "it is raised once for each form",
	"rollouts: halt":           "each halt leaves it as the one before did",
	"reports: trace":           "a trace never changes",
}

// removed reports whether an item stays only so that its revision is not used twice: what it was about is gone. If it
// is there again later, it is a new one, and starts without foreign attributes.
var removed = map[string]func(golden.Plain) bool{
	"edges: box":               func(p golden.Plain) bool { return p["pair"] == "-" },
	"reports: report":          func(p golden.Plain) bool { return p["retired"] == true },
	"rollouts: freeze":         func(p golden.Plain) bool { return p["lifted"] == true },
	"rate-overrides: override": func(p golden.Plain) bool { return p["removed"] == true },
	"gateways: gateway": func(p golden.Plain) bool {
		tokens, _ := p["tokens"].(golden.Plain)
		return tokens["current"] == nil
	},
}

// A marker marks each item after the call that made it, and counts what later calls do to it.
type marker struct {
	*world
	*writes
	t      *testing.T
	items  map[place]golden.Plain // the marked ones
	counts map[string]*struct{ writes, kept, again int }
	faults map[string][]string // by kind
}

// TestForeignAttributes_OutliveEveryWrite: the functions of two releases write the same items during a deploy, and after
// a rollback. Neither may drop what only the other one knows.
func TestForeignAttributes_OutliveEveryWrite(t *testing.T) {
	t.Parallel()
	w := opened(t)
	m := &marker{world: w, writes: watch(w.Front), t: t, items: map[place]golden.Plain{},
		counts: map[string]*struct{ writes, kept, again int }{}, faults: map[string][]string{}}
	w.after = m.look
	expect.OK(t, w.fillAll())
	m.conclude()
}

func (m *marker) look(what string) error {
	for _, p := range m.take() {
		item, err := p.get(m.t.Context(), m.DB)
		if err == nil {
			err = m.compare(p, item, what)
		}
		if err != nil {
			return fmt.Errorf("%v: %w", p, err)
		}
	}
	return nil
}

func (m *marker) compare(p place, now golden.Plain, what string) error {
	was, known := m.items[p]
	delete(m.items, p)
	if now == nil {
		return nil
	}
	k, err := golden.KindOf(p.table, now)
	if err != nil {
		return err
	}
	kind := k.String()
	if m.counts[kind] == nil {
		m.counts[kind] = &struct{ writes, kept, again int }{}
	}
	_, has := now[foreign]
	delete(now, foreign)
	count, gone := m.counts[kind], removed[kind]
	if gone == nil {
		gone = func(golden.Plain) bool { return false }
	}
	switch {
	case !known || gone(was) && !gone(now):
		if known || has {
			count.again++
		}
		if has {
			m.faults[kind] = append(m.faults[kind], fmt.Sprintf("%v is a new one and has what was said about the one before, after %s", p, what))
		}
	case reflect.DeepEqual(was, now) && has: // written as it was, or not at all
	case gone(now): // nobody may rely on it any more
	default:
		count.writes++
		if has {
			count.kept++
		} else {
			m.faults[kind] = append(m.faults[kind], fmt.Sprintf("%v lost it after %s", p, what))
		}
	}
	m.items[p] = now
	if has {
		return nil
	}
	return p.set(m.t.Context(), m.DB, foreign, "of another release")
}

// conclude shows the counts, and fails for each kind that lost the attribute or was never written again.
func (m *marker) conclude() {
	m.t.Logf("%-32s %6s %6s %6s", "kind", "writes", "kept", "again")
	for _, kind := range slices.Sorted(maps.Keys(m.counts)) {
		c := m.counts[kind]
		m.t.Logf("%-32s %6d %6d %6d", kind, c.writes, c.kept, c.again)
	}
	for _, k := range golden.Kinds {
		kind := k.String()
		c := cmp.Or(m.counts[kind], &struct{ writes, kept, again int }{})
		if reason := onlyOnce[kind]; (c.writes == 0) != (reason != "") {
			m.t.Errorf("%s: %d writes of marked items; only once: %q", kind, c.writes, reason)
		}
		if faults := m.faults[kind]; len(faults) > 0 {
			m.t.Errorf("%s: %d faults; the first ones:\n  %s", kind, len(faults), strings.Join(faults[:min(2, len(faults))], "\n  "))
		}
	}
}
