package e2e

import (
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

// An event is a change in the trail.
type event struct {
	EventID, EventName, OrganizationID, SourceIP, RequestID string
	EventTime                                               time.Time
	Actor                                                   struct {
		Issuer, UserID string
		Roles          []string
	}
	Resource struct {
		Type, ID string
		Revision int
	}
	Before, After map[string]any
}

// trail reads a whole stream, page by page, oldest first.
func trail(t testing.TB, c *harness.Caller, path string, limit int) []event {
	t.Helper()
	var all []event
	for next := fmt.Sprintf("%s?limit=%d", path, limit); next != ""; {
		var page struct {
			Items []event
			Next  string
		}
		c.Get(t, next).Is(t, http.StatusOK).Into(t, &page)
		all = append(all, page.Items...)
		next = page.Next
	}
	slices.Reverse(all)
	return all
}

// tell returns the events as sentences.
func tell(events []event) []string {
	var story []string
	for _, e := range events {
		line := fmt.Sprintf("%s: %s %s", e.Actor.UserID, e.EventName, e.Resource.Type)
		switch {
		case e.Resource.Type == "rollout":
			line += fmt.Sprintf(" at %v %%, %v", e.After["staged_percent"], e.After["status"])
		case e.Resource.Type == "release-channel":
			was := "nothing"
			if e.Before != nil {
				was = fmt.Sprint(e.Before["currentVersion"])
			}
			line += fmt.Sprintf(" %v from %s to %v", e.After["channel"], was, e.After["currentVersion"])
		}
		story = append(story, line)
	}
	return story
}

// chained checks that for each resource, before equals the previous after, and that revisions count from 1.
func chained(t *testing.T, events []event) {
	t.Helper()
	last := map[string]event{}
	for _, e := range events {
		k := e.Resource.Type + " " + e.Resource.ID
		was := last[k]
		if !reflect.DeepEqual(e.Before, was.After) || e.Resource.Revision != was.Resource.Revision+1 ||
			e.After["revision"] != nil && e.After["revision"] != float64(e.Resource.Revision) {
			t.Errorf("%s of %s, revision %d, has before %v; the state before was %v at %d",
				e.EventName, k, e.Resource.Revision, e.Before, was.After, was.Resource.Revision)
		}
		last[k] = e
	}
}

// TestAudit_OfAWholeRollout_ReadsAsItsStory makes two operators bring a version to a fleet: it is halted, fixed, and
// started again.
func TestAudit_OfAWholeRollout_ReadsAsItsStory(t *testing.T) {
	w := harness.New(t)
	olga, otto := w.Owner(t), w.As(t, "otto", "wavegate", "platform_owner")
	edgeType := harness.Name("gateway")
	move := func(c *harness.Caller, path, body string) {
		t.Helper()
		c.Patch(t, path, body).Is(t, http.StatusNoContent)
	}

	first := start(t, olga, edgeType) // 1.0.0 on stable, 1.1.0 on canary, 1.1.0 rolled out on stable
	move(olga, first, `{"staged_percent":10}`)
	move(otto, first, `{"status":"halted"}`)
	move(otto, first, `{"status":"halted"}`) // changes nothing
	otto.Patch(t, first, `{"staged_percent":50}`).Refused(t, problem.InvalidStateTransition)
	otto.Put(t, channelPath(edgeType, "canary"), release("1.1.1", digest("c"))).Is(t, http.StatusNoContent)
	second := otto.Post(t, "/api/ota/rollouts", plan(edgeType, "stable", "1.1.1")).Made(t)
	for _, percent := range []int{10, 50} {
		move(olga, second, fmt.Sprintf(`{"staged_percent":%d}`, percent))
	}
	move(olga, second, `{"staged_percent":100,"status":"completed"}`)

	events := trail(t, olga, "/api/audit-events", 3)
	want := []string{
		"olga: ReleasePublished release-channel stable from nothing to 1.0.0",
		"olga: ReleasePublished release-channel canary from nothing to 1.1.0",
		"olga: RolloutStarted rollout at 1 %, active",
		"olga: RolloutPromoted rollout at 10 %, active",
		"otto: RolloutHalted rollout at 10 %, halted",
		"otto: ReleasePublished release-channel canary from 1.1.0 to 1.1.1",
		"otto: RolloutStarted rollout at 1 %, active",
		"olga: RolloutPromoted rollout at 10 %, active",
		"olga: RolloutPromoted rollout at 50 %, active",
		"olga: ReleaseAdopted release-channel stable from 1.0.0 to 1.1.1",
		"olga: RolloutCompleted rollout at 100 %, completed",
	}
	if got := tell(events); !slices.Equal(got, want) {
		t.Errorf("the story is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	chained(t, events)
	for i, e := range events {
		if e.EventID == "" || e.RequestID == "" || e.SourceIP != "127.0.0.1" || e.Actor.Issuer == "" ||
			!slices.Equal(e.Actor.Roles, []string{"platform_owner"}) ||
			i > 0 && e.EventTime.Before(events[i-1].EventTime) {
			t.Errorf("event %d is %+v", i, e)
		}
	}

	// The same trail by resource, by actor, by both and by time.
	id := first[strings.LastIndex(first, "/")+1:]
	byActor := url.Values{"actorIssuer": {events[0].Actor.Issuer}, "actorUserId": {"otto"}}.Encode()
	for filter, want := range map[string][]string{
		"resourceType=rollout&resourceId=" + id: {want[2], want[3], want[4]},
		byActor:                                 {want[4], want[5], want[6]},
		"resourceType=rollout&resourceId=" + id + "&" + byActor:                                       {want[4]},
		"resourceType=release-channel&resourceId=" + url.QueryEscape(edgeType+"/stable"):              {want[0], want[9]},
		"from=" + url.QueryEscape(stamp(events[3])) + "&to=" + url.QueryEscape(stamp(events[5])):      want[3:5],
		"to=" + url.QueryEscape(stamp(events[2])):                                                     want[:2],
		"from=" + url.QueryEscape(events[8].EventTime.In(time.FixedZone("", 5*3600)).Format(rfc3339)): want[8:],
	} {
		var page struct{ Items []event }
		olga.Get(t, "/api/audit-events?"+filter).Is(t, http.StatusOK).Into(t, &page)
		slices.Reverse(page.Items)
		if got := tell(page.Items); !slices.Equal(got, want) {
			t.Errorf("by %s the story is\n%s\nwant\n%s", filter, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

const rfc3339 = "2006-01-02T15:04:05.000Z07:00"

func stamp(e event) string { return e.EventTime.Format(rfc3339) }

// TestAudit_TimesOfFilters_AreReadExactly: bad-input.jsonl has the faults of the other parameters.
func TestAudit_TimesOfFilters_AreReadExactly(t *testing.T) {
	p := newPlant(t, harness.New(t))
	events := p.factory + "/audit-events?"
	for query, parameters := range map[string]string{
		"from=2026-03-02T00:00:00Z&to=2026-03-01T00:00:00Z": "from",
		"from=2026-03-01":                "from",
		"from=2026-03-01T24:00:00Z":      "from",
		"from=2026-03-01T00:00:00+01:00": "from", // a plus sign that is not encoded is a space
		"from=12026-03-01T00:00:00Z":     "from",
		"from=yesterday&to=tomorrow":     "from to",
	} {
		for _, path := range []string{"/api/audit-events?", events} {
			var named []string
			for _, e := range p.owner.Get(t, path+query).Refused(t, problem.ValidationFailed).Errors {
				named = append(named, e.Parameter)
			}
			expect.Equal(t, strings.Join(named, " "), parameters, "the faults of %s%s:", path, query)
		}
	}
	for _, query := range []string{
		"from=0000-01-01T00:00:00Z", "from=0000-01-01T00:00:00%2B23:59", "to=9999-12-31T23:59:59.999999999Z",
		"to=9999-12-31T23:59:59-23:59", "from=2020-01-01T00:00:00.000000000001Z&to=9999-12-31T23:59:59Z",
	} {
		expect.Equal(t, len(pageOf(t, p.owner, events+query).Items), 10, "the events of %s:", query)
	}
}
