package audit_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"wavegate/shared/access/auth"
	"wavegate/shared/platform/admission"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/dynamotest"
	"wavegate/shared/testing/expect"
	"wavegate/shared/trail/audit"
)

// TestOf_AnyFilter_ListsTheOrganizationsEventsOnce writes more events of three organizations than a page looks at, and pages
// through those of one with each kind of filter.
func TestOf_AnyFilter_ListsTheOrganizationsEventsOnce(t *testing.T) {
	t.Parallel()
	db := dynamo.Open(dynamotest.Embedded(t), time.Now)
	ctx := admission.Unlimited(t.Context())
	log, start := audit.NewLog(db), time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	const events = 1200
	var writes []dynamo.TransactItem
	for i := range events {
		box := fmt.Sprint("box-", boxAt(i))
		e := audit.Event{
			EventTime: start.Add(time.Duration(i) * time.Millisecond), EventName: "EdgeReassigned", OrganizationID: []string{"acme", "acme", "rival", "acme", "third"}[i%5],
			Actor: audit.Actor{Issuer: "i", UserID: []string{"olga", "anna"}[i/600%2]}, Resource: audit.Resource{Type: audit.Boxes, ID: box, Revision: int64(i)},
			Before: map[string]any{"organizationId": []string{"acme", "rival"}[i%2]}, After: map[string]any{"organizationId": "acme"},
		}
		if writes = append(writes, audit.Write(audit.Box(box), e)); len(writes) == 100 {
			expect.OK(t, db.Commit(ctx, writes...))
			writes = nil
		}
	}
	for name, c := range map[string]struct {
		filter audit.Filter
		limit  int
		want   func(i int) bool
	}{
		"all boxes":          {audit.Filter{}, 100, func(int) bool { return true }},
		"one box":            {audit.Filter{ResourceID: "box-1"}, 70, func(i int) bool { return boxAt(i) == 1 }},
		"a rare actor":       {audit.Filter{ActorIssuer: "i", ActorUserID: "anna"}, 100, func(i int) bool { return i/600%2 == 1 }},
		"an actor and a box": {audit.Filter{ResourceID: "box-1", ActorIssuer: "i", ActorUserID: "olga"}, 30, func(i int) bool { return boxAt(i) == 1 && i/600%2 == 0 }},
		"nobody":             {audit.Filter{ActorIssuer: "i", ActorUserID: "nobody"}, 100, func(int) bool { return false }},
		"a time":             {audit.Filter{From: start.Add(100 * time.Millisecond), To: start.Add(200 * time.Millisecond)}, 9, func(i int) bool { return i >= 100 && i < 200 }},
	} {
		t.Run(name, func(t *testing.T) {
			c.filter.ResourceType = audit.Boxes
			var want, got []int64
			for i := events - 1; i >= 0; i-- {
				if c.want(i) && slices.Contains([]int{0, 1, 3}, i%5) {
					want = append(want, int64(i))
				}
			}
			for after := ""; ; {
				page, err := log.For(ctx, auth.Principal{OrganizationID: "acme", Roles: []auth.Role{auth.OrganizationAdmin}}, c.filter, after, c.limit)
				expect.OK(t, err)
				for _, e := range page.Items {
					got = append(got, e.Resource.Revision)
					expect.Equal(t, e.OrganizationID, "acme", "an event of")
					expect.Equal(t, e.Before != nil, e.Resource.Revision%2 == 0, "the state before, at %d, is shown", e.Resource.Revision)
				}
				if !page.More {
					break
				}
				if len(page.Items) > c.limit || page.Last >= after && after != "" {
					t.Fatalf("a page of %d items after %q ends at %q", len(page.Items), after, page.Last)
				}
				after = page.Last
			}
			expect.Equal(t, slices.Equal(got, want), true, "%d events are listed, %d were written", len(got), len(want))
		})
	}
}

// boxAt is the box of an event. Most are of one box.
func boxAt(i int) int { return max(0, 1-i%6) }

func TestFor_ACallerOfNoOrganization_SeesNothing(t *testing.T) {
	t.Parallel()
	log := audit.NewLog(dynamo.Open(dynamotest.Embedded(t), time.Now))
	page, err := log.For(t.Context(), auth.Principal{Roles: []auth.Role{auth.OrganizationAdmin}}, audit.Filter{}, "", 10)
	expect.Error(t, err, "NOT_FOUND: There is no such resource.", "it is told")
	expect.Equal(t, len(page.Items), 0, "events")
}
