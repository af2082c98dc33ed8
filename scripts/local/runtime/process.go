package runtime

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"
)

type invocation struct {
	id       string
	event    []byte
	timeout  time.Duration
	deadline time.Time
	answer   chan answer   // has a buffer of one
	over     chan struct{} // closed when the process polls again or has ended
	timer    *time.Timer
}

type answer struct {
	payload []byte
	err     error
}

func newInvocation(event []byte, timeout time.Duration) *invocation {
	return &invocation{
		id: uuid.NewString(), event: event, timeout: timeout,
		answer: make(chan answer, 1), over: make(chan struct{}),
	}
}

// settle sets the answer of the call. Only the first answer counts.
func (c *invocation) settle(payload []byte, err error) {
	select {
	case c.answer <- answer{payload, err}:
	default:
	}
}

// A process is a running copy of a function, with its Runtime API.
type process struct {
	function *Function
	cmd      *exec.Cmd
	server   *http.Server
	calls    chan *invocation
	ready    chan struct{} // closed at the first poll
	done     chan struct{} // closed when the process has ended

	mu       sync.Mutex
	polled   bool
	current  *invocation
	initFail *FunctionError
}

// launch starts a process in the caller's place. The place is freed when the process ends.
func launch(f *Function) (*process, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &process{
		function: f,
		calls:    make(chan *invocation, 1),
		ready:    make(chan struct{}),
		done:     make(chan struct{}),
	}
	p.server = &http.Server{Handler: p.api(), ReadHeaderTimeout: 5 * time.Second}
	out := &lines{emit: func(line string) { f.spec.Log(f.spec.Name, line) }}
	p.cmd = exec.Command(f.spec.Binary)
	p.cmd.Dir = filepath.Dir(f.spec.Binary)
	p.cmd.Env = environment(f.spec, listener.Addr().String())
	p.cmd.Stdout, p.cmd.Stderr = out, out
	p.cmd.SysProcAttr = attributes()
	// A child of the process may keep its output open. This bounds the wait for it.
	p.cmd.WaitDelay = time.Second

	f.mu.Lock()
	if f.stopped {
		f.mu.Unlock()
		listener.Close()
		return nil, ErrStopped
	}
	if err := p.cmd.Start(); err != nil {
		f.mu.Unlock()
		listener.Close()
		return nil, err
	}
	f.live[p] = struct{}{}
	f.counts.Started++
	f.ended.Add(1)
	f.mu.Unlock()

	go p.server.Serve(listener) //nolint:errcheck // it ends with the process, by Close
	go func() {
		defer f.ended.Done()
		err := p.cmd.Wait()
		out.flush()
		p.server.Close()
		close(p.done)
		f.processEnded(p)
		p.abandon(err)
	}()
	return p, nil
}

// environment is what Lambda gives a function, as far as it matters here. The gateway's header
// marks the trace as not sampled, so no X-Ray daemon is needed.
func environment(spec Spec, api string) []string {
	env := []string{
		"AWS_LAMBDA_RUNTIME_API=" + api,
		"AWS_LAMBDA_FUNCTION_NAME=" + spec.Name,
		"AWS_LAMBDA_FUNCTION_VERSION=$LATEST",
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE=" + strconv.Itoa(spec.MemoryMB),
		"AWS_LAMBDA_INITIALIZATION_TYPE=on-demand",
		"AWS_LAMBDA_LOG_GROUP_NAME=/aws/lambda/" + spec.Name,
		"AWS_LAMBDA_LOG_STREAM_NAME=local",
		"AWS_LAMBDA_LOG_FORMAT=JSON",
		"AWS_LAMBDA_LOG_LEVEL=INFO",
		"AWS_EXECUTION_ENV=AWS_Lambda_provided.al2023",
		"_HANDLER=bootstrap",
		"LAMBDA_TASK_ROOT=" + filepath.Dir(spec.Binary),
		"LAMBDA_RUNTIME_DIR=/var/runtime",
		"TZ=:UTC",
		"LANG=en_US.UTF-8",
		"PATH=/usr/local/bin:/usr/bin:/bin",
	}
	return append(env, spec.Env...)
}

// take passes a call to the process, which is polling or about to poll. The call's timeout
// starts here.
func (p *process) take(c *invocation) {
	c.deadline = time.Now().Add(c.timeout)
	p.mu.Lock()
	p.current = c
	c.timer = time.AfterFunc(c.timeout, func() {
		c.settle(nil, fmt.Errorf("%w of %s", ErrTimeout, c.timeout))
		p.kill()
	})
	p.mu.Unlock()
	select {
	case <-p.done: // it ended after it was found
		p.abandon(errors.New("ended while idle"))
	default:
		p.calls <- c
	}
}

// poll is called when the process asks for its next call, which ends its previous call.
func (p *process) poll() {
	p.mu.Lock()
	first := !p.polled
	p.polled = true
	last := p.current
	p.current = nil
	p.mu.Unlock()
	if first {
		close(p.ready)
		return
	}
	if last != nil {
		last.timer.Stop()
	}
	p.function.free(p)
	if last != nil {
		last.settle(nil, fmt.Errorf("%w: it asked for the next call first", ErrCrashed))
		close(last.over)
	}
}

// reply settles the call with the given id. It returns false if there is no such call.
func (p *process) reply(id string, payload []byte, err error) bool {
	p.mu.Lock()
	c := p.current
	p.mu.Unlock()
	if c == nil || c.id != id {
		return false
	}
	c.settle(payload, err)
	return true
}

// abandon settles the process's call after the process has ended.
func (p *process) abandon(cause error) {
	p.mu.Lock()
	c := p.current
	p.current = nil
	p.mu.Unlock()
	if c == nil {
		return
	}
	c.timer.Stop()
	if cause == nil {
		cause = errors.New("it exited with status 0")
	}
	c.settle(nil, fmt.Errorf("%w: %w", ErrCrashed, cause))
	close(c.over)
}

func (p *process) initFailure() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.initFail != nil {
		return fmt.Errorf("%w while it started: %w", ErrCrashed, p.initFail)
	}
	return fmt.Errorf("%w while it started: %s", ErrCrashed, p.cmd.ProcessState)
}

// kill ends the process immediately, as Lambda does with a frozen process. It does not wait for the process.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended already
}

type lines struct {
	emit    func(string)
	mu      sync.Mutex
	partial []byte
}

// maxLine bounds a line without an end. Lambda also cuts at 256 KB.
const maxLine = 256 << 10

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.partial = append(l.partial, b...)
	for {
		i := bytes.IndexByte(l.partial, '\n')
		if i < 0 {
			break
		}
		l.emit(string(bytes.TrimRight(l.partial[:i], "\r")))
		l.partial = l.partial[i+1:]
	}
	if len(l.partial) > maxLine {
		l.emit(string(l.partial))
		l.partial = nil
	}
	return len(b), nil
}

func (l *lines) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.partial) > 0 {
		l.emit(string(l.partial))
		l.partial = nil
	}
}
