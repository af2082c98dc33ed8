package enrolment

import (
	"testing"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/golden"
)

func TestForms_AreKept(t *testing.T) {
	golden.Kept[item](t, dynamo.Enrolments, "enrolment")
	golden.Kept[idsItem](t, dynamo.Enrolments, "ids", golden.Most{"listed[]": MostBoxes, "listed": 128, "accepted[]": MostBoxes, "accepted": 128})
	golden.Kept[crowd](t, dynamo.Enrolments, "crowd", golden.Most{"largest[]": mostLargest})
	golden.Kept[waitingItem](t, dynamo.Enrolments, "waiting box")
}
