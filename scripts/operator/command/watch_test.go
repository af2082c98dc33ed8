package command_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"wavegate/scripts/operator/command"
	"wavegate/scripts/operator/run"
	"wavegate/shared/testing/expect"
)

// A screen is what was printed so far. It can be read during writes.
type screen struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(b)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}

// shows waits until the screen shows a text.
func (s *screen) shows(t *testing.T, text string) {
	t.Helper()
	for range 500 {
		if strings.Contains(s.String(), text) {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("the screen never shows %q:\n%s", text, s)
}

// watches runs a command in the background.
func (d *desk) watches(change func(*run.Environment), args ...string) (*screen, chan int) {
	s, code := &screen{}, make(chan int, 1)
	e := d.environment(s, s)
	if change != nil {
		change(&e)
	}
	go func() { code <- command.Run(d.Context(), args, e) }()
	return s, code
}

func ends(t *testing.T, code chan int, want int) {
	t.Helper()
	select {
	case got := <-code:
		expect.Equal(t, got, want, "exited with")
	case <-time.After(20 * time.Second):
		t.Fatal("it does not end")
	}
}

// fails raises the rollout to the first tenth, and makes one of its boxes report that 1.1.0 does not boot. It does
// not use the command, which would count the boxes too early: a count is kept for 10 seconds.
func (d *desk) fails() {
	d.Helper()
	d.Owner(d.T).Patch(d.T, "/api/ota/rollouts/"+d.rollout(), `{"staged_percent":10}`).Is(d.T, http.StatusNoContent)
	d.breaks("box-0027")
	d.Owner(d.T).Get(d.T, "/api/ota/rollouts/"+d.rollout()+"/progress?fresh=true").Is(d.T, http.StatusOK)
}

// breaks makes a box poll, and report that 1.1.0 does not boot.
func (d *desk) breaks(id string) {
	d.Helper()
	box := d.Box(d.T, id)
	box.Get(d.T, "/api/edges/"+id+"/update/manifest?installed=1.0.0").Is(d.T, http.StatusOK)
	box.Put(d.T, "/api/edges/"+id+"/update/report",
		`{"version":"1.1.0","attempt":1,"outcome":"failed","code":"boot","detail":"no heartbeat\u0020within 90 s"}`).
		Is(d.T, http.StatusOK)
}

func TestWatch_Lines_OneForEachChange_UntilTheHalt(t *testing.T) {
	d := newDesk(t, settings("CHANNEL_CACHE_SECONDS=0"))
	d.starts(30)
	d.fails()
	lines, code := d.watches(nil, "watch", "gateway-x/stable", "--every", "50ms")
	lines.shows(t, "1 failed")
	d.does("halt", "gateway-x/stable").is(run.Done)
	ends(t, code, run.Otherwise)
	lines.shows(t, "was halted, at 10 %")
	n := strings.Count(lines.String(), "at 10 %, active")
	expect.That(t, n == 1 && !strings.Contains(lines.String(), "\x1b"), "%d lines of one state:\n%q", n, lines)
}

func TestWatch_NetworkThatFails_IsTold_AndTheViewStays(t *testing.T) {
	d := newDesk(t)
	d.starts(0)
	var mu sync.Mutex
	down := false
	d.seen = func(*http.Request) error {
		mu.Lock()
		defer mu.Unlock()
		if down {
			return io.ErrUnexpectedEOF
		}
		return nil
	}
	lines, code := d.watches(func(e *run.Environment) { e.Patience = 0 }, "watch", "gateway-x/stable", "--every", "50ms")
	lines.shows(t, "at 1 %, active")
	mu.Lock()
	down = true
	mu.Unlock()
	lines.shows(t, "not up to date since")
	mu.Lock()
	down = false
	mu.Unlock()
	d.does("halt", "gateway-x/stable").is(run.Done)
	ends(t, code, run.Otherwise)
}

func TestWatch_CompletedRollout_IsDone_AndJSONIsADocumentOnALine(t *testing.T) {
	d := newDesk(t)
	d.starts(10)
	d.Owner(t).Get(t, "/api/ota/rollouts/"+d.rollout()+"/progress?fresh=true").Is(t, http.StatusOK)
	d.does("promote", "gateway-x/stable", "--yes").is(run.Done)
	d.does("promote", "gateway-x/stable", "--yes").is(run.Done)
	d.does("promote", "gateway-x/stable", "--confirm", "gateway-x/stable").is(run.Done)
	d.does("complete", "gateway-x/stable", "--yes").is(run.Done)
	r := d.does("watch", "gateway-x/stable", "--json").is(run.Done)
	var got, want whole
	r.into(&got)
	want.Rollout.ID, want.Rollout.Status, want.Progress.RolloutID = d.rollout(), "completed", d.rollout()
	got.Channel, got.Progress.Guard = want.Channel, want.Progress.Guard
	expect.Equal(t, got, want, "it prints")
}

func TestWatch_Interrupted(t *testing.T) {
	d := newDesk(t)
	d.starts(0)
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	d.seen = func(r *http.Request) error {
		if strings.HasSuffix(r.URL.Path, "/progress") {
			cancel()
		}
		return nil
	}
	r := d.runs(ctx, "watch", "gateway-x/stable").is(run.Interrupted)
	expect.That(t, r.err == "wavegate: interrupted\n", "it says %q", r.err)
}

func TestWait_ForAStage_ForTheEnd_AndNoLonger(t *testing.T) {
	d := newDesk(t)
	d.starts(0)
	d.does("wait", "gateway-x/stable", "--until", "1").is(run.Done).says("is at 1 %")
	d.does("wait", "gateway-x/stable", "--until", "10", "--every", "100ms", "--timeout", "1s").is(run.Late).
		warns("wavegate: the timeout is over; the rollout is at 1 % and active\n")
	looks := 0
	d.answers = func(r *http.Request) (*http.Response, error) {
		if strings.Contains(r.URL.Path, "/rollouts/") {
			looks++
		}
		if looks > 1 {
			<-r.Context().Done() // it never answers
			return nil, r.Context().Err()
		}
		return nil, nil
	}
	d.does("wait", "gateway-x/stable", "--until", "10", "--every", "10ms", "--timeout", "8s").is(run.Unknown).warns("could not be read")
	d.answers = nil
	_, code := d.watches(nil, "wait", "gateway-x/stable", "--until", "10", "--every", "20ms")
	d.does("promote", "gateway-x/stable", "--yes").is(run.Done)
	ends(t, code, run.Done)
	_, code = d.watches(nil, "wait", "gateway-x/stable", "--until", "ended", "--every", "20ms")
	d.does("halt", "gateway-x/stable").is(run.Done)
	ends(t, code, run.Otherwise)
	d.does("wait", "gateway-x/stable", "--until", "10").is(run.Otherwise).warns("was halted, at 10 %")
	d.publish("gateway-x/stable", "1.0.0").is(run.Done)
	d.does("start", "gateway-x/stable", "1.1.0", "--no-guard", "--yes").is(run.Done)
	d.publish("gateway-x/stable", "1.0.0").is(run.Done)
	d.does("wait", "gateway-x/stable").is(run.Otherwise).warns("was halted by a publication")
}
