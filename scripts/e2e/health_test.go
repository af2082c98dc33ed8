package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	boxclient "wavegate/scripts/box"
	"wavegate/scripts/e2e/harness"
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

// A placed box works where it is told to.
type placed struct {
	API, EdgeID, Bearer string
	Seconds             float64 // of a cycle
}

// run works and runs the client until the context ends.
func (p placed) run(ctx context.Context) {
	b := &workingBox{version: "1.0.0", seconds: p.Seconds}
	timing := boxclient.DefaultTiming.Scaled(0.1)
	timing.Second = time.Second
	c := boxclient.Client{API: p.API, EdgeID: p.EdgeID, Device: b, Health: &b.health, Timing: timing,
		Authorization: func(context.Context) (string, error) { return p.Bearer, nil },
		Fetch:         func(context.Context, boxclient.Manifest, string) error { return nil }}
	var working sync.WaitGroup
	working.Go(func() { b.work(ctx) })
	_ = c.Run(ctx)
	working.Wait()
}

// boxProcess is the variable that makes a process of this test a box.
const boxProcess = "WAVEGATE_E2E_BOX"

// beBox is a process with one box. It ends with its input, so it does not survive the test.
func beBox(text string) int {
	var p placed
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		fmt.Println(err)
		return 1
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	p.run(ctx)
	return 0
}

// placedBoxes registers boxes whose cycles differ.
func placedBoxes(t *testing.T, w *harness.World, n int) (list []placed) {
	t.Helper()
	for i, id := range assigned(t, w, "acme", n) {
		list = append(list, placed{w.Target.URL, id, w.Box(t, id).Bearer, 10 + float64(i%7)/10})
	}
	return list
}

// haltedForHealth ticks until the rollout halts, and returns the guard's sentence.
func haltedForHealth(t *testing.T, w *harness.World, rollout string) string {
	t.Helper()
	owner, status := w.Owner(t), "active"
	for end := time.Now().Add(5 * time.Minute); status == "active" && time.Now().Before(end); time.Sleep(2 * time.Second) {
		expect.OK(t, w.RunTask(t.Context(), operations.Tick))
		var r struct{ Status string }
		owner.Get(t, rollout).Is(t, http.StatusOK).Into(t, &r)
		status = r.Status
	}
	var p struct{ Guard struct{ Sentence string } }
	owner.Get(t, rollout+"/progress").Is(t, http.StatusOK).Into(t, &p)
	expect.That(t, status == "halted" && strings.Contains(p.Guard.Sentence, "cycleSeconds is 10.0 % higher in "),
		"%s: %s", status, p.Guard.Sentence)
	return p.Guard.Sentence
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
	for _, b := range placedBoxes(t, w, 60) {
		running.Go(func() { b.run(ctx) })
	}
	haltedForHealth(t, w, rollout)
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
		text := polled("&health=" + said)
		expect.That(t, strings.Contains(text, `"health":["cycleSeconds"]`), "after %q: %s", said, text)
	}
	for _, read := range []string{rollout, rollout + "/policy"} {
		if text := string(owner.Get(t, read).Is(t, http.StatusOK).Body); !strings.Contains(text, `"health":{"cycleSeconds":{"is":"gauge","worse":"higher","by":0.01}}`) {
			t.Errorf("%s: %s", read, text)
		}
	}
	owner.Put(t, rollout+"/policy", `{"health":{"1":{"is":"sum"},"a":{"is":"counter","worse":"lower","by":2}}}`).Refused(t, problem.ValidationFailed)
	owner.Put(t, rollout+"/policy", `{}`).Is(t, http.StatusNoContent)
	text := polled("&health=cycleSeconds:12")
	expect.That(t, !strings.Contains(text, "health"), "without the number: %s", text)
	var names []string
	for i := range 9 {
		names = append(names, fmt.Sprintf(`"n%d":{"is":"gauge"}`, i))
	}
	owner.Put(t, rollout+"/policy", `{"health":{`+strings.Join(names, ",")+`}}`).Refused(t, problem.ValidationFailed)
}
