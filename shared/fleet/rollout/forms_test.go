package rollout

import (
	"testing"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/golden"
)

func TestForms_AreKept(t *testing.T) {
	golden.Kept[rolloutItem](t, dynamo.Rollouts, "rollout")
	golden.Kept[intent](t, dynamo.Rollouts, "halt")
}
