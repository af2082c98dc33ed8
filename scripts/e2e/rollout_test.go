package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/edge"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/testing/expect"
)

// arrives is how long a change to a channel may take to reach every poll, by default.
const arrives = 2 * time.Second

// boxesOf finds a box that a stage of the version reaches, and one that not even half of it does.
func boxesOf(version string, percent int) (in, out string) {
	for i := 0; in == "" || out == ""; i++ {
		id := fmt.Sprintf("box-%d", i)
		switch b := cohort.Of("gateway-x", version, id); {
		case b.In(percent):
			in = id
		case !b.In(50):
			out = id
		}
	}
	return in, out
}

// A fleet is boxes that poll.
type fleet []*poller

// A poller is one box: its installed version, and the one that it was last told.
type poller struct {
	id        string
	caller    *harness.Caller
	installed string
	told      polling.Manifest
}

// newFleet registers n boxes on gateway-x/stable.
func newFleet(t *testing.T, w *harness.World, n int) fleet {
	t.Helper()
	f := make(fleet, n)
	entries := make([]string, n)
	for i := range f {
		id := fmt.Sprintf("box-%04d", i+1)
		f[i] = &poller{id: id, caller: w.Box(t, id)}
		entries[i] = fmt.Sprintf(`{"edgeId":%q,"edgeType":"gateway-x","channel":"stable","organizationId":"acme"}`, id)
	}
	owner := w.Owner(t)
	for batch := range slices.Chunk(entries, edge.MostAtOnce) {
		owner.Post(t, "/api/edges", `{"edges":[`+strings.Join(batch, ",")+`]}`).Is(t, http.StatusOK)
	}
	return f
}

