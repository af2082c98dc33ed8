package chain_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/shared/access/auth"
	"wavegate/shared/production/chain"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

// A state represents a method or a version.
type state struct {
	ID    string `json:"id"`
	Count int    `json:"count"`
	Trail string `json:"trailSha256,omitempty"`
}

// changes makes the events of n changes to a method, after its creation.
func changes(t testing.TB, n int) (methods, versions []audit.Event) {
	t.Helper()
	event := func(i int, kind string, after any) audit.Event {
		return audit.Event{
			EventID: fmt.Sprint(kind, i), EventTime: time.Date(2026, 3, 1, 12, i, 0, 125e6, time.UTC), EventName: "Changed",
			Actor:    audit.Actor{Issuer: "https://people.example", UserID: "eric", Roles: []auth.Role{auth.ProductionEngineer}},
			SourceIP: "192.0.2.7", RequestID: fmt.Sprint("r-", i), Resource: audit.Resource{Type: kind, ID: "m", Revision: int64(i)}, After: after,
		}
	}
	methods = append(methods, event(1, "method", state{ID: "m"}))
	previous := ""
	for i := 2; i <= n+1; i++ {
		v, m := event(i, "version", state{ID: "m:1", Count: i}), event(i, "method", state{ID: "m", Count: i})
		next := expect.Value(chain.Next(previous, chain.EntryOf(v), chain.EntryOf(m)))(t)
		m.After = state{ID: "m", Count: i, Trail: next}
		methods, versions = append(methods, m), append(versions, v)
		previous = next
	}
	return methods, versions
}

// listed returns events as a client gets them: decoded from JSON, the newest first.
func listed(t testing.TB, events []audit.Event) []audit.Event {
	t.Helper()
	text := expect.Value(json.Marshal(events))(t)
	var read []audit.Event
	expect.OK(t, json.Unmarshal(text, &read))
	slices.Reverse(read)
	return read
}

func faults(t testing.TB, methods, versions []audit.Event) []string {
	t.Helper()
	links := expect.Value(chain.Check(methods, versions))(t)
	var found []string
	for i, l := range links {
		if l.Fault != "" {
			found = append(found, fmt.Sprintf("%d %s", i+1, l.Fault))
		}
	}
	return found
}

func TestCheck_UnchangedEvents_AreAChain(t *testing.T) {
	methods, versions := changes(t, 5)
	links, err := chain.Check(listed(t, methods), listed(t, versions))
	expect.Must(t, err == nil && len(links) == 5, "%d links, %v", len(links), err)
	for i, l := range links {
		if l.Fault != "" || len(l.SHA256) != 64 || i > 0 && l.SHA256 == links[i-1].SHA256 {
			t.Errorf("link %d: %+v", i+1, l)
		}
	}
}

func TestCheck_RewrittenTrail_IsFound(t *testing.T) {
	for name, c := range map[string]struct {
		rewrite func(methods, versions []audit.Event) ([]audit.Event, []audit.Event)
		want    string
	}{
		"another person": {func(m, v []audit.Event) ([]audit.Event, []audit.Event) {
			v[2].Actor.UserID = "olaf"
			return m, v
		}, "3 its event or an earlier one was changed"},
		"another time": {func(m, v []audit.Event) ([]audit.Event, []audit.Event) {
			m[3].EventTime = m[3].EventTime.Add(time.Second)
			return m, v
		}, "3 its event or an earlier one was changed"},
		"another state": {func(m, v []audit.Event) ([]audit.Event, []audit.Event) {
			m[1].After = state{ID: "m", Count: 9, Trail: m[1].After.(state).Trail}
			return m, v
		}, "1 its event or an earlier one was changed"},
		"a removed change": {func(m, v []audit.Event) ([]audit.Event, []audit.Event) {
			return slices.Delete(m, 2, 3), v
		}, "2 the event before it is missing"},
		"a removed version": {func(m, v []audit.Event) ([]audit.Event, []audit.Event) {
			return m, slices.Delete(v, 4, 5)
		}, "5 the event of its version is missing"},
	} {
		methods, versions := changes(t, 5)
		methods, versions = c.rewrite(methods, versions)
		got := faults(t, listed(t, methods), listed(t, versions))
		expect.That(t, strings.Join(got, ",") == c.want, "%s: %q, want %q", name, got, c.want)
	}
}

// Someone who rewrites an event and all later hashes makes a valid chain, but it does not contain the hashes that
// controllers have stored.
func TestCheck_RewrittenChain_LacksTheKeptHashes(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		methods, versions := changes(t, 6)
		kept := map[string]bool{}
		for _, m := range methods[1:] {
			kept[m.After.(state).Trail] = true
		}
		at := rapid.IntRange(0, 5).Draw(r, "rewritten")
		versions[at].SourceIP = "198.51.100.1"
		previous := ""
		for i := range versions {
			after := methods[i+1].After.(state)
			next := expect.Value(chain.Next(previous, chain.EntryOf(versions[i]), chain.EntryOf(methods[i+1])))(r)
			expect.Must(r, kept[next] == (i < at), "link %d of a trail rewritten at %d: kept %v", i, at, kept[next])
			after.Trail, previous = next, next
			methods[i+1].After = after
		}
		got := faults(t, methods, versions)
		expect.Must(r, len(got) == 0, "%q", got)
	})
}

// TestNextReport_EmptyListInTheEvent_IsNotCovered: the store keeps an empty list, which the JSON of a report lacks.
func TestNextReport_EmptyListInTheEvent_IsNotCovered(t *testing.T) {
	hash := func(after map[string]any) string {
		t.Helper()
		h := expect.Value(chain.NextReport("before", chain.Entry{EventName: "MachineFinishedMethod", After: after}))(t)
		return h
	}
	without := hash(map[string]any{"versions": []int{1}})
	expect.That(t, hash(map[string]any{"versions": []int{1}, "orders": []int{}, "trailSha256": "own"}) == without,
		"an empty list and the hash itself are covered")
	expect.That(t, hash(map[string]any{"versions": []int{1}, "orders": []int{2}}) != without, "a list is not covered")
}

func TestCheckReports_NamesTheReportsThatWereChanged(t *testing.T) {
	for name, c := range map[string]struct {
		change func([]audit.Event) []audit.Event
		want   string
	}{
		"nothing":          {func(e []audit.Event) []audit.Event { return e }, ""},
		"another address":  {func(e []audit.Event) []audit.Event { e[1].SourceIP = "192.0.2.9"; return e }, ""}, // which is not covered
		"another person":   {func(e []audit.Event) []audit.Event { e[1].Actor.UserID = "olaf"; return e }, "the event of report 2 or an earlier one was changed"},
		"a removed report": {func(e []audit.Event) []audit.Event { return slices.Delete(e, 1, 2) }, "the trail has no event for report 2"},
	} {
		var events []audit.Event
		previous := ""
		for i := 1; i <= 3; i++ {
			e := audit.Event{EventName: "MachineReported", SourceIP: "192.0.2.7", Actor: audit.Actor{UserID: "box"},
				Resource: audit.Resource{Type: "method-on-machine", ID: "m", Revision: int64(i)}, After: state{ID: "m", Count: i}}
			previous = expect.Value(chain.NextReport(previous, chain.EntryOf(e)))(t)
			e.After = state{ID: "m", Count: i, Trail: previous}
			events = append(events, e)
		}
		wrong := expect.Value(chain.CheckReports(c.change(events)))(t)
		expect.Equal(t, strings.Join(wrong, "; "), c.want, "%s:", name)
	}
}
