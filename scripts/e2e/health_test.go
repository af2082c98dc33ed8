package e2e

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	boxclient "wavegate/scripts/box"
	"wavegate/shared/operations"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
	"wavegate/shared/testing/expect"
)

// numbersPolicy judges one health number as soon as a stage has run for some seconds.
const numbersPolicy = `{"health":{"cycleSeconds":{"is":"gauge","worse":"higher","by":0.01}},"guard":{"silentAfter":"PT20S","decideWithin":"PT20S",` +
	`"smallFleet":"allDecided"},"promote":{"auto":true,"soak":{"1":"PT0S","10":"PT0S","50":"PT0S","100":"PT0S"}}}`

// A workingBox does cycles of about ten seconds, which take a tenth longer with version 1.1.0.
type workingBox struct {
	mu      sync.Mutex
	version string
	seconds float64
	health  boxclient.Health
}

func (b *workingBox) Installed(context.Context) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.version, nil
}

func (b *workingBox) Activate(_ context.Context, m boxclient.Manifest, _ string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.version = m.Version; m.Version == "1.1.0" {
		b.seconds *= 1.1
	}
	return nil
}

func (b *workingBox) work(ctx context.Context) {
	for ctx.Err() == nil {
		b.mu.Lock()
		b.health.Measure("cycleSeconds", b.seconds)
		b.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// TestHealth_CyclesThatTakeATenthLonger_AreHalted with sixty boxes of the Go client.
func TestHealth_CyclesThatTakeATenthLonger_AreHalted(t *testing.T) {
	t.Parallel()
	w, owner := begin(t, lookEachSecond, withSettings(setting.PollIntervalSeconds.Assign(5), setting.IdlePollIntervalSeconds.Assign(5)))
	rollout := judgedRollout(t, w, numbersPolicy)
	owner.Patch(t, rollout, `{"staged_percent":10}`).Is(t, http.StatusNoContent)
	owner.Patch(t, rollout, `{"staged_percent":50}`).Is(t, http.StatusNoContent)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	for i, id := range assigned(t, w, "acme", 60) {
		b := &workingBox{version: "1.0.0", seconds: 10 + float64(i%7)/10}
		timing := boxclient.DefaultTiming.Scaled(0.1)
		timing.Second = time.Second
		bearer := w.Box(t, id).Bearer
		c := boxclient.Client{API: w.Target.URL, EdgeID: id, Device: b, Health: &b.health, Timing: timing,
			Authorization: func(context.Context) (string, error) { return bearer, nil },
			Fetch:         func(context.Context, boxclient.Manifest, string) error { return nil }}
		running.Go(func() { b.work(ctx) })
		running.Go(func() { _ = c.Run(ctx) })
	}
	var p struct {
		Guard struct {
			Sentence string
			Reasons  []string
		}
	}
	status := ""
	for range 60 {
		time.Sleep(2 * time.Second)
		expect.OK(t, w.RunTask(t.Context(), operations.Tick))
		var r struct{ Status string }
		owner.Get(t, rollout).Is(t, http.StatusOK).Into(t, &r)
		if status = r.Status; status != "active" {
			break
		}
	}
	owner.Get(t, rollout+"/progress").Is(t, http.StatusOK).Into(t, &p)
	if status != "halted" || !strings.Contains(p.Guard.Sentence, "cycleSeconds is ") || !strings.Contains(p.Guard.Sentence, " % higher in ") {
		t.Errorf("%s: %v %s", status, p.Guard.Reasons, p.Guard.Sentence)
	}
}

// TestHealth_OnlyWhatIsAskedForCounts: a box says many things, and no poll fails.
func TestHealth_OnlyWhatIsAskedForCounts(t *testing.T) {
	t.Parallel()
	w, owner := begin(t, lookEachSecond)
	owner.Put(t, boxPath, box).Is(t, http.StatusCreated)
	polled := func(query string) string {
		return string(w.Box(t, "box-1").Get(t, manifestPath("box-1")+"?installed=1.0.0"+query).Is(t, http.StatusOK).Body)
	}
	owner.Put(t, channel, release("1.0.0", digest("a"))).Is(t, http.StatusCreated)
	if text := polled("&health=cycleSeconds:12"); strings.Contains(text, "health") {
		t.Errorf("without a rollout: %s", text)
	}
	owner.Put(t, channelPath("gateway-x", "canary"), release("1.1.0", digest("b"))).Is(t, http.StatusCreated)
	rollout := owner.Post(t, rollouts, judged(numbersPolicy)).Made(t)
	for _, said := range []string{"cycleSeconds:12.5", "cycleSeconds:NaN", "cycleSeconds:Inf", "cycleSeconds:-1", "cycleSeconds:1e300", "cycleSeconds:-0",
		"other:1", "cycleSeconds:1&health=cycleSeconds:2", "cycleSeconds", ":", "%00%ff", strings.Repeat("cycleSeconds:1&health=", 50)} {
		if text := polled("&health=" + said); !strings.Contains(text, `"health":["cycleSeconds"]`) {
			t.Errorf("after %q: %s", said, text)
		}
	}
	for _, read := range []string{rollout, rollout + "/policy"} {
		if text := string(owner.Get(t, read).Is(t, http.StatusOK).Body); !strings.Contains(text, `"health":{"cycleSeconds":{"is":"gauge","worse":"higher","by":0.01}}`) {
			t.Errorf("%s: %s", read, text)
		}
	}
	owner.Put(t, rollout+"/policy", `{"health":{"1":{"is":"sum"},"a":{"is":"counter","worse":"lower","by":2}}}`).Refused(t, problem.ValidationFailed)
	owner.Put(t, rollout+"/policy", `{}`).Is(t, http.StatusNoContent)
	if text := polled("&health=cycleSeconds:12"); strings.Contains(text, "health") {
		t.Errorf("without the number: %s", text)
	}
	var names []string
	for i := range 9 {
		names = append(names, fmt.Sprintf(`"n%d":{"is":"gauge"}`, i))
	}
	owner.Put(t, rollout+"/policy", `{"health":{`+strings.Join(names, ",")+`}}`).Refused(t, problem.ValidationFailed)
}
