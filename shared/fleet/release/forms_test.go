package release

import (
	"testing"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/golden"
)

func TestForms_AreKept(t *testing.T) {
	golden.Kept[channelItem](t, dynamo.Channels, "channel", golden.Most{
		"earlier[]": MostEarlier, "kept[]": mostKept, "kept[].organizations[]": MostWithout, "past[]": MostPast, "past": 64, "returned[]": MostEarlier + 1,
		"ways[]": 1 + MostEarlier + 1 + mostKept, "ways[].way[]": MostStones,
		"rollout.asks[]": 8, "rollout.asks": 32, "rollout.without[]": MostWithout, "rollout.youngAt[]": 12, "rollout.youngStopped[]": 16, "rollout.youngStopped": 64})
	golden.Kept[Release](t, dynamo.Releases, "release", golden.Most{"way[]": MostStones})
	golden.Kept[Said](t, dynamo.Releases, "said of a release", golden.Most{"advisories[]": MostAdvisories, "advisories[].id": 64, "advisories[].severity": 8, "advisories[].fixedIn": 64,
		"documents[]": MostDocuments, "replaced[]": mostReplaced, "contents.pieces[]": mostPieces, "contents.pieces": 64})
	golden.Kept[shelf](t, dynamo.Releases, "components", golden.Most{"components[]": PieceSize, "components[].purl": 256, "components[].componentVersion": 128})
}
