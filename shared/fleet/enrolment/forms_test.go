package enrolment

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/expect"
	"wavegate/shared/testing/golden"
)

func TestForms_OfEachRelease_AreKept(t *testing.T) {
	golden.Kept[item](t, dynamo.Enrolments, "enrolment")
}

// TestForms_OfBoxes_AreKept stores what was read of the ids and the waiting boxes of an enrolment again.
func TestForms_OfBoxes_AreKept(t *testing.T) {
	of := func(p golden.Plain) Enrolment {
		expires := expect.Value(strconv.ParseInt(fmt.Sprint(p["expires"]), 10, 64))(t)
		return Enrolment{ID: p["id"].(string), ExpiresAt: time.Unix(expires, 0).Add(-keep)}
	}
	golden.Stored(t, dynamo.Enrolments, "ids", func(i IDs, p golden.Plain) dynamo.TransactItem { return i.write(of(p)) })
	golden.Stored(t, dynamo.Enrolments, "crowd", func(c crowd, _ golden.Plain) dynamo.TransactItem { return c.write() })
	golden.Stored(t, dynamo.Enrolments, "waiting box", func(w Waiting, p golden.Plain) dynamo.TransactItem { return w.write(of(p)) })
}
