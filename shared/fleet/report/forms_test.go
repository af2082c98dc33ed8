package report

import (
	"testing"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/golden"
)

func TestForms_AreKept(t *testing.T) {
	golden.Kept[item](t, dynamo.Reports, "report")
	golden.Kept[trace](t, dynamo.Reports, "trace")
	golden.Kept[Group](t, dynamo.Reports, "group")
	golden.Kept[Past](t, dynamo.Stays, "stay")
}
