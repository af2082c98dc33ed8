package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/local/runtime"
	"wavegate/scripts/local/service"
	"wavegate/shared/operations"
)

// A hangingAssistant accepts every call and answers none until it is released.
type hangingAssistant struct {
	url     string
	letGo   func()
	waiting atomic.Int64
	arrived chan struct{} // one for each call
}

func newHangingAssistant(t *testing.T) *hangingAssistant {
	a := &hangingAssistant{arrived: make(chan struct{}, 1000)}
	end := make(chan struct{})
	a.letGo = sync.OnceFunc(func() { close(end) })
	upstream := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		a.waiting.Add(1)
		defer a.waiting.Add(-1)
		a.arrived <- struct{}{}
		select {
		case <-r.Context().Done():
		case <-end:
		}
	}))
	t.Cleanup(upstream.Close)
	t.Cleanup(a.letGo)
	a.url = upstream.URL
	return a
}

// with runs the service with the assistant, in an account with few executions.
func (a *hangingAssistant) with(seconds int, reserved map[string]int) func(*service.Options) {
	return func(o *service.Options) {
		withSettings("COPILOT_URL="+a.url, "COPILOT_SECRET="+secret, fmt.Sprintf("COPILOT_TIMEOUT_SECONDS=%d", seconds))(o)
		o.Account = runtime.NewAccount(few, reserved)
	}
}

// few is how many concurrent executions the account has.
const few = 6

// hang makes a number of people ask the assistant, until each of their calls waits there. They ask one after another,
// because the authorizer needs an execution for each unknown token. answers waits for their final answers.
func (a *hangingAssistant) hang(t *testing.T, w *harness.World, people int) (answers func() []int) {
	t.Helper()
	statuses := make(chan int, people)
	for i := range people {
		caller := w.As(t, fmt.Sprintf("asker-%d", i), "acme", "production_engineer")
		go func() {
			answer, err := caller.Try(http.MethodGet, "/api/copilot/chat", "")
			if err != nil {
				t.Errorf("asker %d: %v", i, err)
			}
			statuses <- answer.Status
		}()
		select {
		case <-a.arrived:
		case status := <-statuses:
			t.Fatalf("asker %d was answered %d, and was to wait for the assistant", i, status)
		case <-time.After(time.Minute):
			t.Fatalf("the call of asker %d does not reach the assistant", i)
		}
	}
	return func() (all []int) {
		for range people {
			all = append(all, <-statuses)
		}
		return all
	}
}

// A rollout that can be halted, and a box that follows it.
func fleetOf(t *testing.T, w *harness.World) (rollout string, owner, box *harness.Caller) {
	t.Helper()
	owner, box = w.Owner(t), w.Box(t, "box-1")
	release := `{"currentVersion":"%s","artifactUrl":"https://artifacts.example.com/%[1]s","sha256":"6f1b3a4c5d2e7f80918273645546372819a0b1c2d3e4f5061728394a5b6c7d8e"}`
	owner.Put(t, "/api/ota/release-channels/gateway-x/canary", fmt.Sprintf(release, "1.1.0")).Is(t, http.StatusCreated)
	owner.Put(t, "/api/ota/release-channels/gateway-x/stable", fmt.Sprintf(release, "1.0.0")).Is(t, http.StatusCreated)
	owner.Put(t, "/api/edges/box-1", `{"edgeType":"gateway-x","channel":"stable","organizationId":"acme"}`).Is(t, http.StatusCreated)
	rollout = owner.Post(t, "/api/ota/rollouts", `{"edgeType":"gateway-x","channel":"stable","targetVersion":"1.1.0"}`).
		Is(t, http.StatusCreated).Header.Get("Location")
	box.Get(t, manifestPath("box-1")).Is(t, http.StatusOK)
	return rollout, owner, box
}

// TestHangingAssistant_CostsTheCopilotAlone: with few executions, polls and halts continue while all calls of the
// copilot hang.
func TestHangingAssistant_CostsTheCopilotAlone(t *testing.T) {
	a := newHangingAssistant(t)
	w := harness.New(t, a.with(27, map[string]int{"copilot": 2, "get-manifest": 1, operations.Authorizer: 1}))
	rollout, owner, box := fleetOf(t, w)
	answers := a.hang(t, w, 2)
	// The copilot has no more; its other callers are refused immediately.
	w.Engineer(t, "acme").Get(t, "/api/copilot/chat").Is(t, http.StatusBadGateway)
	for range 5 {
		box.Get(t, manifestPath("box-1")).Is(t, http.StatusOK)
	}
	owner.Patch(t, rollout, `{"status":"halted"}`).Is(t, http.StatusNoContent)
	box.Get(t, manifestPath("box-1")).Is(t, http.StatusOK)
	if n := a.waiting.Load(); n != 2 {
		t.Errorf("%d calls wait for the assistant, want 2: they did not hang while boxes polled", n)
	}
	a.letGo()
	if got := answers(); !slices.Equal(got, []int{http.StatusOK, http.StatusOK}) {
		t.Errorf("the calls that hung were answered %v", got)
	}
}

// TestHangingAssistant_WithoutAReservation_TakesWhatPollsNeed shows that the test above would notice: all executions
// of the account wait for the assistant, and boxes are refused.
func TestHangingAssistant_WithoutAReservation_TakesWhatPollsNeed(t *testing.T) {
	a := newHangingAssistant(t)
	w := harness.New(t, a.with(27, nil))
	_, _, box := fleetOf(t, w)
	answers := a.hang(t, w, few)
	if got := box.Get(t, manifestPath("box-1")); got.Status != http.StatusBadGateway {
		t.Errorf("a poll is answered %d, with no execution left", got.Status)
	}
	a.letGo()
	answers()
	box.Get(t, manifestPath("box-1")).Is(t, http.StatusOK)
}

// TestHangingAssistant_IsLeftAlone_AfterTwoTimeouts: even without a reservation, the executions become free, because
// the copilot stops asking.
func TestHangingAssistant_IsLeftAlone_AfterTwoTimeouts(t *testing.T) {
	a := newHangingAssistant(t)
	w := harness.New(t, a.with(1, nil), harness.WithProcesses(1))
	caller := w.Engineer(t, "acme")
	for range 2 {
		caller.Get(t, "/api/copilot/chat").Is(t, http.StatusGatewayTimeout)
	}
	for range 3 {
		answer := caller.Get(t, "/api/copilot/chat").Is(t, http.StatusServiceUnavailable)
		if answer.Header.Get("Retry-After") == "" {
			t.Error("it is not said when to try again")
		}
	}
	if n := len(a.arrived); n != 2 {
		t.Errorf("the assistant was asked %d times, want 2", n)
	}
}
