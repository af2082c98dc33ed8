package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"wavegate/scripts/benchmarks/calls"
	"wavegate/scripts/local/runtime"
	"wavegate/scripts/local/service"
	"wavegate/shared/access/auth"
	"wavegate/shared/operations"
	"wavegate/shared/platform/dynamo/dynamolocal"
)

// A profile is what a call takes of the function's warm process, on average.
type profile struct {
	CPU     float64 // ms of processor time, the conversation with Lambda and DynamoDB included
	Objects float64 // allocated
	Bytes   float64 // allocated
	Logged  float64 // bytes
}

// probe is added to the functions' package telemetry in the build that is profiled, so that a process
// can be asked what it has allocated; the functions as deployed have no such thing.
//
//go:embed probe.go.txt
var probe []byte

// buildProbed builds all functions with the probe, otherwise as scripts/build does.
func buildProbed(ctx context.Context) (string, error) {
	root, err := service.Root()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, ".dev", "probed")
	if err := os.MkdirAll(filepath.Join(dir, ".bin"), 0o750); err != nil {
		return "", err
	}
	source := filepath.Join(dir, "probe.go")
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{
		filepath.Join(root, "shared", "platform", "telemetry", "probe.go"): source}})
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "overlay.json")
	if err := errors.Join(os.WriteFile(source, probe, 0o600), os.WriteFile(file, overlay, 0o600)); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-tags", "lambda.norpc", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w",
		"-overlay", file, "-o", filepath.Join(dir, ".bin")+string(filepath.Separator), "./functions/...")
	cmd.Dir, cmd.Stderr, cmd.Env = root, os.Stderr, append(os.Environ(), "CGO_ENABLED=0")
	if err := cmd.Run(); err != nil {
		return "", err
	}
	for _, f := range operations.Functions() {
		at := filepath.Join(dir, f)
		if err := os.MkdirAll(at, 0o750); err != nil {
			return "", err
		}
		bootstrap := filepath.Join(at, "bootstrap")
		_ = os.Remove(bootstrap)
		if err := os.Link(filepath.Join(dir, ".bin", f), bootstrap); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// A profiler runs the probed functions.
type profiler struct {
	*calls.World
	answers chan string
	logged  atomic.Int64 // bytes that functions wrote
}

func startProfiler(ctx context.Context, s *dynamolocal.Store) (*profiler, error) {
	dir, err := buildProbed(ctx)
	if err != nil {
		return nil, err
	}
	p := &profiler{answers: make(chan string, 1)}
	p.World, err = calls.Start(ctx, calls.Options{Functions: dir, Store: s, Processes: 1, Log: func(_, line string) {
		if figures, ok := strings.CutPrefix(line, "probe "); ok {
			p.answers <- figures
			return
		}
		p.logged.Add(int64(len(line)) + 1)
	}})
	return p, err
}

// profile makes a call n times and adds up what its process took; what prepares the calls is left
// out.
func (p *profiler) profile(row calls.Row, n int) (profile, error) {
	return p.sum(p.Function(row.Operation), n, func() (func() error, error) {
		request, status, err := row.Prepare(p.World)
		return func() error {
			a, err := p.Do(request)
			if err == nil && a.Status != status {
				err = fmt.Errorf("%s: answered %d %s, want %d", row.Name(), a.Status, a.Body, status)
			}
			return err
		}, err
	})
}

// authorizer profiles a token's check, with the issuer's keys known.
func (p *profiler) authorizer(n int) (profile, error) {
	function := p.Function(operations.Authorizer)
	bearer, err := p.Bearer("anna", "acme", auth.OrganizationAdmin)
	if err != nil {
		return profile{}, err
	}
	event, err := json.Marshal(map[string]any{
		"type": "REQUEST", "methodArn": "arn:aws:execute-api:eu-central-1:123456789012:a1b2c3d4e5/prod/GET/api/factories",
		"headers": map[string]string{"Authorization": bearer}, "multiValueHeaders": map[string][]string{"Authorization": {bearer}},
	})
	if err != nil {
		return profile{}, err
	}
	return p.sum(function, n, func() (func() error, error) {
		return func() error {
			answer, err := function.Invoke(context.Background(), event)
			if err == nil && !strings.Contains(string(answer), `"Allow"`) {
				err = fmt.Errorf("authorizer: answered %s", answer)
			}
			return err
		}, nil
	})
}

// sum makes a few calls that warm the process and then n that count.
func (p *profiler) sum(f *runtime.Function, n int, prepare func() (func() error, error)) (profile, error) {
	const warming = 5
	var all profile
	for i := range n + warming {
		call, err := prepare()
		if err != nil {
			return all, err
		}
		if i < warming {
			if err := call(); err != nil {
				return all, err
			}
			continue
		}
		pids := f.PIDs()
		if len(pids) != 1 {
			return all, fmt.Errorf("%s runs in %d processes", f.Name(), len(pids))
		}
		before, err := p.state(pids[0])
		if err != nil {
			return all, err
		}
		if err := call(); err != nil {
			return all, err
		}
		// The processor's time first: asking the process what it allocated takes some.
		after, err := p.state(pids[0])
		if err != nil {
			return all, err
		}
		all.CPU += (after.first - before.last).Seconds() * 1000 / float64(n)
		all.Objects += float64(after.objects-before.objects) / float64(n)
		all.Bytes += float64(after.bytes-before.bytes) / float64(n)
		all.Logged += float64(after.logged-before.logged) / float64(n)
	}
	return all, nil
}

// A state is what a process has taken so far: processor time before and after it was asked for the
// rest, what it allocated, and what all functions logged.
type state struct {
	first, last            time.Duration
	objects, bytes, logged int64
}

func (p *profiler) state(pid int) (s state, err error) {
	s.logged = p.logged.Load()
	if s.first, err = processorTime(pid); err != nil {
		return s, err
	}
	if err := syscall.Kill(pid, syscall.SIGUSR1); err != nil {
		return s, err
	}
	select {
	case figures := <-p.answers:
		if _, err := fmt.Sscan(figures, &s.objects, &s.bytes); err != nil {
			return s, err
		}
	case <-time.After(10 * time.Second):
		return s, errors.New("the probe does not answer")
	}
	s.last, err = processorTime(pid)
	return s, err
}

// processorTime adds up what the threads of a process ran, to the nanosecond (Linux, proc(5),
// /proc/pid/schedstat).
func processorTime(pid int) (time.Duration, error) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil || len(threads) == 0 {
		return 0, fmt.Errorf("no times of process %d in /proc: %w", pid, err)
	}
	var sum time.Duration
	for _, t := range threads {
		b, err := os.ReadFile(t)
		if err != nil {
			return 0, err
		}
		ran, _, _ := strings.Cut(string(b), " ")
		ns, err := strconv.ParseInt(ran, 10, 64)
		if err != nil {
			return 0, err
		}
		sum += time.Duration(ns)
	}
	return sum, nil
}
