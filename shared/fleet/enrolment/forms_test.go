package enrolment

import (
	"testing"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/golden"
)

func TestForms_OfEachRelease_AreKept(t *testing.T) {
	golden.Kept[item](t, dynamo.Enrolments, "enrolment")
}

// TestForms_OfBoxes_AreKept stores what was read of the ids and the waiting boxes of an enrolment again.
func TestForms_OfBoxes_AreKept(t *testing.T) {
	enrolments := map[string]Kept{}
	for _, i := range golden.Of(t, dynamo.Enrolments, "enrolment") {
		var e Kept
		if err := dynamo.Decode(dynamo.Enrolments, golden.Encoded(i.Plain), &e); err != nil {
			t.Fatal(err)
		}
		enrolments[e.ID] = e
	}
	golden.Stored(t, dynamo.Enrolments, "ids", func(i IDs, p golden.Plain) dynamo.TransactItem {
		return i.write(enrolments[p["id"].(string)].Enrolment)
	})
	golden.Stored(t, dynamo.Enrolments, "waiting box", func(w Waiting, p golden.Plain) dynamo.TransactItem {
		return w.write(enrolments[p["id"].(string)].Enrolment)
	})
}
