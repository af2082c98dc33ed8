package storefront

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

// A Call is a granted call of a function to the store.
type Call struct {
	Function  string
	Operation string // the DynamoDB operation, such as TransactWriteItems
	Uses      []Use
	Body      []byte // as the SDK sent it; must not be changed
}

// Writes reports whether the call changes a table, by its name in the store.
func (c *Call) Writes(table string) bool {
	return slices.ContainsFunc(c.Uses, func(u Use) bool {
		switch u.Action {
		case "PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem":
			return u.Table == table
		}
		return false
	})
}

// An Effect is what the front does to a call. The zero Effect passes the call on unchanged. The
// fields are applied in their order.
type Effect struct {
	// Hold delays the call until the channel is closed.
	Hold <-chan struct{}
	// Delay delays the call for this time.
	Delay time.Duration
	// Late delays the call for this time even if the caller leaves, so that the call reaches the
	// store after the caller's retry.
	Late time.Duration
	// Answer is sent instead of the store's answer. The store does not get the call.
	Answer *Answer
	// DropRequest breaks the connection before the store gets the call.
	DropRequest bool
	// Twice sends the call to the store twice, as after a retry whose first try arrived. The
	// caller gets the second answer.
	Twice bool
	// HoldAnswer delays the store's answer until the channel is closed or the caller has left.
	HoldAnswer <-chan struct{}
	// CutAnswer breaks the connection in the middle of the store's answer.
	CutAnswer bool
	// DropAnswer breaks the connection after the store has handled the call.
	DropAnswer bool
}

// An Answer replaces one of DynamoDB.
type Answer struct {
	Status int
	Body   string // JSON
}

// Failure is DynamoDB's answer for an error. The kind is the exception's name, such as
// ProvisionedThroughputExceededException or TransactionConflictException.
func Failure(status int, kind, message string) *Answer {
	return &Answer{status, fmt.Sprintf(`{"__type":"com.amazonaws.dynamodb.v20120810#%s","message":%q}`, kind, message)}
}

// Intercept calls decide for every call of a function, until remove is called. If there are
// several functions, the first effect that is not zero applies. decide is called from many
// goroutines.
func (f *Front) Intercept(decide func(*Call) Effect) (remove func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	entry := &decide
	f.deciders = append(f.deciders, entry)
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.deciders = slices.DeleteFunc(f.deciders, func(d *func(*Call) Effect) bool { return d == entry })
	}
}

func (f *Front) effect(c *Call) Effect {
	f.mu.Lock()
	deciders := slices.Clone(f.deciders)
	f.mu.Unlock()
	for _, decide := range deciders {
		if effect := (*decide)(c); effect != (Effect{}) {
			return effect
		}
	}
	return Effect{}
}

// A Barrier holds calls until a number of them have arrived, to force a race. Once open it stays
// open.
type Barrier struct {
	need   int
	remove func()

	mu      sync.Mutex
	arrived int
	opened  bool
	open    chan struct{}
}

// Barrier makes a barrier for the calls that match returns true for. A process makes one call at
// a time, so a barrier can hold at most as many calls as a function has processes. It opens when
// need calls have arrived, or by Open.
func (f *Front) Barrier(need int, match func(*Call) bool) *Barrier {
	b := &Barrier{need: need, open: make(chan struct{})}
	b.remove = f.Intercept(func(c *Call) Effect {
		if !match(c) {
			return Effect{}
		}
		return b.arrive()
	})
	return b
}

func (b *Barrier) arrive() Effect {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.opened {
		return Effect{}
	}
	b.arrived++
	if b.arrived >= b.need {
		b.release()
	}
	return Effect{Hold: b.open}
}

func (b *Barrier) release() {
	if !b.opened {
		b.opened = true
		close(b.open)
	}
}

// Open releases all held calls, and holds no others.
func (b *Barrier) Open() {
	b.mu.Lock()
	b.release()
	b.mu.Unlock()
	b.remove()
}

// Arrived is the number of calls that were held so far.
func (b *Barrier) Arrived() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.arrived
}

// Wait returns when as many calls as needed have arrived. If ctx ends first, Wait opens the
// barrier and returns an error with the number of calls.
func (b *Barrier) Wait(ctx context.Context) error {
	select {
	case <-b.open:
		return nil
	case <-ctx.Done():
		b.Open()
		return fmt.Errorf("storefront: %d of %d calls arrived at the barrier: %w", b.Arrived(), b.need, ctx.Err())
	}
}

// applyBefore applies the parts of the effect that come before the store gets the call. It
// returns false if the call ends here.
func (effect Effect) applyBefore(w http.ResponseWriter, r *http.Request) bool {
	if effect.Hold != nil {
		select {
		case <-effect.Hold:
		case <-r.Context().Done():
			return false
		}
	}
	if effect.Delay > 0 {
		select {
		case <-time.After(effect.Delay):
		case <-r.Context().Done():
			return false
		}
	}
	time.Sleep(effect.Late)
	if effect.Answer != nil {
		send(w, *effect.Answer)
		return false
	}
	if effect.DropRequest {
		panic(http.ErrAbortHandler) // how net/http breaks a connection
	}
	return true
}
