// Package runtime runs functions as Lambda does: as processes that use the Runtime API, with one
// process for each parallel call.
//
// The protocol is that of AWS ("Using the Lambda runtime API for custom runtimes", version
// 2018-06-01), so the tested binaries are the deployed ones. Each process has its own API on a
// loopback port, so each request is known to come from that process.
package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// These errors say why a call has no answer.
var (
	// ErrTimeout means that the function did not answer within its timeout. Its process was
	// ended.
	ErrTimeout = errors.New("runtime: the function took longer than its timeout")
	// ErrCrashed means that the process ended before it answered, or could not be started.
	ErrCrashed = errors.New("runtime: the function's process ended without an answer")
	// ErrStopped means that the service is stopping the function.
	ErrStopped = errors.New("runtime: the function is stopped")
	// ErrEventTooLarge means that the event is larger than Lambda's 6 MB. The function was not
	// called.
	ErrEventTooLarge = errors.New("runtime: the event is larger than Lambda accepts")
	// ErrAnswerTooLarge means that the answer is larger than Lambda's 6 MB.
	ErrAnswerTooLarge = errors.New("runtime: the function's answer is larger than Lambda accepts")
)

// A FunctionError is an error that a function reports instead of an answer: one that its handler
// returned, or a panic.
type FunctionError struct {
	Type    string `json:"errorType"`
	Message string `json:"errorMessage"`
}

func (e *FunctionError) Error() string {
	return fmt.Sprintf("runtime: the function failed: %s: %s", e.Type, e.Message)
}

// maxPayload bounds events and answers, as Lambda does for synchronous calls.
const maxPayload = 6 << 20

// initTimeout bounds the time from a process's start to its first poll, as Lambda does.
const initTimeout = 10 * time.Second

// settling is the longest wait for a process to poll again, or to end, after its answer.
const settling = 50 * time.Millisecond

// defaultProcesses is the default of Spec.Processes.
const defaultProcesses = 10

// A Spec describes a function.
type Spec struct {
	Name   string
	Binary string // path of the executable, which is named bootstrap on Lambda
	// Timeout bounds one call, from the moment that a process takes it.
	Timeout  time.Duration
	MemoryMB int
	// Processes limits the parallel calls; 0 means DefaultProcesses. Further calls wait for a
	// free process until their context ends. Lambda instead refuses calls beyond the account's
	// concurrency, usually 1,000. Here the limit only protects the machine, so waiting is closer
	// to a deployed service.
	Processes int
	// Env are further variables of the process, each "NAME=value". The gateway's own environment
	// is not passed on, so a function sees what it would see on Lambda.
	Env []string
	// Log receives each line that a process writes to standard output or error, without the line
	// break. It is called from several goroutines.
	Log func(function, line string)
}

// Counts are the numbers of a function's processes and calls.
type Counts struct {
	Started int // processes started so far
	Live    int // processes that run now, including those that start
	Idle    int // running processes that wait for a call
	Calls   int // calls that a process took
}

// A Function is a pool of processes of one binary.
type Function struct {
	spec Spec

	mu      sync.Mutex
	idle    []*process            // the most recently used last
	live    map[*process]struct{} // every process that was started and has not ended
	places  int                   // processes that run or will be started
	waiting []chan<- *process     // calls without a process, oldest first; nil means that a place is free
	counts  Counts
	stopped bool
	ended   sync.WaitGroup
}

// New makes the pool. The first call starts the first process.
func New(spec Spec) *Function {
	if spec.Processes == 0 {
		spec.Processes = defaultProcesses
	}
	if spec.Log == nil {
		spec.Log = func(string, string) {}
	}
	return &Function{spec: spec, live: map[*process]struct{}{}}
}

// Name is the function's name.
func (f *Function) Name() string { return f.spec.Name }

