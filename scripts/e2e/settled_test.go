package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
	"wavegate/shared/testing/expect"
)

// A told is what a poll that was sent at a time was told.
type told struct {
	sent    time.Time
	version string
}

// pollers poll without a pause, as boxes of a channel, until the returned function is called, which returns all answers.
func pollers(t *testing.T, w *harness.World, n int) (stop func() []told) {
	var mutex sync.Mutex
	var all []told
	var group sync.WaitGroup
	done := make(chan struct{})
	for i := range n {
		box := w.Box(t, fmt.Sprintf("box-%d", i))
		group.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				sent := time.Now()
				version, _ := box.Get(t, fmt.Sprintf("/api/edges/box-%d/update/manifest?installed=0.1.0", i)).Is(t, http.StatusOK).Object(t)["version"].(string)
				mutex.Lock()
				all = append(all, told{sent, version})
				mutex.Unlock()
			}
		})
	}
	return func() []told {
		close(done)
		group.Wait()
		return all
	}
}

// publishes publishes versions one after the other while boxes poll, and counts the polls that were sent after the answer to a
// publication and before the next one, and those of them that were told another version.
func publishes(t *testing.T, settle int, rounds int) (after, otherwise int) {
	w, owner := begin(t, withSettings(setting.ChannelCacheSeconds.Assign(2), setting.SettleSeconds.Assign(settle),
		setting.LimitUser.Assign(setting.HighestLimit), setting.LimitOrganization.Assign(setting.HighestLimit)))
	path := channelPath("gateway-x", "stable")
	owner.Put(t, path, release("1.0.0", digest("a"))).Is(t, http.StatusCreated)
	for i := range 3 {
		owner.Put(t, fmt.Sprintf("/api/edges/box-%d", i), `{"edgeType":"gateway-x","channel":"stable","organizationId":"acme"}`).Is(t, http.StatusCreated)
	}
	stop := pollers(t, w, 3)
	type span struct {
		from, to time.Time
		version  string
	}
	var spans []span
	for i := range rounds {
		version := fmt.Sprintf("1.0.%d", i+1)
		owner.Put(t, path, release(version, digest("a"))).Is(t, http.StatusNoContent)
		from := time.Now()
		time.Sleep(300 * time.Millisecond)
		spans = append(spans, span{from, time.Now(), version})
	}
	for _, poll := range stop() {
		for _, s := range spans {
			if poll.sent.After(s.from) && poll.sent.Before(s.to) {
				if after++; poll.version != s.version {
					otherwise++
				}
			}
		}
	}
	return after, otherwise
}

// TestPublication_PollSentAfterTheAnswer_IsToldTheVersion, although containers keep channels for two seconds. If the answer
// did not wait for them, polls would be told the version before.
func TestPublication_PollSentAfterTheAnswer_IsToldTheVersion(t *testing.T) {
	t.Parallel()
	after, otherwise := publishes(t, 2, 6)
	t.Logf("%d polls after answers, %d told otherwise", after, otherwise)
	expect.That(t, after > 20 && otherwise == 0, "%d of %d polls were told otherwise", otherwise, after)
	after, otherwise = publishes(t, 0, 3)
	t.Logf("without the wait: %d polls after answers, %d told otherwise", after, otherwise)
	expect.That(t, otherwise > 0, "of %d polls none was told otherwise, so the test shows nothing", after)
}

// TestHalt_DoesNotWait_AndSaysUntilWhenBoxesMayBeTold: all other moves wait, also one that changes nothing.
func TestHalt_DoesNotWait_AndSaysUntilWhenBoxesMayBeTold(t *testing.T) {
	t.Parallel()
	_, owner := begin(t, withSettings(setting.SettleSeconds.Assign(1)))
	owner.Put(t, channelPath("gateway-x", "stable"), release("1.0.0", digest("a"))).Is(t, http.StatusCreated)
	owner.Put(t, channelPath("gateway-x", "canary"), release("1.1.0", digest("b"))).Is(t, http.StatusCreated)
	took := func(call func() harness.Answer) (harness.Answer, time.Duration) {
		begun := time.Now()
		return call(), time.Since(begun)
	}
	made, waited := took(func() harness.Answer { return owner.Post(t, rollouts, plan("gateway-x", "stable", "1.1.0")) })
	expect.That(t, waited >= time.Second, "the start was answered after %s", waited)
	path := made.Made(t)
	for what, body := range map[string]string{"a promotion": `{"staged_percent":10}`, "the same again": `{"staged_percent":10}`} {
		a, waited := took(func() harness.Answer { return owner.Patch(t, path, body) })
		a.Is(t, http.StatusNoContent)
		expect.That(t, waited >= time.Second && a.Header.Get("Wavegate-Warning") == "", "%s was answered after %s, %v", what, waited, a.Header)
	}
	for _, body := range []string{`{"status":"halted"}`, `{"status":"halted","return":true}`, `{"status":"halted","everywhere":true}`} {
		before := time.Now()
		a := owner.Patch(t, path, body).Is(t, http.StatusNoContent)
		text := a.Header.Get("Wavegate-Warning")
		at, _, _ := strings.Cut(strings.TrimPrefix(text, "Until "), ",")
		until, err := time.Parse(time.RFC3339, at)
		expect.That(t, err == nil && !until.Before(before.Add(time.Second).Truncate(time.Millisecond)), "%s: %q", body, text)
	}
	owner.Patch(t, path, `{"staged_percent":50}`).Refused(t, problem.InvalidStateTransition)
}
