package bell

import (
	"testing"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/golden"
)

func TestForms_AreKept(t *testing.T) {
	golden.Kept[Rings](t, dynamo.Bells, "bell", golden.Most{"calls": MostCalls, "callers": MostCalls, "callers.*": 64})
}
