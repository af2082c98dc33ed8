package machine

import (
	"testing"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/golden"
)

func TestForms_AreKept(t *testing.T) {
	golden.Kept[Machine](t, dynamo.Machines, "machine", golden.Most{"admissions[]": maxAdmissions, "classTerms[]": maxTerms + maxClasses, "classes[]": maxClasses, "classesSince": maxClasses})
}
