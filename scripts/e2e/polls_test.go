package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/local/storefront"
	"wavegate/shared/fleet/polling"
)

// onePoll is one box of a world in which one or more processes answer polls.
func onePoll(t *testing.T, processes int) (*harness.World, *harness.Caller, *poller) {
	t.Helper()
	w := harness.New(t, harness.WithProcesses(processes))
	owner := w.Owner(t)
	owner.Put(t, channel, release("1.0.0", digest("a"))).Is(t, http.StatusCreated)
	owner.Put(t, "/api/edges/box-1", box).Is(t, http.StatusCreated)
	return w, owner, &poller{id: "box-1", caller: w.Box(t, "box-1")}
}

// TestPoll_ContainerThatWasFrozen_ServesNoOldRow stops the process that has read the row, as Lambda freezes a
// container between calls, and continues it when the row is old.
func TestPoll_ContainerThatWasFrozen_ServesNoOldRow(t *testing.T) {
	w, owner, p := onePoll(t, 1)
	if m, err := p.poll(); err != nil || m.Version != "1.0.0" {
		t.Fatalf("told %+v, %v", m, err)
	}
	pids := w.Function("get-manifest").PIDs()
	if len(pids) != 1 {
		t.Fatalf("%d processes answer polls", len(pids))
	}
	thaw := func() error { return syscall.Kill(pids[0], syscall.SIGCONT) }
	if err := syscall.Kill(pids[0], syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = thaw() })
	owner.Put(t, channel, release("1.1.0", digest("b"))).Is(t, http.StatusNoContent)
	time.Sleep(arrives)
	// The poll reaches the container while it is frozen, and is answered afterwards.
	type answer struct {
		m   polling.Manifest
		err error
	}
	answered := make(chan answer, 1)
	go func() {
		m, err := p.poll()
		answered <- answer{m, err}
	}()
	if err := thaw(); err != nil {
		t.Fatal(err)
	}
	if a := <-answered; a.err != nil || a.m.Version != "1.1.0" {
		t.Errorf("told %+v, %v", a.m, a.err)
	}
	if now := w.Function("get-manifest").PIDs(); len(now) != 1 || now[0] != pids[0] {
		t.Errorf("another process answered: %v, then %v", pids, now)
	}
}

// TestPoll_ContainersWithDifferentRows_ServeOneOrTheOther makes two processes cache different rows of one channel,
// and polls both many times: each answer is consistent with one of the two.
func TestPoll_ContainersWithDifferentRows_ServeOneOrTheOther(t *testing.T) {
	w, owner, p := onePoll(t, 2)
	function := w.Function("get-manifest")
	if m, err := p.poll(); err != nil || m.Version != "1.0.0" {
		t.Fatalf("told %+v, %v", m, err)
	}
	// The first process, which has the row of 1.0.0, is held at its next read of the box. The second one is not held,
	// and reads the row of 1.1.0.
	release1 := make(chan struct{})
	var held atomic.Bool
	remove := w.Front.Intercept(func(c *storefront.Call) storefront.Effect {
		if c.Function == "get-manifest" && c.Operation == "GetItem" && held.CompareAndSwap(false, true) {
			return storefront.Effect{Hold: release1}
		}
		return storefront.Effect{}
	})
	defer remove()
	polls := make(chan error, 1)
	versions := map[string]int{}
	var mu sync.Mutex
	poll := func() error {
		m, err := p.poll()
		if err != nil {
			return err
		}
		whole := map[string]string{"1.0.0": digest("a"), "1.1.0": digest("b")}
		if m.SHA256 != whole[m.Version] || m.ArtifactURL != "https://artifacts.example/"+m.Version+".tar.gz" || m.Source != polling.FromChannel {
			return fmt.Errorf("served what no row holds: %+v", m)
		}
		mu.Lock()
		defer mu.Unlock()
		versions[m.Version]++
		return nil
	}
	go func() { polls <- poll() }()
	for !held.Load() {
		time.Sleep(time.Millisecond)
	}
	owner.Put(t, channel, release("1.1.0", digest("b"))).Is(t, http.StatusNoContent)
	if err := poll(); err != nil { // by the second process
		t.Fatal(err)
	}
	if n := len(function.PIDs()); n != 2 {
		t.Fatalf("%d processes answer polls, want 2", n)
	}
	close(release1)
	if err := <-polls; err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var failed error
	for range 2 {
		wg.Go(func() {
			for range 100 {
				if err := poll(); err != nil {
					mu.Lock()
					failed = errors.Join(failed, err)
					mu.Unlock()
					return
				}
			}
		})
	}
	wg.Wait()
	if failed != nil {
		t.Error(failed)
	}
	t.Logf("served %v", versions)
	if versions["1.1.0"] == 0 {
		t.Errorf("served %v", versions)
	}
}
