package edgetype

import (
	"testing"
	"time"

	"wavegate/shared/fleet/report"
	"wavegate/shared/testing/expect"
)

// TestSet_EveryWish: what is not given stays, what is empty ends, and the same again changes nothing.
func TestSet_EveryWish(t *testing.T) {
	alike, exact, none, name := report.Alike, report.Form(""), "", "sw_version"
	at := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	var r record
	for i, c := range []struct {
		wish            Wish
		form, attribute string
		changes         bool
	}{
		{Wish{}, "", "", true}, // the first time, there is nothing to keep
		{Wish{}, "", "", false},
		{Wish{VersionForm: &alike}, "alike", "", true},
		{Wish{VersionForm: &alike}, "alike", "", false},
		{Wish{VersionAttribute: &name}, "alike", name, true},
		{Wish{VersionForm: &exact}, "", name, true},
		{Wish{VersionForm: &exact, VersionAttribute: &none}, "", "", true},
	} {
		at = at.Add(time.Minute)
		was := r
		next, event, err := was.set("gateway-x", c.wish, at)
		expect.That(t, err == nil && (event == "EdgeTypeChanged") == c.changes && next.Revision-was.Revision == map[bool]int64{true: 1}[c.changes], "%d: %+v, %q, %v", i, next, event, err)
		is := next.settings()
		expect.That(t, string(is.VersionForm) == c.form && is.VersionAttribute == c.attribute && is.EdgeType == "gateway-x", "%d: %+v", i, is)
		if r = next; c.changes {
			expect.Equal(t, is.UpdatedAt, at, "%d: changed at", i)
		}
	}
}
