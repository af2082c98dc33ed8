package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/local/service"
	"wavegate/shared/fleet/ddi"
	"wavegate/shared/platform/problem"
	"wavegate/shared/platform/setting"
	"wavegate/shared/testing/expect"
)

// A told is what a poll that was sent at a time was told.
type told struct {
	sent    time.Time
	version string
}

// asking polls for the manifest, as a box, and returns the version that it is told.
func asking(t *testing.T, box *harness.Caller, id string) func() string {
	return func() string {
		version, _ := box.Get(t, "/api/edges/"+id+"/update/manifest?installed=0.1.0").Is(t, http.StatusOK).Object(t)["version"].(string)
		return version
	}
}

// askingDDI polls as a DDI client, confirms what is cancelled, and returns the version of the deployment; empty if there is none.
func askingDDI(t *testing.T, box *harness.Caller, id string) func() string {
	return func() string {
		links := base(t, box, id).Links
		if links.CancelAction != nil {
			action := links.CancelAction.Href
			box.Get(t, action[strings.Index(action, "/api/"):])
			box.Post(t, action[strings.Index(action, "/api/"):]+"/feedback", feedback("closed", "success", ""))
		}
		if links.DeploymentBase == nil {
			return ""
		}
		var deployment ddi.DeploymentAnswer
		action := links.DeploymentBase.Href
		a := box.Get(t, action[strings.Index(action, "/api/"):])
		if a.Status == http.StatusNotFound {
			return "" // the next one was published in between
		}
		a.Is(t, http.StatusOK).Into(t, &deployment)
		return deployment.Deployment.Chunks[0].Version
	}
}

// pollers poll without a pause until the returned function is called, which returns all answers.
func pollers(polls ...func() string) (stop func() []told) {
	var mutex sync.Mutex
	var all []told
	var group sync.WaitGroup
	done := make(chan struct{})
	for _, poll := range polls {
		group.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				sent := time.Now()
				version := poll()
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

// settling are the settings of a service whose changes wait for caches, as deployed.
func settling(seconds int) func(*service.Options) {
	return withSettings(setting.ChannelCacheSeconds.Assign(2), setting.SettleSeconds.Assign(seconds),
		setting.LimitUser.Assign(setting.HighestLimit), setting.LimitOrganization.Assign(setting.HighestLimit))
}

// publishes publishes versions one after the other while boxes poll, and counts the polls that were sent after the answer to a
// publication and before the next one, and those of them that were told another version.
func publishes(t *testing.T, owner *harness.Caller, rounds int, polls ...func() string) (after, otherwise int) {
	path := channelPath("gateway-x", "stable")
	stop := pollers(polls...)
	type span struct {
		from, to time.Time
		told     []string // what may be told: the version, and a later one if the poll is answered after that
	}
	var spans []span
	for i := range rounds {
		version := fmt.Sprintf("1.0.%d", i+1)
		owner.Put(t, path, described(version, digest("a"))).Is(t, http.StatusNoContent)
		from := time.Now()
		time.Sleep(300 * time.Millisecond)
		spans = append(spans, span{from: from, to: time.Now()})
		for i := range spans {
			spans[i].told = append(spans[i].told, version)
		}
	}
	for _, poll := range stop() {
		for _, s := range spans {
			if poll.version != "" && poll.sent.After(s.from) && poll.sent.Before(s.to) {
				if after++; !slices.Contains(s.told, poll.version) {
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
	three := func(seconds int) (owner *harness.Caller, polls []func() string) {
		w, owner := begin(t, settling(seconds))
		owner.Put(t, channelPath("gateway-x", "stable"), described("1.0.0", digest("a"))).Is(t, http.StatusCreated)
		for i := range 3 {
			id := fmt.Sprint("box-", i)
			owner.Put(t, "/api/edges/"+id, box).Is(t, http.StatusCreated)
			polls = append(polls, asking(t, w.Box(t, id), id))
		}
		return owner, polls
	}
	owner, polls := three(2)
	after, otherwise := publishes(t, owner, 6, polls...)
	t.Logf("%d polls after answers, %d told otherwise", after, otherwise)
	expect.That(t, after > 20 && otherwise == 0, "%d of %d polls were told otherwise", otherwise, after)
	owner, polls = three(0)
	after, otherwise = publishes(t, owner, 3, polls...)
	t.Logf("without the wait: %d polls after answers, %d told otherwise", after, otherwise)
	expect.That(t, otherwise > 0, "of %d polls none was told otherwise, so the test shows nothing", after)
}

// TestPublication_AtEachFunctionThatTellsBoxes_IsTold: seven boxes at once call each of the manifest's function, the functions
// of DDI, and the door for both, so each function has at least five processes.
func TestPublication_AtEachFunctionThatTellsBoxes_IsTold(t *testing.T) {
	expect.Full(t)
	t.Parallel()
	w, owner := begin(t, harness.WithDoor(), settling(2))
	owner.Put(t, channelPath("gateway-x", "stable"), described("1.0.0", digest("a"))).Is(t, http.StatusCreated)
	var polls []func() string
	for i := range 28 {
		id := fmt.Sprint("box-", i)
		token := enrol(t, owner, id)
		caller := w.With("Bearer", token)
		if i%4 >= 2 {
			caller = atDoor(w, "Bearer", token)
		}
		if i%2 == 0 {
			polls = append(polls, asking(t, caller, id))
		} else {
			polls = append(polls, askingDDI(t, caller, id))
		}
	}
	after, otherwise := publishes(t, owner, 25, polls...)
	t.Logf("%d polls after 25 answers, %d told otherwise", after, otherwise)
	expect.That(t, after > 200 && otherwise == 0, "%d of %d polls were told otherwise", otherwise, after)
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
