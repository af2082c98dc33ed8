// Package admission carries the fair-use limiter's decision on one call.
//
// The limiter decides while the service handles the call. Reads run in parallel with it.
// Everything that cannot be undone, such as a write to the store, waits for the decision. A
// write fails if its context has no Admission, so no code can bypass the limiter unnoticed.
package admission

import (
	"context"
	"errors"
	"net/http"
	"sync"
)

// An Admission is the decision on one call. Several goroutines may wait for it.
type Admission struct {
	done   chan struct{}
	header http.Header
	err    error
}

// Ask starts the decision. The function returns the headers for every answer to the call, and an
// error if the call is refused. It must have its own deadline, because Wait has none.
func Ask(ask func() (http.Header, error)) *Admission {
	a := &Admission{done: make(chan struct{})}
	go func() {
		defer close(a.done)
		a.header, a.err = ask()
	}()
	return a
}

// Refuse makes the Admission of a call that is known to be refused.
func Refuse(header http.Header, refusal error) *Admission {
	a := &Admission{done: make(chan struct{}), header: header, err: refusal}
	close(a.done)
	return a
}

// Refused reports, without waiting, whether the call is known to be refused.
func (a *Admission) Refused() bool {
	select {
	case <-a.done:
		return a.err != nil
	default:
		return false
	}
}

// Wait returns nil if the call is admitted, and the refusal otherwise.
func (a *Admission) Wait() error {
	<-a.done
	return a.err
}

// Header waits for the decision, and returns the headers for every answer to the call.
func (a *Admission) Header() http.Header {
	<-a.done
	return a.header
}

type key struct{}

// Context returns a context with this Admission, for the call.
func (a *Admission) Context(parent context.Context) context.Context {
	return context.WithValue(parent, key{}, a)
}

type sharing struct{}

// Sharing returns a context in which the first Share counts the call.
func Sharing(parent context.Context, count func(organization string) error) context.Context {
	var once sync.Once
	var err error
	return context.WithValue(parent, sharing{}, func(organization string) error {
		once.Do(func() { err = count(organization) })
		return err
	})
}

// Share counts the context's call for an organization that only a row names, and returns the refusal if the call is refused. Calls
// whose token names the organization are counted already.
func Share(ctx context.Context, organization string) error {
	if count, ok := ctx.Value(sharing{}).(func(string) error); ok {
		return count(organization)
	}
	return nil
}

var admitted = Ask(func() (http.Header, error) { return nil, nil })

// Unlimited returns a context for changes that no fair-use limit counts: those of scheduled
// functions, tools and tests.
func Unlimited(parent context.Context) context.Context { return admitted.Context(parent) }

// errNone is a fault of the service: a write without asking the limiter.
var errNone = errors.New("admission: the context has no admission")

// Wait waits for the decision on the context's call. It returns an error if the context has no
// Admission.
func Wait(ctx context.Context) error {
	if a, ok := ctx.Value(key{}).(*Admission); ok {
		return a.Wait()
	}
	return errNone
}
