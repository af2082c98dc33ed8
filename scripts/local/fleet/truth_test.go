package fleet

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/local/devissuer"
	"wavegate/scripts/local/service"
	"wavegate/shared/fleet/census"
	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/setting"
	"wavegate/shared/testing/expect"
)

// TestProgress_OfAWholeRollout_IsTheFleetsOwnTruth takes a fleet through a rollout; some boxes fail, die, fall
// back or are put off. After each stage it compares every number of the service's progress with the boxes' own
// states.
func TestProgress_OfAWholeRollout_IsTheFleetsOwnTruth(t *testing.T) {
	expect.Full(t)
	f := newPlayed(t, expect.Long(500, 2000))
	f.everyonePolls(t, 2) // it is told 1.0.0, and then reports that it runs it
	owner := f.Owner(t)
	id := owner.Post(t, "/api/ota/rollouts", `{"edgeType":"gateway-x","channel":"stable","targetVersion":"1.1.0"}`).
		Is(t, http.StatusCreated).Header.Get("Location")
	var dead int
	for _, percent := range cohort.Stages {
		if percent > 1 {
			owner.Patch(t, id, fmt.Sprintf(`{"staged_percent":%d}`, percent)).Is(t, http.StatusNoContent)
		}
		for poll := range 3 { // it is told, reports that it runs it, and may have fallen back
			if poll == 0 {
				f.everyonePolls(t, 1)
			} else {
				f.reachedPoll(t, percent) // nothing changes for the others
			}
			if poll == 1 && percent != 50 {
				continue // 50 percent is also compared halfway
			}
			f.compare(t, percent)
		}
	}
	for _, b := range f.boxes {
		if b.dead {
			dead++
		}
	}
	truth := f.seen.counts(strings.TrimPrefix(id, "/api/ota/rollouts/"))
	for _, s := range []report.State{report.Offered, report.Deferred, report.Installed, report.Failed, report.Reverted} {
		expect.That(t, truth[s] != 0, "no box is at %s: %v", s, truth)
	}
	if truth[report.Offered] != dead {
		t.Errorf("%d boxes died, and %d stayed where they were offered the version", dead, truth[report.Offered])
	}
	t.Logf("%d boxes ended at %v", len(f.boxes), truth)
}

// A played is a fleet that polls only when the test makes it poll.
type played struct {
	*harness.World
	boxes []*box
	seen  *tally
	asks  *watch
	runs  int // rollouts that were started
}

func newPlayed(t *testing.T, boxes int) *played {
	t.Helper()
	issuers := expect.Value(devissuer.Load(t.TempDir()))(t)
	f := &played{World: harness.New(t, func(o *service.Options) {
		o.Issuers = issuers
		o.Environment = func(string) []string {
			return []string{setting.ChannelCacheSeconds.Assign(0), setting.GuardIntervalSeconds.Assign(1), setting.PollIntervalSeconds.Assign(1), setting.IdlePollIntervalSeconds.Assign(1)}
		}
	})}
	owner := f.Owner(t)
	owner.Put(t, "/api/ota/release-channels/gateway-x/stable", publication("1.0.0", "a")).Is(t, http.StatusCreated)
	owner.Put(t, "/api/ota/release-channels/gateway-x/canary", publication("1.1.0", "b")).Is(t, http.StatusCreated)
	out := expect.Value(os.Create(filepath.Join(t.TempDir(), "log")))(t)
	p := plan{
		boxes: boxes, edgeType: "gateway-x", channel: "stable", organization: "acme", prefix: "box-", url: f.Target.URL,
		chances: chances{fail: 0.02, brick: 0.01, revert: 0.01, deferred: 0.05},
	}
	client := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxConnsPerHost: 16, MaxIdleConnsPerHost: 16}}
	f.boxes = expect.Value(register(t.Context(), p, client, issuers, newScreen(out)))(t)
	f.seen, f.asks = newTally(f.boxes), newWatch(p, client, issuers)
	for _, b := range f.boxes {
		b.seen = f.seen
	}
	return f
}

// reachedPoll makes the boxes poll that the rollout of 1.1.0 reaches.
func (f *played) reachedPoll(t *testing.T, percent int) {
	t.Helper()
	all := f.boxes
	defer func() { f.boxes = all }()
	f.boxes = slices.DeleteFunc(slices.Clone(all), func(b *box) bool { return !cohort.Of("gateway-x", "1.1.0", b.id).In(percent) })
	f.everyonePolls(t, 1)
}

// everyonePolls makes every living box poll until its poll is recorded. The answer to a poll that could not be
// recorded in time has no entity tag, and the box tries again.
func (f *played) everyonePolls(t *testing.T, times int) {
	t.Helper()
	for range times {
		waiting := f.boxes
		for try := 0; len(waiting) > 0 && try < 20; try++ {
			queue := make(chan *box)
			var polls sync.WaitGroup
			for range 16 {
				polls.Go(func() {
					for b := range queue {
						b.poll(t.Context())
					}
				})
			}
			for _, b := range waiting {
				if !b.dead {
					queue <- b
				}
			}
			close(queue)
			polls.Wait()
			waiting = slices.DeleteFunc(slices.Clone(waiting), func(b *box) bool { return b.dead || b.etag != "" })
		}
	}
	if now := f.seen.picture(); now.failures > 0 || now.limited > 0 {
		t.Fatalf("%d polls failed, %d were limited: %s", now.failures, now.limited, now.failure)
	}
}

// compare compares a new count of the service's progress with the boxes' own states.
func (f *played) compare(t *testing.T, percent int) {
	t.Helper()
	began := time.Now()
	var got census.Progress
	for !got.AsOf.After(began) {
		expect.Must(t, time.Since(began) <= time.Minute, "at %d percent: the last count is of %v", percent, got.AsOf)
		time.Sleep(time.Second)
		var err error
		got, err = f.asks.ask(t.Context())
		expect.OK(t, err)
	}
	want := []census.StageCounts{{Percent: 1}, {Percent: 10}, {Percent: 50}, {Percent: 100}}
	for _, b := range f.boxes {
		stage := &want[slices.Index(cohort.Stages, cohort.FirstStage("gateway-x", "1.1.0", b.id))]
		stage.Expected++
		s := f.seen.truth[b.id]
		switch {
		case s.rollout == got.RolloutID:
			*map[report.State]*int{
				report.Offered: &stage.Offered, report.Deferred: &stage.Deferred, report.Installed: &stage.Installed,
				report.Failed: &stage.Failed, report.Reverted: &stage.Reverted,
			}[s.state]++
		case stage.Percent <= percent:
			stage.NotYetPolled++
		}
	}
	expect.Equal(t, []any{got.StagedPercent, got.Stages}, []any{percent, want}, "the service counts")
}
