package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/local/runtime"
	"wavegate/scripts/local/service"
	"wavegate/shared/operations"
	"wavegate/shared/testing/expect"
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
			expect.That(t, err == nil, "asker %d: %v", i, err)
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
func fleetOf(t *testing.T, w *harness.World) (rollout string, owner, one *harness.Caller) {
	t.Helper()
	owner, one = w.Owner(t), w.Box(t, "box-1")
	rollout = start(t, owner, "gateway-x")
	owner.Put(t, boxPath, box).Is(t, http.StatusCreated)
	one.Get(t, manifestPath("box-1")).Is(t, http.StatusOK)
	return rollout, owner, one
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
	expect.Equal(t, a.waiting.Load(), 2, "calls wait for the assistant:")
	a.letGo()
	expect.Equal(t, answers(), []int{http.StatusOK, http.StatusOK}, "the calls that hung were answered")
}
