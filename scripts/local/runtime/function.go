// Package runtime runs functions the way Lambda does: as processes that speak the Runtime API, one
// process for each call that is under way.
//
// The protocol is AWS's own ("Using the Lambda runtime API for custom runtimes", version
// 2018-06-01), so that the binaries under test are the ones that are deployed. Every process gets
// an API of its own on a loopback port: what arrives there can only be that process's.
package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Why a call has no answer.
var (
	// ErrTimeout: the function did not answer within its timeout; its process was ended.
	ErrTimeout = errors.New("runtime: the function took longer than its timeout")
	// ErrCrashed: the process ended, or could not be started, before it answered.
	ErrCrashed = errors.New("runtime: the function's process ended without an answer")
	// ErrStopped: the function is being ended with the service.
	ErrStopped = errors.New("runtime: the function is stopped")
	// ErrEventTooLarge: the event is over Lambda's 6 MB. The function was not called.
	ErrEventTooLarge = errors.New("runtime: the event is larger than Lambda takes")
	// ErrAnswerTooLarge: the answer is over Lambda's 6 MB.
	ErrAnswerTooLarge = errors.New("runtime: the function's answer is larger than Lambda takes")
)

// A FunctionError is what a function reports in place of an answer: an error that its handler
// returned, or a panic.
type FunctionError struct {
	Type    string `json:"errorType"`
	Message string `json:"errorMessage"`
}

func (e *FunctionError) Error() string {
	return fmt.Sprintf("runtime: the function failed: %s: %s", e.Type, e.Message)
}

// Payloads in and out are bounded as Lambda bounds those of a synchronous call.
const maxPayload = 6 << 20

// initTimeout bounds the time from a process's start to its first poll, as Lambda does.
const initTimeout = 10 * time.Second

// settling bounds the wait for a process to poll again, or to end, after its answer.
const settling = 50 * time.Millisecond

// DefaultProcesses is how many processes of one function run at most when a Spec does not say.
const DefaultProcesses = 10

// A Spec describes a function.
type Spec struct {
	Name   string
	Binary string // path of the executable that Lambda knows as bootstrap
	// Timeout bounds one call from the moment that a process takes it.
	Timeout  time.Duration
	MemoryMB int
	// Processes bounds the calls that are under way at once; 0 is DefaultProcesses. A further call
	// waits for a free process until its context ends. Lambda would refuse it once an account's
	// concurrency (1,000 as a rule) is used up; here the bound protects the machine and says nothing
	// about a deployed service, so waiting is the better likeness.
	Processes int
	// Env are further variables of the process, each "NAME=value". The gateway's own environment is
	// not handed on: a function sees what it would see on Lambda.
	Env []string
	// Log receives each line that a process writes to its standard output or error, without the
	// line's end. It is called from several goroutines.
	Log func(function, line string)
}

// Counts tells how a function's processes are doing.
type Counts struct {
	Started int // processes started so far
	Live    int // processes that run now, starting ones among them
	Idle    int // of those, waiting for a call
	Calls   int // calls that a process took
}

// A Function is a pool of processes of one binary.
type Function struct {
	spec Spec

	mu      sync.Mutex
	idle    []*process            // the most recently used last
	live    map[*process]struct{} // every process that was started and has not ended
	places  int                   // processes that run or are about to be started
	waiting []chan<- *process     // calls without a process, oldest first; nil stands for a free place
	counts  Counts
	stopped bool
	ended   sync.WaitGroup
}

// New makes the pool. No process is started before the first call.
func New(spec Spec) *Function {
	if spec.Processes == 0 {
		spec.Processes = DefaultProcesses
	}
	if spec.Log == nil {
		spec.Log = func(string, string) {}
	}
	return &Function{spec: spec, live: map[*process]struct{}{}}
}

// Name is the function's name.
func (f *Function) Name() string { return f.spec.Name }

// Invoke hands the event to a process, which is started if none is idle, and returns its answer.
//
// Errors: ErrTimeout, ErrCrashed, ErrStopped, ErrEventTooLarge, ErrAnswerTooLarge, *FunctionError,
// or the context's. A context that ends takes the caller away and nothing else: as on AWS, the
// function runs on until it answers or its timeout ends it.
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
		// A moment later the process polls again. Waiting for that keeps calls that are made one after
		// the other in one process; a function that works on after its answer is not waited for.
		select {
		case <-call.over:
		case <-time.After(settling):
		}
		return a.payload, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// acquire finds an idle process, the most recently used first as Lambda does, or starts one, or
// waits.
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
		f.forgo(turn)
		return nil, ctx.Err()
	}
}

// forgo gives up waiting. What was handed over in the same moment goes to the next one.
func (f *Function) forgo(turn chan *process) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waiting = slices.DeleteFunc(f.waiting, func(c chan<- *process) bool { return c == turn })
	select {
	case p, open := <-turn:
		switch {
		case !open:
		case p == nil:
			f.vacate()
		default:
			f.counts.Calls--
			f.offer(p)
		}
	default:
	}
}

// start runs a new process in the place that the caller holds and waits for its first poll.
func (f *Function) start() (*process, error) {
	p, err := launch(f)
	if err != nil {
		f.mu.Lock()
		f.vacate()
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

// free is called when a process polls again: it goes to the call that has waited longest.
func (f *Function) free(p *process) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.offer(p)
}

func (f *Function) offer(p *process) {
	if _, lives := f.live[p]; !lives {
		return // it ended while it was being handed over
	}
	if len(f.waiting) > 0 {
		f.waiting[0] <- p
		f.waiting = f.waiting[1:]
		f.counts.Calls++
		return
	}
	f.idle = append(f.idle, p)
}

// gone is called when a process has ended, for whatever reason.
func (f *Function) gone(p *process) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.live, p)
	f.idle = slices.DeleteFunc(f.idle, func(q *process) bool { return q == p })
	f.vacate()
}

// vacate gives up a place, or passes it to the call that has waited longest.
func (f *Function) vacate() {
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

// Stop ends every process and returns when the last one has ended. Calls that wait or are under way
// get ErrStopped or ErrCrashed.
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
