package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/fleet/cohort"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

// TestPublication_DuringARollout_ReachesEveryBox sends a fleet back in the middle of a rollout, with one call.
func TestPublication_DuringARollout_ReachesEveryBox(t *testing.T) {
	t.Parallel()
	w, owner := begin(t)
	path := start(t, owner, "gateway-x") // 1.0.0 on stable, 1.1.0 rolled out
	for _, percent := range []int{10, 50} {
		owner.Patch(t, path, fmt.Sprintf(`{"staged_percent":%d}`, percent)).Is(t, http.StatusNoContent)
	}
	boxes := newFleet(t, w, 60)
	time.Sleep(arrives)
	boxes.tell(t, "at 50 percent", func(p *poller) string {
		if cohort.Of("gateway-x", "1.1.0", p.id).In(50) {
			return "1.1.0"
		}
		return "1.0.0"
	})
	before := owner.Get(t, channel)
	active, _ := before.Object(t)["activeRollout"].(map[string]any)
	expect.Equal(t, []any{active["id"], active["staged_percent"]}, []any{id(path), 50.0}, "the channel shows the rollout")
	owner.Patch(t, path, `{"status":"halted","reason":"two boxes did not come back"}`).Is(t, http.StatusNoContent)
	owner.Put(t, channel, release("1.0.0", digest("a")), "If-Match", before.Header.Get("ETag")).Refused(t, problem.PreconditionFailed)
	owner.Patch(t, path, `{"status":"active"}`).Is(t, http.StatusNoContent)
	owner.Patch(t, path, `{"status":"active","staged_percent":100}`).Refused(t, problem.ValidationFailed)

	tag := owner.Get(t, channel).Header.Get("ETag")
	owner.Put(t, channel, release("1.0.0", digest("a")), "If-Match", tag).Is(t, http.StatusNoContent)
	time.Sleep(arrives)
	boxes.tell(t, "published: all are brought back", func(*poller) string { return "1.0.0" })
	owner.Get(t, channel).Has(t, `{"activeRollout":null,"revision":2}`)
	owner.Get(t, path).Has(t, `{"status":"halted","endedBy":"publication","adopted":false}`)
	owner.Patch(t, path, `{"status":"active"}`).Refused(t, problem.InvalidStateTransition)

	expect.Equal(t, strings.Join(eventNames(w, t, "rollout", id(path)), " "), "RolloutStarted RolloutPromoted RolloutPromoted "+
		"RolloutHalted RolloutResumed RolloutHalted", "the rollout's events are")
	ofRollout, ofChannel := w.Events(t, "rollout", id(path)), w.Events(t, "release-channel", "gateway-x/stable")
	if a, b := ofRollout[5]["requestId"], ofChannel[1]["requestId"]; a != b || a == "" {
		t.Errorf("the publication wrote events of the requests %v and %v", a, b)
	}
	expect.Equal(t, ofRollout[3]["reason"], "two boxes did not come back", "the halt's event is %v", ofRollout[3])
}

// TestPublication_RequiresAnotherRelease_OrIsRefused: 3.0.0 requires 2.0.0. What cannot be required changes nothing.
func TestPublication_RequiresAnotherRelease_OrIsRefused(t *testing.T) {
	t.Parallel()
	w, owner := begin(t)
	publish := func(version, more string) harness.Answer {
		return owner.Put(t, channelPath("stepped", "stable"), strings.TrimSuffix(release(version, digest("a")), "}")+more+"}")
	}
	publish("1.0.0", `,"order":10`).Is(t, http.StatusCreated)
	publish("2.0.0", `,"order":20`).Is(t, http.StatusNoContent)
	publish("3.0.0", `,"order":30,"requires":"2.0.0"`).Is(t, http.StatusNoContent)
	publish("3.0.0", "").Is(t, http.StatusNoContent)
	for name, c := range map[string]struct {
		version, more string
		code          problem.Code
	}{
		"a version that was never published": {"4.0.0", `,"requires":"9.9.9"`, problem.ReleaseNotPublished},
		"itself":                             {"4.0.0", `,"requires":"4.0.0"`, problem.RequiresCycle},
		"itself, through another one":        {"2.0.0", `,"requires":"3.0.0"`, problem.RequiresCycle},
		"a newer one":                        {"4.0.0", `,"order":15,"requires":"2.0.0"`, problem.ValidationFailed},
		"one, and did not before":            {"2.0.0", `,"requires":"1.0.0"`, problem.ReleaseImmutable},
	} {
		t.Run(name, func(t *testing.T) {
			publish(c.version, c.more).Refused(t, c.code)
			owner.Get(t, channelPath("stepped", "stable")).Has(t, `{"currentVersion":"3.0.0","requires":"2.0.0","order":30,"revision":4}`)
		})
	}
	// Published in the same second as what they require, they get the next order, and keep it if they are published again.
	for range 2 {
		for version, requires := "5.0.0", ""; version <= "7.0.0"; version, requires = string(version[0]+1)+".0.0", `,"requires":"`+version+`"` {
			a := owner.Put(t, channelPath("stepped", "canary"), strings.TrimSuffix(release(version, digest("a")), "}")+requires+"}")
			expect.That(t, a.Status < 300, "%s was answered with %d %s", version, a.Status, a.Body)
		}
	}
	owner.Put(t, "/api/edges/box-1", `{"edgeType":"stepped","channel":"stable","organizationId":"acme"}`).Is(t, http.StatusCreated)
	box := w.Box(t, "box-1")
	box.Get(t, "/api/edges/box-1/update/manifest?installed=1.0.0").Has(t, `{"version":"2.0.0","towards":"3.0.0","source":"channel"}`)
	owner.Get(t, "/api/edges/box-1/update/why").Has(t, `{"reason":"stone","version":"2.0.0","towards":"3.0.0"}`)
	box.Get(t, "/api/edges/box-1/update/manifest?installed=2.0.0").Has(t, `{"version":"3.0.0","towards":null}`)
}
