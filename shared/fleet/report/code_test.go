package report_test

import (
	"testing"
	"time"

	"wavegate/shared/fleet/report"
	"wavegate/shared/testing/expect"
)

func TestEntry_Bad(t *testing.T) {
	const decideWithin, soak = time.Hour, 24 * time.Hour
	for _, c := range []struct {
		name  string
		entry report.IndexEntry
		age   time.Duration
		want  bool
	}{
		{"failed, and may try again", report.IndexEntry{State: report.Failed, Code: report.CodeBoot}, time.Hour - time.Second, false},
		{"failed long ago", report.IndexEntry{State: report.Failed, Code: report.CodeBoot}, time.Hour, true},
		{"failed for its own reasons", report.IndexEntry{State: report.Failed, Code: report.CodeSpace}, 48 * time.Hour, false},
		{"failed while it runs the version", report.IndexEntry{State: report.Failed, Code: report.CodeHealth, Version: "2", Running: "2"}, 0, true},
		{"fell back", report.IndexEntry{State: report.Reverted, Code: report.CodeReverted}, 0, true},
		{"fell back and runs it again", report.IndexEntry{State: report.Installed, Code: report.CodeReverted}, soak - time.Second, true},
		{"has run it for a soak since", report.IndexEntry{State: report.Installed, Code: report.CodeReverted}, soak, false},
		{"fell back before this offer", report.IndexEntry{State: report.Offered, Code: report.CodeReverted}, 0, true},
		{"runs it", report.IndexEntry{State: report.Installed}, 0, false},
		{"works on it", report.IndexEntry{State: report.Working}, 0, false},
	} {
		c.entry.Since = noon
		if c.entry.Version == "" {
			c.entry.Version, c.entry.Running = "2", "1"
		}
		got := c.entry.Bad(noon.Add(c.age), decideWithin, soak)
		expect.That(t, got == c.want, "%s: %t", c.name, got)
	}
}

func TestOffer_LivedOn(t *testing.T) {
	o := report.Offer{State: report.Installed, Since: noon}
	expect.That(t, !o.LivedOn(noon.Add(time.Hour-time.Second), time.Hour) && o.LivedOn(noon.Add(time.Hour), time.Hour),
		"a box must live on exactly if it is seen a soak after it installed the version")
	o.State = report.Failed
	expect.That(t, !o.LivedOn(noon.Add(48*time.Hour), time.Hour), "a failed box lives on")
}
