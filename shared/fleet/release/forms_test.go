package release

import (
	"testing"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/golden"
)

func TestForms_AreKept(t *testing.T) {
	golden.Kept[channelItem](t, dynamo.Channels, "channel")
	golden.Kept[Release](t, dynamo.Releases, "release")
	golden.Kept[Said](t, dynamo.Releases, "said of a release")
}
