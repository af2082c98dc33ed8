package ratelimit

import (
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"
)

// requestsPerRun times rapid's 100 runs are the simulated requests of the test command; a longer
// command raises the number of runs with -rapid.checks.
const requestsPerRun = 2500

// TestProperties_OnTheSimulatedClock checks properties 1 to 8 on the pure part. A failure prints the
// seed and a file with which it is replayed.
func TestProperties_OnTheSimulatedClock(t *testing.T) {
	var requests, rejected, writes, waits atomic.Int64
	rapid.Check(t, func(t *rapid.T) {
		s := newSimulation(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "") }, bend{})
		if err := s.run(requestsPerRun); err != nil {
			t.Fatal(err)
		}
		requests.Add(int64(s.requests))
		rejected.Add(int64(s.rejected))
		writes.Add(int64(s.writes))
		waits.Add(int64(s.waits))
	})
	t.Logf("%d simulated requests, %d rejected, %d writes, %d waited their Retry-After", requests.Load(), rejected.Load(), writes.Load(), waits.Load())
	if requests.Load() < 1000 {
		t.Error("the simulation made no requests worth the name")
	}
}
