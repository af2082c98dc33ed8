package census

import (
	"testing"

	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/golden"
)

func TestForms_AreKept(t *testing.T) {
	golden.Kept[head[Progress]](t, dynamo.Progress, "census of a rollout")
	golden.Kept[head[ChannelVersions]](t, dynamo.Progress, "census of a channel")
	golden.Kept[head[string]](t, dynamo.Progress, "census of an organization")
	golden.Kept[head[report.Ran]](t, dynamo.Progress, "census of a release")
	golden.Kept[Hour](t, dynamo.Progress, "hour")
	golden.Kept[warningsItem](t, dynamo.Progress, "warnings")
}
