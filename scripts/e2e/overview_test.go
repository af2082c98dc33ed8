package e2e

import (
	"net/http"
	"testing"

	"wavegate/shared/fleet/census"
	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

// TestOverview_OfAFilter_HasItsActiveRolloutsAlone.
func TestOverview_OfAFilter_HasItsActiveRolloutsAlone(t *testing.T) {
	w, owner := begin(t)
	start(t, owner, "gateway-x")
	start(t, owner, "camera-y")
	owner.Patch(t, start(t, owner, "robot-z"), `{"status":"halted"}`).Is(t, http.StatusNoContent)
	for query, want := range map[string]int{
		"": 2, "?edgeType=gateway-x": 1, "?channel=stable": 2, "?edgeType=camera-y&channel=stable": 1,
		"?edgeType=robot-z": 0, "?channel=canary": 0, "?edgeType=gateway-x&channel=canary": 0,
	} {
		var o census.Overview
		owner.Get(t, "/api/ota/overview"+query).Is(t, http.StatusOK).Into(t, &o)
		expect.That(t, o.Active == want && len(o.Items) == want && !o.More,
			"%q: %d active, %d rows, want %d", query, o.Active, len(o.Items), want)
	}
	halted := start(t, owner, "welder")
	owner.Patch(t, halted, `{"seen":true}`).Refused(t, problem.InvalidStateTransition)
	owner.Patch(t, halted, `{"status":"halted"}`).Is(t, http.StatusNoContent)
	var o census.Overview
	for _, trouble := range []census.Trouble{census.Halted, census.Seen} {
		owner.Get(t, "/api/ota/overview?edgeType=welder").Is(t, http.StatusOK).Into(t, &o)
		expect.That(t, o.Active == 0 && len(o.Halted) == 1 && o.Halted[0].Trouble == trouble && o.Troubles[trouble] == 1,
			"%s: %+v", trouble, o)
		owner.Patch(t, halted, `{"seen":true,"reason":"the vendor is on it"}`).Is(t, http.StatusNoContent)
	}
	seen := o.Halted[0].Rollout.Seen
	expect.That(t, seen != nil && seen.By == o.Halted[0].Rollout.StartedBy, "seen by %+v", seen)
	owner.Patch(t, halted, `{"seen":true,"status":"active"}`).Refused(t, problem.ValidationFailed)
	w.Engineer(t, "acme").Patch(t, halted, `{"seen":true}`).Refused(t, problem.Forbidden)
	owner.Get(t, "/api/ota/overview?limit=0&skip=-1&colour=red").Refused(t, problem.ValidationFailed)
	w.Engineer(t, "acme").Get(t, "/api/ota/overview").Refused(t, problem.Forbidden)
}
