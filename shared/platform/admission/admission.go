// Package admission is the fair-use limiter's word on one call.
//
// The word is asked for while the call is read. Reads run beside it. Whatever cannot be taken back,
// such as a change of the store, waits for it. A change whose context carries no admission is refused,
// so that no path around the limiter can appear unnoticed.
package admission

import (
	"context"
	"errors"
	"net/http"
)

// An Admission is the word on one call. Several may wait for it.
type Admission struct {
	done   chan struct{}
	header http.Header
	err    error
}

// Ask starts to ask. The function returns the headers that every answer to the call carries, and an
// error if the call is not admitted. It must keep a deadline of its own: those who wait have none.
func Ask(ask func() (http.Header, error)) *Admission {
	a := &Admission{done: make(chan struct{})}
	go func() {
		defer close(a.done)
		a.header, a.err = ask()
	}()
	return a
}

// Refuse makes the admission of a call that is known to be refused.
func Refuse(header http.Header, refusal error) *Admission {
	a := &Admission{done: make(chan struct{}), header: header, err: refusal}
	close(a.done)
	return a
}

// Refused tells, without waiting, whether the call is known to be refused.
func (a *Admission) Refused() bool {
	select {
	case <-a.done:
		return a.err != nil
	default:
		return false
	}
}

// Wait returns nil when the call is admitted, and the refusal otherwise.
func (a *Admission) Wait() error {
	<-a.done
	return a.err
}

// Header waits, and returns the headers that every answer to the call carries.
func (a *Admission) Header() http.Header {
	<-a.done
	return a.header
}

type key struct{}

// Context makes the context of the call that the admission is about.
func (a *Admission) Context(parent context.Context) context.Context {
	return context.WithValue(parent, key{}, a)
}

var admitted = Ask(func() (http.Header, error) { return nil, nil })

// Unlimited makes a context for changes that no fair-use limit counts: those of scheduled functions,
// of tools and of tests.
func Unlimited(parent context.Context) context.Context { return admitted.Context(parent) }

// errNone is a fault of ours: somebody would write without having asked.
var errNone = errors.New("admission: the context belongs to no call whose admission was asked for")

// Wait waits for the word on the call that the context belongs to. A context without one is refused.
func Wait(ctx context.Context) error {
	if a, ok := ctx.Value(key{}).(*Admission); ok {
		return a.Wait()
	}
	return errNone
}
