package runtime

import (
	"context"
	"errors"
	"sync"
)

// ErrThrottled tells that the account has no concurrent execution left for the function, which was not called.
var ErrThrottled = errors.New("runtime: the account's concurrency is used up")

// An Account bounds the calls that are under way in all functions together, as an account's concurrent
// executions do on AWS: a call that finds none free is refused at once. What is reserved for a function
// is kept for it, and is also the most that it can have.
type Account struct {
	mu       sync.Mutex
	free     int            // for the functions without a reservation
	reserved map[string]int // free ones of the others
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

// A Caller is a function as the account lets it be called.
type Caller struct {
	account  *Account
	function *Function
}

// Caller bounds the calls of a function. A nil account bounds nothing.
func (a *Account) Caller(f *Function) Caller { return Caller{a, f} }

// Invoke is the function's, or ErrThrottled.
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

// take takes n executions, or gives them back.
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
