package runtime

import (
	"context"
	"errors"
	"sync"
)

// ErrThrottled means that the account has no free execution for the function. The function was
// not called.
var ErrThrottled = errors.New("runtime: the account's concurrency is used up")

// An Account limits the parallel calls of all functions together, like an account's concurrent executions on AWS. A
// call without a free execution is refused immediately. Executions that are reserved for a function are kept for it,
// and are also the most that it can have.
type Account struct {
	mu       sync.Mutex
	free     int            // for functions without a reservation
	reserved map[string]int // free executions of the other functions
}

// NewAccount makes an account with a quota, part of which may be reserved by function.
func NewAccount(quota int, reserved map[string]int) *Account {
	a := &Account{free: quota, reserved: map[string]int{}}
	for function, n := range reserved {
		a.reserved[function] = n
		a.free -= n
	}
	return a
}

// A Caller calls a function within the account's limits.
type Caller struct {
	account  *Account
	function *Function
}

// Caller limits the calls of a function. A nil account has no limits.
func (a *Account) Caller(f *Function) Caller { return Caller{a, f} }

// Invoke calls the function, or returns ErrThrottled.
func (c Caller) Invoke(ctx context.Context, event []byte) ([]byte, error) {
	if c.account == nil {
		return c.function.Invoke(ctx, event)
	}
	if !c.account.take(c.function.Name(), 1) {
		return nil, ErrThrottled
	}
	defer c.account.take(c.function.Name(), -1)
	return c.function.Invoke(ctx, event)
}

// take takes n executions; a negative n returns them.
func (a *Account) take(function string, n int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if left, ok := a.reserved[function]; ok {
		if left < n {
			return false
		}
		a.reserved[function] -= n
		return true
	}
	if a.free < n {
		return false
	}
	a.free -= n
	return true
}
