package edge

import (
	"testing"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/golden"
)

func TestForms_OfEachRelease_AreKept(t *testing.T) {
	golden.Kept[edgeItem](t, dynamo.Edges, "box")
	golden.Kept[Gateway](t, dynamo.Gateways, "gateway")
}
