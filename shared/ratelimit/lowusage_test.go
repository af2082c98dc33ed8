package ratelimit

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"wavegate/shared/testing/expect"
)

type slowStore struct {
	mu sync.Mutex
	store
}

const trip = 5 * time.Millisecond

func (d *slowStore) apply(ctx context.Context, key string, w write) (item, bool, error) {
	time.Sleep(trip)
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.store.apply(ctx, key, w)
}

// TestLowUsage_UserFarFromTheLimit_IsCountedInParallelWithTheOrganization counts the round trips of requests.
func TestLowUsage_UserFarFromTheLimit_IsCountedInParallelWithTheOrganization(t *testing.T) {
	for name, c := range map[string]struct {
		limits Limits
		trips  []int
		pause  time.Duration // before the last request
	}{
		// Nothing is known of the user before the first request. At the last two, more than half of the limit is used.
		"up to the limit":   {Limits{User: 6, Organization: 100, CopilotUser: 100, CopilotOrganization: 100}, []int{2, 1, 1, 1, 2, 2}, 0},
		"after a long time": {standard, []int{2, 1, 2}, lowUsageTime},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := New(Config{Limits: c.limits, Table: "-"})
				l.store = &slowStore{store: newModel(slotLog)}
				for i, want := range c.trips {
					if i == len(c.trips)-1 {
						time.Sleep(c.pause)
					}
					began := time.Now()
					expect.Equal(t, answerOf(l.Admit(t.Context(), ann, Ordinary)), answer{Admitted, "", 2}, "request %d", i)
					expect.Equal(t, int(time.Since(began)/trip), want, "the round trips of request %d are", i)
				}
			})
		})
	}
}

// TestLowUsage_UserUsedUpTheLimitElsewhere_OrganizationGetsItsCountBack checks the one case in which the organization's
// count is written for nothing: it is given back, and it is not written again.
func TestLowUsage_UserUsedUpTheLimitElsewhere_OrganizationGetsItsCountBack(t *testing.T) {
	here, there := newTestLimiter(small), newTestLimiter(small)
	there.model, there.store = here.model, here.model
	here.ask(t, ann, Ordinary)
	there.ask(t, ann, Ordinary)
	there.ask(t, ann, Ordinary)
	expect.Equal(t, here.ask(t, ann, Ordinary).Outcome, Rejected, "the fourth is")
	expect.Equal(t, here.used(orders[0]), 3, "the user has used")
	expect.Equal(t, here.used(orders[1]), 3, "the organization has used")
	expect.Equal(t, answerOf(here.ask(t, ann, Ordinary)), answer{Rejected, "user", 1}, "the next, with the user's write only,")
}

func TestLowUsage_ClockJumpsBack_IsForgotten(t *testing.T) {
	s := newTestLimiter(standard)
	s.ask(t, ann, Ordinary)
	expect.Must(t, s.lowUsage.has(orders[0], s.now), "the user does not have low usage")
	expect.That(t, !s.lowUsage.has(orders[0], s.now.Add(-time.Second)), "an entry from the future is used")
}
