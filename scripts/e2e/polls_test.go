package e2e

import (
	"net/http"
	"syscall"
	"testing"
	"time"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/fleet/polling"
	"wavegate/shared/testing/expect"
)

// onePoll is one box of a world in which one or more processes answer polls.
func onePoll(t *testing.T, processes int) (*harness.World, *harness.Caller, *poller) {
	t.Helper()
	w, owner := served(t, harness.WithProcesses(processes))
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
	expect.Must(t, len(pids) == 1, "%d processes answer polls", len(pids))
	thaw := func() error { return syscall.Kill(pids[0], syscall.SIGCONT) }
	expect.OK(t, syscall.Kill(pids[0], syscall.SIGSTOP))
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
	expect.OK(t, thaw())
	a := <-answered
	expect.That(t, a.err == nil && a.m.Version == "1.1.0", "told %+v, %v", a.m, a.err)
	now := w.Function("get-manifest").PIDs()
	expect.That(t, len(now) == 1 && now[0] == pids[0], "another process answered: %v, then %v", pids, now)
}
