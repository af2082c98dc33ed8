package rollout

import (
	"testing"

	"wavegate/shared/fleet/cohort"
	"wavegate/shared/fleet/guard"
	"wavegate/shared/fleet/release"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/golden"
)

func TestForms_AreKept(t *testing.T) {
	golden.Kept[rolloutItem](t, dynamo.Rollouts, "rollout", golden.Most{
		"terms.approvals[]": mostApprovals, "terms.policy.approvals.before[]": len(cohort.Stages), "terms.policy.health": guard.MostNumbers,
		"terms.policy.promote.windows[]": 20, "terms.policy.promote.windows[].days[]": 7, "terms.policy.promote.windows[].days": 9,
		"without[]": release.MostWithout, "youngAt[]": 12, "youngStopped[]": 16, "youngStopped": 64})
	golden.Kept[intent](t, dynamo.Rollouts, "halt")
}
