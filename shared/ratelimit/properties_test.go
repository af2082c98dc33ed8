package ratelimit

import (
	"flag"
	"os"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"wavegate/shared/testing/expect"
)

// requestsPerRun times rapid's 100 runs is the number of simulated requests in the test command.
const requestsPerRun = 2500

// TestMain makes ten times the runs if LONG is set, as ./scripts/test long does.
func TestMain(m *testing.M) {
	flag.Parse()
	if os.Getenv("LONG") != "" {
		_ = flag.Set("rapid.checks", "1000")
	}
	os.Exit(m.Run())
}

// TestProperties_OnTheSimulatedClock checks properties 1 to 8 on the pure part. A failure prints
// the seed and a file that replays it.
func TestProperties_OnTheSimulatedClock(t *testing.T) {
	var requests, rejected, writes, waits atomic.Int64
	rapid.Check(t, func(t *rapid.T) {
		s := newSimulation(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "") }, mutation{})
		expect.OK(t, s.run(requestsPerRun))
		requests.Add(int64(s.requests))
		rejected.Add(int64(s.rejected))
		writes.Add(int64(s.writes))
		waits.Add(int64(s.waits))
	})
	t.Logf("%d simulated requests, %d rejected, %d writes, %d waited their Retry-After", requests.Load(), rejected.Load(), writes.Load(), waits.Load())
	expect.That(t, requests.Load() >= 1000, "the simulation made too few requests")
}
