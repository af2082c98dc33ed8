package runtime

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"wavegate/shared/testing/expect"
)

func TestInvoke_FunctionSeesWhatLambdaGives(t *testing.T) {
	f := start(t, func(s *Spec) { s.Env = []string{"AWS_REGION=" + Region, "SETTING=as given"} })
	before := time.Now()
	e := must(t, f, `{"value":"hello"}`)

	expect.Equal(t, e.Value, "hello", "value")
	expect.Equal(t, len(e.RequestID), 36, "the length of the request id %q:", e.RequestID)
	if want := "arn:aws:lambda:eu-central-1:000000000000:function:under-test"; e.ARN != want {
		t.Errorf("arn %q, want %q", e.ARN, want)
	}
	expect.That(t, strings.HasPrefix(e.Trace, "Root=1-"), "trace %q", e.Trace)
	expect.That(t, !e.Deadline.Before(before.Add(9*time.Second)) && !e.Deadline.After(time.Now().Add(10*time.Second)),
		"the deadline %s is not 10 s after the call", e.Deadline)
	for _, want := range []string{
		"AWS_LAMBDA_FUNCTION_NAME=under-test", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE=256", "AWS_LAMBDA_FUNCTION_VERSION=$LATEST",
		"_HANDLER=bootstrap", "AWS_LAMBDA_LOG_FORMAT=JSON", "AWS_REGION=eu-central-1", "SETTING=as given",
	} {
		expect.That(t, slices.Contains(e.Environment, want), "the environment lacks %s", want)
	}
	for _, v := range e.Environment {
		expect.That(t, !strings.HasPrefix(v, "HOME="), "the gateway's own environment reached the function: %s", v)
	}
}

func TestInvoke_OneAfterTheOther_UseOneWarmProcess(t *testing.T) {
	f := start(t)
	first := must(t, f, `{}`)
	until(f, idle)
	second := must(t, f, `{}`)
	expect.That(t, first.PID == second.PID, "pids %d and %d", first.PID, second.PID)
	expect.That(t, first.RequestID != second.RequestID, "two calls share a request id")
	took(t, f, 1, 2)
}

func TestInvoke_AtTheSameTime_UseAProcessEach(t *testing.T) {
	f := start(t)
	event, end := wait(t)
	all := invokes(t, f, 4, event)
	until(f, calls(4))
	end()
	all.Wait()
	took(t, f, 4, 4)
	// The most recently used process serves; the others stay idle.
	until(f, func(c Counts) bool { return c.Idle == 4 })
	a := must(t, f, `{}`).PID
	until(f, func(c Counts) bool { return c.Idle == 4 })
	b := must(t, f, `{}`).PID
	expect.That(t, a == b, "calls one after the other went to %d and %d", a, b)
}

func TestInvoke_MoreCallsThanProcesses_WaitTheirTurn(t *testing.T) {
	f := start(t, func(s *Spec) { s.Processes = 3 })
	event, end := wait(t)
	all := invokes(t, f, 20, event)
	until(f, calls(3))
	end()
	all.Wait()
	took(t, f, 3, 20)
}

