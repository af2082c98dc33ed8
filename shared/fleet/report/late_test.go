package report_test

import (
	"testing"

	"wavegate/shared/fleet/report"
	"wavegate/shared/testing/expect"
)

// TestNext_LateReport_DoesNotMarkABoxThatRunsTheVersion: an attempt fails without a report, a later one succeeds, and
// then the report arrives.
func TestNext_LateReport_DoesNotMarkABoxThatRunsTheVersion(t *testing.T) {
	again := report.Polled{Told: "2.0.0", RolloutID: "r2", Stage: 10, Running: "2.0.0", Subject: "s", At: later}
	for name, c := range map[string]struct {
		before []report.Input
		late   report.Outcome
	}{
		"the first attempt":                 {[]report.Input{pollsNew}, report.Outcome{Attempt: 1, Code: report.CodeBoot}},
		"a later attempt":                   {[]report.Input{pollsNew}, report.Outcome{Attempt: 3, Code: report.CodeInstall}},
		"an attempt before a known one":     {[]report.Input{works, pollsNew}, report.Outcome{Attempt: 1, Code: report.CodeHealth}},
		"of an ended rollout":               {[]report.Input{restarted, again}, report.Outcome{Attempt: 3, Code: report.CodeBoot}},
		"of an ended rollout that it names": {[]report.Input{restarted, again}, report.Outcome{RolloutID: "r", Attempt: 1, Code: report.CodeHealth}},
	} {
		row := offered(report.Offered)
		for _, e := range c.before {
			row, _ = report.Next(row, e)
		}
		c.late.Version, c.late.State, c.late.At = "2.0.0", report.Failed, later
		next, changed := report.Next(row, c.late)
		expect.That(t, !changed && next.Offer.State == report.Installed, "%s: %+v", name, next.Offer)
	}
}

func TestNext_AnotherRolloutOfTheVersion_CountsAttemptsAnew(t *testing.T) {
	row, _ := report.Next(offered(report.Offered), report.Outcome{Version: "2.0.0", RolloutID: "r", Attempt: 3, State: report.Failed, Code: report.CodeBoot, At: later})
	row, _ = report.Next(row, restarted)
	of := (report.Outcome{Version: "2.0.0", RolloutID: "r"})
	expect.That(t, !of.About(row), "a report that names the ended rollout is about the new one")
	first := report.Outcome{Version: "2.0.0", RolloutID: "r2", Attempt: 1, State: report.Failed, Code: report.CodeBoot, At: later}
	row, _ = report.Next(row, first)
	o := row.Offer
	expect.That(t, o.RolloutID == "r2" && o.Attempts == 1 && o.State == report.Failed, "got %+v", o)
	expect.That(t, !report.Reply(row, first).GiveUp, "the first attempt of the new rollout is the last one")
}
