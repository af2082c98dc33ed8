package e2e

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/operator/verify"
	"wavegate/shared/testing/expect"
)

// counted verifies the bench's method, and returns how many requests that took, by what they ask for, and how long.
func (b *bench) counted() (requests map[string]*atomic.Int64, took time.Duration) {
	b.Helper()
	requests = map[string]*atomic.Int64{}
	for _, kind := range []string{"events", "contents", "machines of a version", "polls", "lists", "others"} {
		requests[kind] = new(atomic.Int64)
	}
	begin := time.Now()
	r, err := verify.Method(b.Context(), func(ctx context.Context, path string) ([]byte, error) {
		kind := "others"
		switch {
		case strings.Contains(path, "/audit-events"):
			kind = "events"
		case strings.HasSuffix(path, "/content"):
			kind = "contents"
		case strings.Contains(path, "/machines/"):
			kind = "polls"
		case strings.Contains(path, "/versions/") && strings.Contains(path, "/machines"):
			kind = "machines of a version"
		case strings.Contains(path, "?"):
			kind = "lists"
		}
		requests[kind].Add(1)
		return b.read(ctx, b.approver, path)
	}, "munich-1", id(b.path), nil)
	if err != nil || len(r.Findings) > 0 {
		b.Fatalf("%v, %v", r.Findings, err)
	}
	return requests, time.Since(begin)
}

// TestVerify_ManyVersionsAndMachines_TakesARequestAVersionAndTwoAMachine: the time follows from the number of requests,
// which are made eight at a time. Machines that the method does not name take none. With LONG there are 300 versions,
// and 220 machines: scripts/lab/benchmarks/results/verify.md has the times.
func TestVerify_ManyVersionsAndMachines_TakesARequestAVersionAndTwoAMachine(t *testing.T) {
	t.Parallel()
	versions, machines := expect.Long(8, 300), expect.Long(12, 220)
	b := benchIn(t, harness.New(t, withSettings("LIMIT_USER=30000", "LIMIT_ORGANIZATION=30000")))
	for i := range 30 {
		b.machine(fmt.Sprintf("saw-%d", i), "saw")
	}
	for n := 1; n <= versions; n++ {
		b.release(n, another(fmt.Sprint("Step ", n)))
	}
	pages := func(n int) int64 { return int64((n + 99) / 100) }
	requests, took := b.counted()
	t.Logf("%d versions and 2 machines: %s", versions, took.Round(time.Millisecond))
	// All changes in the factory, in pages, and the method's; a page that does not suffice, and the changes of two machines;
	// the factory's own, which the approver may not read.
	changes := 34 + 6*versions
	want := map[string]int64{"events": pages(changes) + pages(1+3*versions) + 1 + 2*2 + 1, "contents": int64(versions),
		"machines of a version": 0, "polls": 2 * 2, "lists": pages(versions) + pages(32) + 2, "others": 2}
	for kind, n := range want {
		expect.Equal(t, requests[kind].Load() <= n, true, "%d versions, %d requests for %s, at most %d", versions, requests[kind].Load(), kind, n)
	}
	for i := 3; i <= machines; i++ {
		b.machine(fmt.Sprintf("press-%d", i), "press")
	}
	versions++
	b.release(versions, another("Last"))
	b.move(b.author, versions, "withdrawn", "").Is(t, http.StatusOK)
	for i := 1; i <= machines; i += 2 { // half of them are confirmed
		b.author.Put(t, fmt.Sprintf("%s/machines/press-%d/confirmation", b.version(versions), i), `{"reason":"seen"}`)
	}
	requests, took = b.counted()
	t.Logf("%d versions and %d machines: %s", versions, machines, took.Round(time.Millisecond))
	expect.Equal(t, requests["polls"].Load() <= int64(2*machines), true, "at most two polls of a machine")
	more := 2*pages(changes+3*machines) + 5
	expect.Equal(t, requests["events"].Load() <= want["events"]+more, true, "%d requests for events", requests["events"].Load())
	expect.Equal(t, requests["machines of a version"].Load(), pages(machines), "requests for the machines of the recalled version")
}
