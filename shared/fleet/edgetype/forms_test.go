package edgetype

import (
	"testing"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/golden"
)

func TestForms_AreKept(t *testing.T) {
	golden.Kept[record](t, dynamo.Releases, "edge type")
}