func TestInvoke_ContextEndsWhileWaiting_LeavesTheQueue(t *testing.T) {
	f := start(t, func(s *Spec) { s.Processes = 1 })
	must(t, f, `{}`)
	event, end := wait(t)
	busy := make(chan error)
	go func() { _, err := f.Invoke(t.Context(), []byte(event)); busy <- err }()
	until(f, calls(2))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := f.Invoke(ctx, []byte(`{}`)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	end()
	err := <-busy
	expect.That(t, err == nil, "%v", err)
	must(t, f, `{}`)
	took(t, f, 1, 3)
}

func TestInvoke_CallerLeaves_FunctionRunsOn(t *testing.T) {
	f := start(t)
	pid := must(t, f, `{}`).PID
	until(f, idle)
	event, end := wait(t)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { until(f, calls(2)); cancel() }()
	_, err := f.Invoke(ctx, []byte(event))
	expect.Must(t, errors.Is(err, context.Canceled), "got %v", err)
	end()
	until(f, idle)
	expect.Equal(t, must(t, f, `{}`).PID, pid, "the process was replaced: %d, then", pid)
}

func TestInvoke_OverItsTimeout_EndsTheProcess(t *testing.T) {
	f := start(t)
	must(t, f, `{}`)
	event, _ := wait(t)
	f.spec.Timeout = 100 * time.Millisecond
	_, err := call(t, f, event)
	expect.Must(t, errors.Is(err, ErrTimeout), "got %v", err)
	f.spec.Timeout = 10 * time.Second
	must(t, f, `{}`)
	took(t, f, 2, 3)
}

func TestInvoke_ProcessExits_IsACrashAndTheNextCallStartsAnother(t *testing.T) {
	f := start(t)
	_, err := call(t, f, `{"do":"exit"}`)
	expect.That(t, errors.Is(err, ErrCrashed) && strings.Contains(err.Error(), "exit status 3"), "got %v", err)
	must(t, f, `{}`)
	took(t, f, 2, 2)
	expect.Equal(t, f.Counts().Live, 1, "processes that live:")
}

func TestInvoke_HandlerPanics_IsReported(t *testing.T) {
	_, err := call(t, start(t), `{"do":"panic"}`)
	failure, _ := errors.AsType[*FunctionError](err)
	expect.Equal(t, failure.Message, "it was told to panic", "the error is")
}

func TestInvoke_HandlerFails_ProcessIsKept(t *testing.T) {
	f := start(t)
	_, err := call(t, f, `{"do":"error","value":"Unauthorized"}`)
	failure, _ := errors.AsType[*FunctionError](err)
	expect.Equal(t, *failure, FunctionError{Message: "Unauthorized", Type: "errorString"}, "the error")
	must(t, f, `{}`)
	took(t, f, 1, 2)
}

func TestInvoke_AnswerOrEventOverSixMegabytes_IsRefused(t *testing.T) {
	if _, err := call(t, start(t), `{"do":"grow"}`); !errors.Is(err, ErrAnswerTooLarge) {
		t.Errorf("got %v", err)
	}
	f := start(t)
	_, err := f.Invoke(t.Context(), bytes.Repeat([]byte(" "), 6<<20+1))
	expect.That(t, errors.Is(err, ErrEventTooLarge), "got %v", err)
	took(t, f, 0, 0)
}

func TestInvoke_ProcessFailsAtItsStart_IsACrashThatSaysWhy(t *testing.T) {
	for setting, want := range map[string]string{"exit": "exit status 4", "error": "no settings"} {
		t.Run(setting, func(t *testing.T) {
			f := start(t, func(s *Spec) { s.Env = []string{"INIT=" + setting}; s.Processes = 1 })
			for range 2 { // its place is freed, so a second try does not wait
				_, err := call(t, f, `{}`)
				expect.That(t, errors.Is(err, ErrCrashed) && strings.Contains(err.Error(), want),
					"got %v, want it to say %q", err, want)
			}
			until(f, func(c Counts) bool { return c.Live == 0 })
		})
	}
}

func TestInvoke_NoSuchBinary_IsACrash(t *testing.T) {
	f := start(t, func(s *Spec) { s.Binary = filepath.Join(t.TempDir(), "none") })
	_, err := call(t, f, `{}`)
	expect.That(t, errors.Is(err, ErrCrashed), "got %v", err)
}

func TestInvoke_ProcessesCrashUnderLoad_NoCallIsLost(t *testing.T) {
	f := start(t, func(s *Spec) { s.Processes = 2 })
	var wg sync.WaitGroup
	var mu sync.Mutex
	crashed, answered := 0, 0
	for i := range 30 {
		wg.Go(func() {
			event := `{}`
			if i%3 == 0 {
				event = `{"do":"exit"}`
			}
			_, err := f.Invoke(t.Context(), []byte(event))
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				answered++
			} else if errors.Is(err, ErrCrashed) {
				crashed++
			} else {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	expect.Equal(t, []int{crashed, answered}, []int{10, 20}, "the calls that crashed, and those that were answered:")
}

func TestRecycle_NextCallIsAColdStart(t *testing.T) {
	f := start(t)
	must(t, f, `{}`)
	until(f, idle)
	f.Recycle()
	must(t, f, `{}`)
	took(t, f, 2, 2)
}

func TestLog_CarriesBothOutputsLineByLine(t *testing.T) {
	var mu sync.Mutex
	var got []string
	f := start(t, func(s *Spec) {
		s.Log = func(function, line string) { mu.Lock(); got = append(got, function+"|"+line); mu.Unlock() }
	})
	_, _ = call(t, f, `{"do":"log","value":"a b"}`) // it exits afterwards
	mu.Lock()
	defer mu.Unlock()
	for _, want := range []string{"under-test|to standard output: a b", "under-test|to standard error: a b"} {
		expect.That(t, slices.Contains(got, want), "%q is not among %q", want, got)
	}
}

func TestStop_RunningAndWaitingCalls_AreEnded(t *testing.T) {
	f := start(t, func(s *Spec) { s.Processes = 1 })
	must(t, f, `{}`)
	event, _ := wait(t)
	results := make(chan error, 2)
	for range 2 {
		go func() { _, err := f.Invoke(t.Context(), []byte(event)); results <- err }()
	}
	until(f, calls(2))
	f.Stop()
	for range 2 {
		if err := <-results; !errors.Is(err, ErrStopped) && !errors.Is(err, ErrCrashed) {
			t.Errorf("got %v", err)
		}
	}
	_, err := call(t, f, `{}`)
	expect.That(t, errors.Is(err, ErrStopped), "a call after Stop: %v", err)
}
