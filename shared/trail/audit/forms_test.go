package audit

import (
	"testing"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/golden"
)

func TestForms_AreKept(t *testing.T) {
	golden.Kept[Record](t, dynamo.Audit, "event", golden.Most{"actor.roles[]": 16, "actor.roles": 32, "salts": 104, "salts.*": 24})
}
