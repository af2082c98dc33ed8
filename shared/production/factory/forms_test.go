package factory

import (
	"testing"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/golden"
)

func TestForms_AreKept(t *testing.T) {
	golden.Kept[row](t, dynamo.Factories, "factory", golden.Most{"updates.pauses[]": 31, "updates.windows[]": 14, "updates.windows[].days[]": 7, "updates.windows[].days": 9, "updates.optOut.of": 8})
}
