package runtime

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"wavegate/shared/testing/expect"
)

var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "runtime")
	if err != nil {
		panic(err)
	}
	binary = filepath.Join(dir, "bootstrap")
	build := exec.Command("go", "build", "-tags", "lambda.norpc", "-o", binary, "./testdata/function")
	if out, err := build.CombinedOutput(); err != nil {
		panic(fmt.Sprintf("building the test function: %v\n%s", err, out))
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// start makes a function for a test. At the end of the test it is stopped, and no process may be
// left.
func start(t *testing.T, change ...func(*Spec)) *Function {
	t.Helper()
	spec := Spec{Name: "under-test", Binary: binary, Timeout: 10 * time.Second, MemoryMB: 256}
	for _, c := range change {
		c(&spec)
	}
	f := New(spec)
	t.Cleanup(func() {
		pids := f.PIDs()
		f.Stop()
		for _, pid := range pids {
			expect.That(t, !runs(pid), "process %d outlived its function", pid)
		}
		c := f.Counts()
		expect.Equal(t, []int{c.Live, c.Idle}, []int{0, 0}, "processes after the end:")
	})
	return f
}

func runs(pid int) bool { return syscall.Kill(pid, 0) == nil }

type echo struct {
	Value       string    `json:"value"`
	PID         int       `json:"pid"`
	Environment []string  `json:"environment"`
	Deadline    time.Time `json:"deadline"`
	RequestID   string    `json:"requestId"`
	ARN         string    `json:"arn"`
	Trace       string    `json:"trace"`
}

func call(t *testing.T, f *Function, event string) (echo, error) {
	t.Helper()
	payload, err := f.Invoke(t.Context(), []byte(event))
	if err != nil {
		return echo{}, err
	}
	var e echo
	if err := json.Unmarshal(payload, &e); err != nil {
		t.Fatalf("the answer is not JSON: %v: %s", err, payload)
	}
	return e, nil
}

func must(t *testing.T, f *Function, event string) echo {
	t.Helper()
	e := expect.Value(call(t, f, event))(t)
	return e
}

// wait is an event whose call runs until end is called.
func wait(t *testing.T) (event string, end func()) {
	file := filepath.Join(t.TempDir(), "end")
	return fmt.Sprintf(`{"do":"wait","value":%q}`, file), func() {
		err := os.WriteFile(file, nil, 0o600)
		expect.That(t, err == nil, "%v", err)
	}
}

// until returns when the function's numbers are as wanted.
func until(f *Function, wanted func(Counts) bool) {
	for !wanted(f.Counts()) {
		time.Sleep(time.Millisecond)
	}
}

// invokes makes n calls at the same time.
func invokes(t *testing.T, f *Function, n int, event string) *sync.WaitGroup {
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			_, err := f.Invoke(t.Context(), []byte(event))
			expect.That(t, err == nil, "%v", err)
		})
	}
	return &all
}

// took checks how many processes a function has started, and how many calls it had.
func took(t *testing.T, f *Function, processes, calls int) {
	t.Helper()
	c := f.Counts()
	expect.Equal(t, []int{c.Started, c.Calls}, []int{processes, calls}, "processes and calls:")
}

func idle(c Counts) bool { return c.Idle > 0 }

func calls(n int) func(Counts) bool { return func(c Counts) bool { return c.Calls >= n } }
