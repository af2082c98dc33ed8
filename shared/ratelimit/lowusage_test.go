package ratelimit

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"
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

// TestLowUsage_UserFarFromTheLimit_IsCountedInParallelWithTheOrganization counts the round trips of a request.
func TestLowUsage_UserFarFromTheLimit_IsCountedInParallelWithTheOrganization(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Config{Limits: Limits{User: 6, Organization: 100, CopilotUser: 100, CopilotOrganization: 100}, Table: "-"})
		l.store = &slowStore{store: newModel(slotLog)}
		for i, want := range []int{
			2, // nothing is known of the user yet
			1, 1, 1,
			2, 2, // more than half of the limit is used
		} {
			began := time.Now()
			if d := l.Admit(t.Context(), ann, Ordinary); d.Outcome != Admitted || d.Writes != 2 {
				t.Fatalf("request %d: %+v", i, d)
			}
			if got := int(time.Since(began) / trip); got != want {
				t.Errorf("request %d took %d round trips, want %d", i, got, want)
			}
		}
	})
}

func TestLowUsage_IsForgottenAfterAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Config{Limits: Limits{User: 600, Organization: 6000, CopilotUser: 30, CopilotOrganization: 300}, Table: "-"})
		l.store = &slowStore{store: newModel(slotLog)}
		for i, want := range []int{2, 1, 2} {
			began := time.Now()
			l.Admit(t.Context(), ann, Ordinary)
			if got := int(time.Since(began) / trip); got != want {
				t.Errorf("request %d took %d round trips, want %d", i, got, want)
			}
			if i == 1 {
				time.Sleep(lowUsageTime)
			}
		}
	})
}

// TestLowUsage_UserUsedUpTheLimitElsewhere_OrganizationGetsItsCountBack checks the one case in which the organization's
// count is written for nothing: it is given back, and it is not written again.
func TestLowUsage_UserUsedUpTheLimitElsewhere_OrganizationGetsItsCountBack(t *testing.T) {
	here, there := newTestLimiter(small), newTestLimiter(small)
	there.model, there.store = here.model, here.model
	here.ask(t, ann, Ordinary)
	there.ask(t, ann, Ordinary)
	there.ask(t, ann, Ordinary)
	if d := here.ask(t, ann, Ordinary); d.Outcome != Rejected || here.used(orders[0]) != 3 || here.used(orders[1]) != 3 {
		t.Errorf("%+v; used are %d and %d, want 3 and 3", d, here.used(orders[0]), here.used(orders[1]))
	}
	if d := here.ask(t, ann, Ordinary); d.Outcome != Rejected || d.Writes != 1 {
		t.Errorf("the next is %+v, want one write, the user's", d)
	}
}

func TestLowUsage_ClockJumpsBack_IsForgotten(t *testing.T) {
	s := newTestLimiter(Limits{User: 600, Organization: 6000, CopilotUser: 30, CopilotOrganization: 300})
	s.ask(t, ann, Ordinary)
	if !s.lowUsage.has(orders[0], s.now) {
		t.Fatal("the user does not have low usage")
	}
	if s.lowUsage.has(orders[0], s.now.Add(-time.Second)) {
		t.Error("an entry from the future is used")
	}
}
