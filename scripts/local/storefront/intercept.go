package storefront

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

// A Call is one granted call of a function on its way to the store.
type Call struct {
	Function  string
	Operation string // as DynamoDB names it, such as TransactWriteItems
	Uses      []Use
	Body      []byte // as the SDK sent it; not to be changed
}

// Writes tells whether the call changes the named table, by the name it has in the store.
func (c *Call) Writes(table string) bool {
	return slices.ContainsFunc(c.Uses, func(u Use) bool {
		switch u.Action {
		case "PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem":
			return u.Table == table
		}
		return false
	})
}

// A Fate is what happens to a call. The zero Fate passes it on untouched. Its parts come in the
// order in which they stand.
type Fate struct {
	// Hold keeps the call until the channel is closed.
	Hold <-chan struct{}
	// Delay keeps it for that long.
	Delay time.Duration
	// Late keeps it for that long even when the caller leaves meanwhile, so that it reaches the store
	// after the caller's next try.
	Late time.Duration
	// Answer is given in place of the store's; the store never sees the call.
	Answer *Answer
	// DropRequest breaks the connection before the store sees the call.
	DropRequest bool
	// Twice has the store see the call a second time, as after a retry whose first try arrived. The
	// second answer is the one that counts.
	Twice bool
	// HoldAnswer keeps the store's answer until the channel is closed or the caller has left.
	HoldAnswer <-chan struct{}
	// CutAnswer breaks the connection in the middle of the store's answer.
	CutAnswer bool
	// DropAnswer breaks the connection after the store did as it was asked.
	DropAnswer bool
}

// An Answer stands for one of DynamoDB's.
type Answer struct {
	Status int
	Body   string // JSON
}

// Failure is DynamoDB's answer for an error: the kind is the exception's name, such as
// ProvisionedThroughputExceededException or TransactionConflictException.
func Failure(status int, kind, message string) *Answer {
	return &Answer{status, fmt.Sprintf(`{"__type":"com.amazonaws.dynamodb.v20120810#%s","message":%q}`, kind, message)}
}

// Intercept has decide asked for the fate of every call of a function, until remove is called. Of
// several, the first whose fate is not the zero one is followed. decide is called from many
// goroutines.
func (f *Front) Intercept(decide func(*Call) Fate) (remove func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	entry := &decide
	f.deciders = append(f.deciders, entry)
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.deciders = slices.DeleteFunc(f.deciders, func(d *func(*Call) Fate) bool { return d == entry })
	}
}

func (f *Front) fate(c *Call) Fate {
	f.mu.Lock()
	deciders := slices.Clone(f.deciders)
	f.mu.Unlock()
	for _, decide := range deciders {
		if fate := (*decide)(c); fate != (Fate{}) {
			return fate
		}
	}
	return Fate{}
}

// A Barrier holds calls until a number of them have arrived, so that a race takes place for certain.
// Once open it stays open.
type Barrier struct {
	need   int
	remove func()

	mu      sync.Mutex
	arrived int
	opened  bool
	open    chan struct{}
}

// Barrier makes a barrier for calls that match says true of. A process has one call under way at a
// time, so no more than a function's processes can be held at once. It opens by itself when need
// calls have arrived, or by Open.
func (f *Front) Barrier(need int, match func(*Call) bool) *Barrier {
	b := &Barrier{need: need, open: make(chan struct{})}
	b.remove = f.Intercept(func(c *Call) Fate {
		if !match(c) {
			return Fate{}
		}
		return b.arrive()
	})
	return b
}

func (b *Barrier) arrive() Fate {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.opened {
		return Fate{}
	}
	b.arrived++
	if b.arrived >= b.need {
		b.release()
	}
	return Fate{Hold: b.open}
}

func (b *Barrier) release() {
	if !b.opened {
		b.opened = true
		close(b.open)
	}
}

// Open lets all calls go that are held, and holds no more.
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

// Wait returns when as many calls as needed have arrived. When ctx ends first it opens the barrier,
// so that nothing hangs, and says how many came.
func (b *Barrier) Wait(ctx context.Context) error {
	select {
	case <-b.open:
		return nil
	case <-ctx.Done():
		b.Open()
		return fmt.Errorf("storefront: %d of %d calls arrived at the barrier: %w", b.Arrived(), b.need, ctx.Err())
	}
}

// suffer does what comes before the store is asked; false says that the call ends here.
func (fate Fate) suffer(w http.ResponseWriter, r *http.Request) bool {
	if fate.Hold != nil {
		select {
		case <-fate.Hold:
		case <-r.Context().Done():
			return false
		}
	}
	if fate.Delay > 0 {
		select {
		case <-time.After(fate.Delay):
		case <-r.Context().Done():
			return false
		}
	}
	time.Sleep(fate.Late)
	if fate.Answer != nil {
		send(w, *fate.Answer)
		return false
	}
	if fate.DropRequest {
		panic(http.ErrAbortHandler) // net/http's way to break a connection
	}
	return true
}
