package report_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"wavegate/shared/fleet/report"
	"wavegate/shared/testing/expect"
)

// TestImported_Row_IsUnprovenUntilSomebodySaysWhatItRuns, and its revisions, which number its actions, are above those of the other server.
func TestImported_Row_IsUnprovenUntilSomebodySaysWhatItRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		above := rapid.Int64Range(report.LeastAction, report.MostAction).Draw(t, "above")
		g := report.Registration{EdgeID: "box-1", EdgeType: "gateway-x", Channel: "stable", OrganizationID: "acme", At: at, First: at}
		g.Imported = (&report.Imported{ActionsAbove: above}).After(nil, at)
		row := report.Row{}.Registered(g)
		expect.That(t, row.Unproven() && row.Revision >= above && row.Entry().Unproven && row.Entry().Aside(at.Add(time.Second)), "it is %+v", row)
		read, err := report.IndexEntryOf(row.Entry().StateKey())
		expect.That(t, err == nil && read.Unproven && read.AsideSince.Equal(at) && !read.Restless, "read back as %+v, %v", read, err)
		switch rapid.IntRange(0, 2).Draw(t, "who") {
		case 0: // the box
			row.Runs("1.0.0", "1.0.0")
			expect.That(t, !row.Unproven() && !row.Assumed, "it is %+v", row)
		case 1: // a person, before the box
			g.Imported = (&report.Imported{ActionsAbove: report.LeastAction, Version: "1.0.0"}).After(g.Imported, at.Add(time.Hour))
			expect.That(t, g.Imported.ActionsAbove == above && g.Imported.Since.Equal(at), "it is %+v", g.Imported)
			row = row.Registered(g)
			expect.That(t, !row.Unproven() && row.Assumed && row.Running == "1.0.0" && row.Stay == nil, "it is %+v", row)
			g.Imported = (&report.Imported{Version: "1.0.1"}).After(g.Imported, at.Add(2*time.Hour))
			row = row.Registered(g)
			expect.That(t, row.Assumed && row.Running == "1.0.1", "somebody corrects it, and it is %+v", row)
			row.Runs("1.1.0", "1.1.0")
			expect.That(t, !row.Assumed && row.SaysOtherwise("1.0.1") && !row.SaysOtherwise("1.1.0"), "it is still assumed")
			row = row.Registered(g)
			expect.That(t, !row.Assumed && row.Running == "1.1.0", "what it says does not count: %+v", row)
		case 2: // another organization: it is somebody else's box
			g.OrganizationID, g.Imported = "initech", nil
			row = row.Registered(g)
			expect.That(t, !row.Unproven() && row.Imported == nil && !row.Assumed && row.Revision > above, "it is %+v", row)
		}
	})
}

// TestImported_Assumption_IsNoEvidence: a box of which somebody says that it runs a rollout's target has not installed that before it says so
// itself, and has not fallen back from it if it runs something else.
func TestImported_Assumption_IsNoEvidence(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	g := report.Registration{EdgeID: "box-1", EdgeType: "gateway-x", Channel: "stable", OrganizationID: "acme", At: at, First: at}
	g.Imported = (&report.Imported{ActionsAbove: report.LeastAction, Version: "1.1.0"}).After(nil, at)
	for runs, want := range map[string]report.State{"": report.Offered, "1.1.0": report.Installed, "1.0.0": report.Offered} {
		told := report.Polled{Told: "1.1.0", RolloutID: "r-1", Stage: 1, Subject: "s", At: at.Add(time.Minute)}
		row, _ := report.Next(report.Row{}.Registered(g), told)
		expect.That(t, row.Offer.State == report.Offered && row.Stay == nil, "before it says anything, it is %+v with %+v", row, row.Offer)
		told.Running, told.Text, told.At = runs, runs, at.Add(2*time.Minute)
		row, _ = report.Next(row, told)
		expect.That(t, row.Offer.State == want && row.Offer.Code == "", "it runs %q: %+v", runs, row.Offer)
	}
}
