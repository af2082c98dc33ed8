package artifact

import (
	"testing"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/golden"
)

func TestForms_AreKept(t *testing.T) {
	golden.Kept[Row](t, dynamo.Releases, "artifact")
	golden.Kept[bounded](t, dynamo.RateCounters, "uploads")
}
