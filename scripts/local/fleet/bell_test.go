package fleet

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/local/devissuer"
	"wavegate/scripts/local/service"
	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/setting"
	"wavegate/shared/testing/expect"
)

// TestBell_AFleetThatListens_IsCountedAsItKnowsItself takes boxes through a rollout. They hear of each stage only by
// the bell, and do not poll while nothing changes.
func TestBell_AFleetThatListens_IsCountedAsItKnowsItself(t *testing.T) {
	expect.Full(t)
	issuers := expect.Value(devissuer.Load(t.TempDir()))(t)
	f := &played{World: harness.New(t, harness.WithBell(), func(o *service.Options) {
		o.Issuers = issuers
		o.Environment = func(string) []string { return []string{setting.GuardIntervalSeconds.Assign(1)} }
	})}
	owner := f.Owner(t)
	owner.Put(t, "/api/ota/release-channels/gateway-x/stable", publication("1.0.0", "a")).Is(t, http.StatusCreated)
	owner.Put(t, "/api/ota/release-channels/gateway-x/canary", publication("1.1.0", "b")).Is(t, http.StatusCreated)
	out := expect.Value(os.Create(filepath.Join(t.TempDir(), "log")))(t)
	p := plan{boxes: 200, interval: 2 * time.Second, bell: true, edgeType: "gateway-x", channel: "stable",
		organization: "acme", prefix: "box-", url: f.Target.URL,
		chances: chances{fail: 0.02, brick: 0.02, revert: 0.02, deferred: 0.05}}
	client := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxConnsPerHost: 16, MaxIdleConnsPerHost: 16}}
	f.boxes = expect.Value(register(t.Context(), p, client, issuers, newScreen(out)))(t)
	f.seen, f.asks = newTally(f.boxes), newWatch(p, client, issuers)
	var all sync.WaitGroup
	defer all.Wait()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	for _, b := range f.boxes {
		b.seen = f.seen
		all.Go(func() { b.listen(ctx, p) })
	}

	expect.Until(t, "all run 1.0.0", func() bool { return strings.HasPrefix(f.seen.picture().line(), fmt.Sprintf("1.0.0=%d", p.boxes)) })
	calls := func() int { return f.seen.picture().bells }
	first := calls()
	expect.Until(t, "all know the sound and have polled since", func() bool { return calls() > first+4*p.boxes })
	before := f.seen.picture()
	expect.Until(t, "all listen a few times", func() bool { return calls() > before.bells+4*p.boxes })
	n := f.seen.picture().polls - before.polls
	expect.That(t, n == 0, "nothing changed, and %d boxes polled", n)

	id := owner.Post(t, "/api/ota/rollouts", `{"edgeType":"gateway-x","channel":"stable","targetVersion":"1.1.0"}`).
		Is(t, http.StatusCreated).Header.Get("Location")
	for _, percent := range cohort.Stages {
		if percent > 1 {
			owner.Patch(t, id, fmt.Sprintf(`{"staged_percent":%d}`, percent)).Is(t, http.StatusNoContent)
		}
		expect.Until(t, fmt.Sprintf("all boxes of %d percent are decided", percent),
			func() bool { return f.decided(strings.TrimPrefix(id, "/api/ota/rollouts/"), percent) })
		f.compare(t, percent)
	}
	truth := f.seen.counts(strings.TrimPrefix(id, "/api/ota/rollouts/"))
	for _, s := range []report.State{report.Offered, report.Deferred, report.Installed, report.Failed, report.Reverted} {
		expect.That(t, truth[s] != 0, "no box is at %s: %v", s, truth)
	}
	now := f.seen.picture()
	t.Logf("%d boxes ended at %v, with %d polls and %d calls of the bell", p.boxes, truth, now.polls, now.bells)
	expect.That(t, now.failures == 0, "%d calls failed, the last one %s", now.failures, now.failure)
}

// decided reports whether all boxes that a stage reaches have met their fate.
func (f *played) decided(rollout string, percent int) bool {
	f.seen.mu.Lock()
	defer f.seen.mu.Unlock()
	for _, b := range f.boxes {
		ends, _ := b.chances.of(b.id, "1.1.0")
		s := f.seen.truth[b.id]
		if !cohort.Of("gateway-x", "1.1.0", b.id).In(percent) {
			continue
		}
		if s.rollout != rollout || s.state != map[fate]report.State{well: report.Installed, fails: report.Failed,
			bricks: report.Offered, reverts: report.Reverted, deferred: report.Deferred}[ends] {
			return false
		}
	}
	return true
}
