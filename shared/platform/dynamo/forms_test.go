package dynamo_test

import (
	"testing"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/golden"
)

func TestForms_AreKept(t *testing.T) {
	golden.Kept[dynamo.FormItem](t, dynamo.Progress, "form")
}