// each calls a function for every box, several at a time.
func (f fleet) each(t *testing.T, do func(i int, p *poller) error) {
	t.Helper()
	var wg sync.WaitGroup
	var next atomic.Int64
	for range 8 {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(f) || t.Failed() {
					return
				}
				if err := do(i, f[i]); err != nil {
					t.Errorf("%s: %v", f[i].id, err)
				}
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// poll asks which version the box should run.
func (p *poller) poll() (polling.Manifest, error) {
	path := manifestPath(p.id)
	if p.installed != "" {
		path += "?installed=" + p.installed
	}
	a, err := p.caller.Patiently(http.MethodGet, path, "")
	if err != nil {
		return polling.Manifest{}, err
	}
	if a.Status != http.StatusOK {
		return polling.Manifest{}, fmt.Errorf("answered %d %s", a.Status, a.Body)
	}
	var m polling.Manifest
	err = json.Unmarshal(a.Body, &m)
	return m, err
}

// tell polls for every box, checks the version that it is told, and installs it.
func (f fleet) tell(t *testing.T, state string, want func(p *poller) string) {
	t.Helper()
	counts := make(map[string]int)
	var mu sync.Mutex
	f.each(t, func(_ int, p *poller) error {
		m, err := p.poll()
		if err != nil {
			return err
		}
		if expected := want(p); m.Version != expected {
			return fmt.Errorf("%s: has %q and is told %s, want %s", state, p.installed, m.Version, expected)
		}
		p.told, p.installed = m, m.Version
		mu.Lock()
		defer mu.Unlock()
		counts[m.Version]++
		return nil
	})
	t.Logf("%s: %v", state, counts)
}

// TestRollout_ReachesExactlyTheBoxesOfItsCohort takes 500 boxes through a whole rollout, and 2,000 in a long run.
func TestRollout_ReachesExactlyTheBoxesOfItsCohort(t *testing.T) {
	t.Parallel()
	w, owner := published(t)
	owner.Put(t, channelPath("gateway-x", "canary"), release("1.1.0", digest("b"))).Is(t, http.StatusCreated)
	boxes := newFleet(t, w, expect.Long(500, 2000))
	rollout := owner.Post(t, rollouts, plan("gateway-x", "stable", "1.1.0")).Made(t)
	for _, percent := range cohort.Stages {
		if percent > 1 {
			owner.Patch(t, rollout, fmt.Sprintf(`{"staged_percent":%d}`, percent)).Is(t, http.StatusNoContent)
		}
		time.Sleep(arrives)
		boxes.tell(t, fmt.Sprintf("at %d percent", percent), func(p *poller) string {
			if cohort.Of("gateway-x", "1.1.0", p.id).In(percent) {
				return "1.1.0"
			}
			return "1.0.0"
		})
	}
	owner.Patch(t, rollout, `{"status":"completed"}`).Is(t, http.StatusNoContent)
	time.Sleep(arrives)
	boxes.tell(t, "completed", func(*poller) string { return "1.1.0" })
}

// TestRollout_HaltAt50_OffersTheTargetToNobodyNew halts while boxes poll all the time. A poll that began 2 s after
// the halt was answered offers the target to no box that does not have it; the boxes that have it are never told
// anything else, until a publication sends them back.
func TestRollout_HaltAt50_OffersTheTargetToNobodyNew(t *testing.T) {
	t.Parallel()
	w, owner := published(t)
	owner.Put(t, channelPath("gateway-x", "canary"), release("1.1.0", digest("b"))).Is(t, http.StatusCreated)
	boxes := newFleet(t, w, 200)
	boxes.tell(t, "published", func(*poller) string { return "1.0.0" })
	rollout := owner.Post(t, rollouts, plan("gateway-x", "stable", "1.1.0")).Made(t)
	for _, percent := range []int{10, 50} {
		owner.Patch(t, rollout, fmt.Sprintf(`{"staged_percent":%d}`, percent)).Is(t, http.StatusNoContent)
	}
	time.Sleep(arrives)
	// Every other box polls and installs; those between will first poll after the halt.
	var early, late fleet
	for i, p := range boxes {
		if i%2 == 0 {
			early = append(early, p)
		} else {
			late = append(late, p)
		}
	}
	inCohort := func(p *poller) bool { return cohort.Of("gateway-x", "1.1.0", p.id).In(50) }
	early.tell(t, "at 50 percent", func(p *poller) string {
		if inCohort(p) {
			return "1.1.0"
		}
		return "1.0.0"
	})

	// The late boxes poll all the time, without installing, while the halt is made.
	var offersBefore, offersAfter atomic.Int64
	var haltedAt atomic.Pointer[time.Time]
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for g := range 4 {
		wg.Go(func() {
			for i := g; ; i += 4 {
				select {
				case <-stop:
					return
				case <-time.After(5 * time.Millisecond): // no box gets near its own limit
				}
				p := late[i%len(late)]
				began := time.Now()
				m, err := p.poll()
				if err != nil {
					t.Errorf("%s: %v", p.id, err)
					return
				}
				if m.Version != "1.1.0" {
					continue
				}
				if halted := haltedAt.Load(); halted != nil && began.Sub(*halted) >= arrives {
					offersAfter.Add(1)
				} else {
					offersBefore.Add(1)
				}
			}
		})
	}
	time.Sleep(500 * time.Millisecond)
	owner.Patch(t, rollout, `{"status":"halted"}`).Is(t, http.StatusNoContent)
	haltedAt.Store(new(time.Now()))
	time.Sleep(arrives + 1500*time.Millisecond)
	close(stop)
	wg.Wait()
	if offersBefore.Load() == 0 || offersAfter.Load() > 0 {
		t.Errorf("the target was offered %d times before, and %d times in polls that began 2 s after the halt or later",
			offersBefore.Load(), offersAfter.Load())
	}
	keep := func(p *poller) string { return p.installed }
	boxes.tell(t, "halted", keep)

	// The start of another rollout also sends no box back.
	owner.Put(t, channelPath("gateway-x", "canary"), release("1.2.0", digest("c"))).Is(t, http.StatusNoContent)
	owner.Post(t, rollouts, plan("gateway-x", "stable", "1.2.0")).Is(t, http.StatusCreated)
	time.Sleep(arrives)
	boxes.tell(t, "the next one started", func(p *poller) string {
		if cohort.Of("gateway-x", "1.2.0", p.id).In(1) {
			return "1.2.0"
		}
		return p.installed
	})
	holding := 0
	for _, p := range boxes {
		if p.installed == "1.1.0" {
			holding++
		}
	}
	if holding == 0 {
		t.Error("no box holds the halted target any more")
	}

	next := w.Items(t, "rollouts")
	for _, r := range next {
		if r["targetVersion"] == "1.2.0" {
			owner.Patch(t, rollouts+"/"+r["id"].(string), `{"status":"halted"}`).Is(t, http.StatusNoContent)
		}
	}
	owner.Put(t, channel, release("1.0.0", digest("a"))).Is(t, http.StatusNoContent)
	time.Sleep(arrives)
	boxes.tell(t, "published: all are brought back", func(*poller) string { return "1.0.0" })
}
