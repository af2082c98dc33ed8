package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/fleet/cohort"
	"wavegate/shared/platform/problem"
)

// TestPublication_DuringARollout_ReachesEveryBox sends a fleet back in the middle of a rollout, with one call.
func TestPublication_DuringARollout_ReachesEveryBox(t *testing.T) {
	t.Parallel()
	w := harness.New(t)
	owner := w.Owner(t)
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
	if active, _ := before.Object(t)["activeRollout"].(map[string]any); active["id"] != id(path) || active["staged_percent"] != 50.0 {
		t.Errorf("the channel shows %v", active)
	}
	owner.Patch(t, path, `{"status":"halted","reason":"two boxes did not come back"}`).Is(t, http.StatusNoContent)
	owner.Put(t, channel, release("1.0.0", digest("a")), "If-Match", before.Header.Get("ETag")).Refused(t, problem.PreconditionFailed)
	owner.Patch(t, path, `{"status":"active"}`).Is(t, http.StatusNoContent)
	owner.Patch(t, path, `{"status":"active","staged_percent":100}`).Refused(t, problem.ValidationFailed)

	tag := owner.Get(t, channel).Header.Get("ETag")
	owner.Put(t, channel, release("1.0.0", digest("a")), "If-Match", tag).Is(t, http.StatusNoContent)
	time.Sleep(arrives)
	boxes.tell(t, "published: all are brought back", func(*poller) string { return "1.0.0" })
	if c := owner.Get(t, channel).Object(t); c["activeRollout"] != nil || c["revision"] != 2.0 {
		t.Errorf("the channel is %v", c)
	}
	if r := owner.Get(t, path).Object(t); r["status"] != "halted" || r["endedBy"] != "publication" || r["adopted"] != false {
		t.Errorf("the rollout is %v", r)
	}
	owner.Patch(t, path, `{"status":"active"}`).Refused(t, problem.InvalidStateTransition)

	names := eventNames(w, t, "rollout", id(path))
	if want := []string{"RolloutStarted", "RolloutPromoted", "RolloutPromoted", "RolloutHalted", "RolloutResumed", "RolloutHalted"}; !slices.Equal(names, want) {
		t.Errorf("the rollout's events are %v, want %v", names, want)
	}
	ofRollout, ofChannel := w.Events(t, "rollout", id(path)), w.Events(t, "release-channel", "gateway-x/stable")
	if a, b := ofRollout[5]["requestId"], ofChannel[1]["requestId"]; a != b || a == "" {
		t.Errorf("the publication wrote events of the requests %v and %v", a, b)
	}
	if ofRollout[3]["reason"] != "two boxes did not come back" {
		t.Errorf("the halt's event is %v", ofRollout[3])
	}
}

// TestRepublication_AtANewURL_ReachesTheBoxesOfARollout moves the bytes of a target while it is rolled out.
func TestRepublication_AtANewURL_ReachesTheBoxesOfARollout(t *testing.T) {
	t.Parallel()
	w := harness.New(t)
	owner := w.Owner(t)
	path := start(t, owner, "gateway-x")
	boxes := newFleet(t, w, 40)
	in, _ := boxesOf("1.1.0", 10)
	owner.Put(t, "/api/edges/"+in, `{"edgeType":"gateway-x","channel":"stable","organizationId":"acme"}`).Is(t, http.StatusCreated)
	boxes = append(boxes, &poller{id: in, caller: w.Box(t, in)})
	owner.Patch(t, path, `{"staged_percent":10}`).Is(t, http.StatusNoContent)
	const moved = "https://elsewhere.example/1.1.0.img"
	owner.Put(t, channelPath("gateway-x", "canary"), fmt.Sprintf(`{"currentVersion":"1.1.0","artifactUrl":%q,"sha256":%q}`, moved, digest("b"))).Is(t, http.StatusNoContent)
	time.Sleep(arrives)
	reached := 0
	check := func(state string) {
		t.Helper()
		for _, p := range boxes {
			m, err := p.poll()
			if err != nil {
				t.Fatal(err)
			}
			if m.Version != "1.1.0" {
				continue
			}
			reached++
			if p.installed = "1.1.0"; m.ArtifactURL != moved {
				t.Errorf("%s: %s is sent to %s", state, p.id, m.ArtifactURL)
			}
		}
	}
	check("active")
	owner.Patch(t, path, `{"status":"halted"}`).Is(t, http.StatusNoContent)
	time.Sleep(arrives)
	check("halted")
	if reached < 2 {
		t.Errorf("%d answers named the target", reached)
	}
}
