package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"wavegate/scripts/local/service"
	"wavegate/scripts/samples"
	"wavegate/shared/access/auth"
	"wavegate/shared/operations"
	"wavegate/shared/operations/table"
)

// BenchmarkCalls measures the processor time and logged bytes of a call in a warm process, without its preparation.
// From these and counted.tsv it computes the price of a million calls.
//
//	go test ./scripts/lab/benchmarks/cost -run '^$' -bench Calls -benchtime 50x
func BenchmarkCalls(b *testing.B) {
	all, err := limits()
	if err != nil {
		b.Fatal(err)
	}
	p := startProfiler(b)
	for _, sample := range samples.All {
		for _, c := range sample.Cases {
			name := nameOf(sample.Operation, c)
			b.Run(name, func(b *testing.B) {
				one := p.profile(b, sample.Operation, func() func() {
					call := p.prepare(b, sample.Operation, c)
					return func() { p.Make(b, call).Is(b, call.Status) }
				})
				op := table.Get(sample.Operation)
				b.ReportMetric(million(op, all[name], one, changes(op, c)), "USD/million")
			})
		}
	}
}

// BenchmarkAuthorizer measures the check of a token with the issuer's keys in memory.
func BenchmarkAuthorizer(b *testing.B) {
	p := startProfiler(b)
	bearer, err := p.Bearer("anna", "acme", auth.OrganizationAdmin)
	if err != nil {
		b.Fatal(err)
	}
	event, err := json.Marshal(map[string]any{
		"type": "REQUEST", "methodArn": "arn:aws:execute-api:eu-central-1:123456789012:a1b2c3d4e5/prod/GET/api/factories",
		"headers": map[string]string{"Authorization": bearer}, "multiValueHeaders": map[string][]string{"Authorization": {bearer}},
	})
	if err != nil {
		b.Fatal(err)
	}
	p.profile(b, operations.Authorizer, func() func() {
		return func() {
			answer, err := p.Function(operations.Authorizer).Invoke(context.Background(), event)
			if err != nil || !strings.Contains(string(answer), `"Allow"`) {
				b.Fatalf("answered %s, %v", answer, err)
			}
		}
	})
}

// A profile is the average consumption of a call in the function's warm process.
type profile struct {
	CPU    float64 // ms of processor time, with the requests to Lambda and DynamoDB
	Logged float64 // bytes
}

// A profiler is a world that counts the bytes that functions log.
type profiler struct {
	*world
	logged atomic.Int64
}

func startProfiler(b *testing.B) *profiler {
	b.Helper()
	p := &profiler{}
	p.world = startWorld(b, func(o *service.Options) {
		o.Log = func(_, line string) { p.logged.Add(int64(len(line)) + 1) }
	})
	return p
}

// profile makes a few calls to warm the function's process, and then the measured ones.
func (p *profiler) profile(b *testing.B, function string, prepare func() (call func())) profile {
	b.Helper()
	for range 5 {
		prepare()()
	}
	f := p.Function(function)
	var sum profile
	for range b.N {
		call, pids := prepare(), f.PIDs()
		if len(pids) != 1 {
			b.Fatalf("%s runs in %d processes", function, len(pids))
		}
		logged, before := p.logged.Load(), processorTime(b, pids[0])
		call()
		sum.CPU += (processorTime(b, pids[0]) - before).Seconds() * 1000
		sum.Logged += float64(p.logged.Load() - logged)
	}
	mean := profile{sum.CPU / float64(b.N), sum.Logged / float64(b.N)}
	b.ReportMetric(mean.CPU, "cpu-ms/op")
	b.ReportMetric(mean.Logged, "logged-B/op")
	return mean
}

// processorTime adds up the processor time of the threads of a process (Linux, proc(5), /proc/pid/schedstat).
func processorTime(b *testing.B, pid int) (sum time.Duration) {
	b.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil || len(threads) == 0 {
		b.Fatalf("no times of process %d in /proc: %v", pid, err)
	}
	for _, t := range threads {
		text, err := os.ReadFile(t)
		if err != nil {
			b.Fatal(err)
		}
		ran, _, _ := strings.Cut(string(text), " ")
		ns, err := strconv.ParseInt(ran, 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		sum += time.Duration(ns)
	}
	return sum
}

// changes reports whether a call commits a transaction.
func changes(op operations.Operation, c samples.Case) bool {
	return op.Method != http.MethodGet && op.Method != operations.Any && !strings.HasPrefix(c.Name, "nothing new")
}

// million is the price of a million calls, in dollars. Their duration is a model: the answer time of DynamoDB, and
// the processor time at the share of a processor that comes with the function's memory.
func million(op operations.Operation, took limit, p profile, writes bool) float64 {
	duration := float64(took.Rounds)*roundTripMS + p.CPU*fullCPU/float64(op.MemoryMB)
	if writes {
		duration += transactionMS - roundTripMS
	}
	logged, followed := p.Logged+accessLog, traced
	if !op.Sampled { // Lambda's own lines on a poll are switched off
		logged, followed = logged+platformLog, tracedOther
	}
	return gatewayCalls + lambdaRequests + duration/1000*float64(op.MemoryMB)/1024*lambdaGBSecond*1e6 +
		took.Read*readUnits + took.Write*writeUnits + logged/1e9*logsGB*1e6 + followed*traces
}
