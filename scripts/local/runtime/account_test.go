package runtime

import (
	"errors"
	"testing"

	"wavegate/shared/testing/expect"
)

func TestAccount_AReservation_IsGuaranteedAndIsALimit(t *testing.T) {
	a := NewAccount(5, map[string]int{"copilot": 2, "get-manifest": 1})
	take := func(function string, want bool) {
		t.Helper()
		expect.Equal(t, a.take(function, 1), want, "%s is admitted:", function)
	}
	take("copilot", true)
	take("copilot", true)
	take("copilot", false) // its reservation is used up, although others are free
	take("update-rollout", true)
	take("put-edge", true)
	take("put-edge", false) // the free ones are reserved for polls
	take("get-manifest", true)
	take("get-manifest", false)
	a.take("copilot", -1)
	take("update-rollout", false) // an execution that the copilot returns stays reserved for it
	take("copilot", true)
}

func TestAccount_WithoutFreeExecution_RefusesAtOnceWithoutACall(t *testing.T) {
	f := New(Spec{Name: "f", Binary: "/does/not/exist"})
	defer f.Stop()
	if _, err := NewAccount(0, nil).Caller(f).Invoke(t.Context(), nil); !errors.Is(err, ErrThrottled) {
		t.Errorf("got %v", err)
	}
	took(t, f, 0, 0)
	var none *Account
	if _, err := none.Caller(f).Invoke(t.Context(), nil); !errors.Is(err, ErrCrashed) {
		t.Errorf("without an account: %v", err)
	}
}
