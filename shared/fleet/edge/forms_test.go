package edge

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"wavegate/shared/fleet/report"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/testing/golden"
)

func TestForms_AreKept(t *testing.T) {
	golden.Kept[edgeItem](t, dynamo.Edges, "box", golden.Most{"attributes": report.MostAttributes, "attributes.*": 256})
}

// TestForms_OfBoxCounters_AreRead: updates name the attributes of a counter one by one. Each is known.
func TestForms_OfBoxCounters_AreRead(t *testing.T) {
	// Nothing but its people limits how many of an organization register boxes on a day.
	golden.Fits(t, dynamo.RateCounters, "box counter", golden.Most{registrarPrefix: 5_000})
	for _, i := range golden.Of(t, dynamo.RateCounters, "box counter") {
		var is tally
		if err := dynamo.Decode(dynamo.RateCounters, golden.Encoded(i.Plain), &is); err != nil {
			t.Errorf("%s: %v", i.Key(), err)
		}
		for name, v := range i.Plain {
			number, _ := v.(json.Number)
			switch {
			case name == "n" && number.String() == strconv.Itoa(is.N), name == "countedAt" && number.String() == strconv.FormatInt(is.CountedAt, 10):
			case name == "lim", name == "until", name == "keep": // the limit of the boxes, which package ratelimit reads
			case name == "subject", name == "ttl", strings.HasPrefix(name, registrarPrefix) && number != "":
			default:
				t.Errorf("%s: %s: lost: %v is read as %+v", i.Key(), name, v, is)
			}
		}
	}
}