// Invoke passes the event to a process and returns its answer. It starts a process if none is
// idle.
//
// Its errors are ErrTimeout, ErrCrashed, ErrStopped, ErrEventTooLarge, ErrAnswerTooLarge,
// *FunctionError, or the context's. If the context ends, Invoke returns, but the function
// continues until it answers or its timeout ends it, as on AWS.
func (f *Function) Invoke(ctx context.Context, event []byte) ([]byte, error) {
	if len(event) > maxPayload {
		return nil, ErrEventTooLarge
	}
	p, err := f.acquire(ctx)
	if err != nil {
		return nil, err
	}
	call := newInvocation(event, f.spec.Timeout)
	p.take(call)
	select {
	case a := <-call.answer:
		// The process polls again a moment later. The wait keeps sequential calls in one
		// process. It is bounded, because a function may continue to work after its answer.
		select {
		case <-call.over:
		case <-time.After(settling):
		}
		return a.payload, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// acquire returns the idle process that was used last, as Lambda does. If there is none, it
// starts a process or waits for one.
func (f *Function) acquire(ctx context.Context) (*process, error) {
	f.mu.Lock()
	switch {
	case f.stopped:
		f.mu.Unlock()
		return nil, ErrStopped
	case len(f.idle) > 0:
		p := f.idle[len(f.idle)-1]
		f.idle = f.idle[:len(f.idle)-1]
		f.counts.Calls++
		f.mu.Unlock()
		return p, nil
	case f.places < f.spec.Processes:
		f.places++
		f.mu.Unlock()
		return f.start()
	}
	turn := make(chan *process, 1)
	f.waiting = append(f.waiting, turn)
	f.mu.Unlock()

	select {
	case p, open := <-turn:
		switch {
		case !open:
			return nil, ErrStopped
		case p == nil:
			return f.start()
		}
		return p, nil
	case <-ctx.Done():
		f.stopWaiting(turn)
		return nil, ctx.Err()
	}
}

// stopWaiting stops waiting. A process that was passed to this call in the same moment goes to the
// next call.
func (f *Function) stopWaiting(turn chan *process) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waiting = slices.DeleteFunc(f.waiting, func(c chan<- *process) bool { return c == turn })
	select {
	case p, open := <-turn:
		switch {
		case !open:
		case p == nil:
			f.freePlace()
		default:
			f.counts.Calls--
			f.offer(p)
		}
	default:
	}
}

// start runs a new process in the caller's place and waits for its first poll.
func (f *Function) start() (*process, error) {
	p, err := launch(f)
	if err != nil {
		f.mu.Lock()
		f.freePlace()
		f.mu.Unlock()
		return nil, fmt.Errorf("%w: %w", ErrCrashed, err)
	}
	select {
	case <-p.ready:
		f.mu.Lock()
		f.counts.Calls++
		f.mu.Unlock()
		return p, nil
	case <-p.done:
		return nil, p.initFailure()
	case <-time.After(initTimeout):
		p.kill()
		return nil, fmt.Errorf("%w: no poll within %s of its start", ErrCrashed, initTimeout)
	}
}

// free is called when a process polls again. The process goes to the call that has waited
// longest.
func (f *Function) free(p *process) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.offer(p)
}

func (f *Function) offer(p *process) {
	if _, lives := f.live[p]; !lives {
		return // it ended while it was passed on
	}
	if len(f.waiting) > 0 {
		f.waiting[0] <- p
		f.waiting = f.waiting[1:]
		f.counts.Calls++
		return
	}
	f.idle = append(f.idle, p)
}

// processEnded is called when a process has ended for any reason.
func (f *Function) processEnded(p *process) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.live, p)
	f.idle = slices.DeleteFunc(f.idle, func(q *process) bool { return q == p })
	f.freePlace()
}

// freePlace frees a place, or passes it to the call that has waited longest.
func (f *Function) freePlace() {
	if len(f.waiting) > 0 && !f.stopped {
		f.waiting[0] <- nil
		f.waiting = f.waiting[1:]
		return
	}
	f.places--
}

// Counts returns the present numbers.
func (f *Function) Counts() Counts {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.counts
	c.Live, c.Idle = len(f.live), len(f.idle)
	return c
}

// PIDs lists the processes that run now.
func (f *Function) PIDs() []int {
	f.mu.Lock()
	defer f.mu.Unlock()
	var pids []int
	for p := range f.live {
		pids = append(pids, p.cmd.Process.Pid)
	}
	slices.Sort(pids)
	return pids
}

// Recycle ends every idle process, so that the next call is a cold start.
func (f *Function) Recycle() {
	f.mu.Lock()
	idle := f.idle
	f.idle = nil
	f.mu.Unlock()
	for _, p := range idle {
		p.kill()
		<-p.done
	}
}

// Stop ends every process and returns when all have ended. Calls that wait or run get ErrStopped
// or ErrCrashed.
func (f *Function) Stop() {
	f.mu.Lock()
	f.stopped = true
	for _, turn := range f.waiting {
		close(turn)
	}
	f.waiting = nil
	for p := range f.live {
		p.kill()
	}
	f.mu.Unlock()
	f.ended.Wait()
}
