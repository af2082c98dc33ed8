package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"wavegate/scripts/lab/benchmarks/calls"
	"wavegate/scripts/local/runtime"
	"wavegate/shared/access/auth"
	"wavegate/shared/operations"
	"wavegate/shared/testing/dynamolocal"
)

// A profile is what a call takes of the function's warm process, on average.
type profile struct {
	CPU    float64 // ms of processor time, with the requests to Lambda and DynamoDB
	Logged float64 // bytes
}

// A profiler runs the functions in one process each.
type profiler struct {
	*calls.World
	logged atomic.Int64 // bytes that functions wrote
}

func startProfiler(ctx context.Context, functions string, s *dynamolocal.Store) (*profiler, error) {
	return startProfilerOf(ctx, calls.Options{Functions: functions, Store: s, Processes: 1})
}

func startProfilerOf(ctx context.Context, o calls.Options) (*profiler, error) {
	p := &profiler{}
	var err error
	o.Log = func(_, line string) {
		p.logged.Add(int64(len(line)) + 1)
	}
	p.World, err = calls.Start(ctx, o)
	return p, err
}

// profile makes a call n times and returns what its process took on average, without what prepares the calls.
func (p *profiler) profile(row calls.Row, n int) (profile, error) {
	return p.sum(p.Function(row.Operation), n, func() (func() error, error) {
		c, err := row.Prepare(p.World)
		return func() error {
			a, err := p.Do(c)
			if err == nil && a.Status != c.Status {
				err = fmt.Errorf("%s: answered %d %s, want %d", row.Name(), a.Status, a.Body, c.Status)
			}
			return err
		}, err
	})
}

// authorizer profiles the check of a token whose issuer's keys are known.
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
		logged := p.logged.Load()
		before, err := processorTime(pids[0])
		if err != nil {
			return all, err
		}
		if err := call(); err != nil {
			return all, err
		}
		after, err := processorTime(pids[0])
		if err != nil {
			return all, err
		}
		all.CPU += (after - before).Seconds() * 1000 / float64(n)
		all.Logged += float64(p.logged.Load()-logged) / float64(n)
	}
	return all, nil
}

// processorTime adds up the processor time of the threads of a process (Linux, proc(5), /proc/pid/schedstat).
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
