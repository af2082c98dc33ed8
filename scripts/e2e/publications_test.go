package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

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
