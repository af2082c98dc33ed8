package history

import (
	"testing"

	"wavegate/shared/platform/problem"
	"wavegate/shared/testing/expect"
)

// polled registers a box on stable, which polls while it runs 1.0.0.
func polled(more ...span) []span {
	return append([]span{
		{0, 1, Input{Action: Register, Channel: "stable"}, Output{Created: true}},
		{2, 3, Input{Action: Poll, Running: "1.0.0"}, Output{Told: "2.0.0"}},
	}, more...)
}

func reported(outcome string, attempt int) Input {
	return Input{Action: Report, Version: "2.0.0", Outcome: outcome, Attempt: attempt}
}

func reportRow(state string, attempts int) Output {
	return Output{ReportRow: ReportRow{Running: "1.0.0", Offered: "2.0.0", State: state, Failed: state == "failed", Attempts: attempts}}
}

var (
	updated  = Input{Action: Poll, Running: "2.0.0"}
	fellBack = Input{Action: Poll, Running: "1.0.0"}
	retire   = Input{Action: Retire}
	comeBack = Input{Action: Register, Channel: "stable"}
	moveAway = Input{Action: Register, Channel: "canary"}
	newer    = Input{Action: Poll, Running: "3.0.0"}
	readBox  = Input{Action: ReadBox}
	readRow  = Input{Action: ReadReportRow}
	told     = Output{Told: "2.0.0"}
	ended    = ReportRow{Running: "2.0.0", Offered: "2.0.0", State: "installed"}
)

func TestCheckBox_LinearizableHistory_Passes(t *testing.T) {
	for name, spans := range map[string][]span{
		"a report during a read": polled(span{4, 9, reported("working", 1), Output{}}, span{5, 6, readRow, reportRow("offered", 0)},
			span{10, 11, readRow, reportRow("working", 1)}),
		"a report that came after a retirement": polled(span{4, 9, retire, Output{}}, span{5, 8, reported("failed", 1), refused(problem.NotFound)}),
		"a report before the poll": polled(span{4, 9, retire, Output{}}, span{5, 8, reported("failed", 1), Output{}},
			span{10, 11, readRow, Output{}}),
		"a lost retirement was made": polled(span{4, 1 << 60, retire, Output{Lost: true}}, span{10, 11, readBox, refused(problem.NotFound)}),
		"a lost retirement was not made": polled(span{4, 1 << 60, retire, Output{Lost: true}},
			span{10, 11, readBox, Output{Box: Box{"stable", 1}}}),
		"a box that is registered again continues its revisions": polled(span{4, 5, retire, Output{}}, span{6, 7, comeBack, Output{Created: true}},
			span{8, 9, readBox, Output{Box: Box{"stable", 3}}}, span{10, 11, readRow, Output{}}),
		"a box that moves keeps its reports": polled(span{4, 5, reported("failed", 1), Output{}}, span{6, 7, moveAway, Output{}},
			span{8, 9, readRow, reportRow("failed", 1)}),
		"a box that moves keeps the newer version that it runs": polled(span{4, 5, moveAway, Output{}}, span{6, 7, newer, Output{Told: "3.0.0"}},
			span{8, 9, comeBack, Output{}}, span{10, 11, newer, Output{Told: "3.0.0"}}, span{12, 13, fellBack, told}),
		"a box that comes with a newer version keeps it": polled(span{4, 5, newer, Output{Told: "3.0.0"}}, span{6, 7, retire, Output{}}, span{8, 9, comeBack, Output{Created: true}},
			span{10, 11, newer, Output{Told: "3.0.0"}}, span{12, 13, fellBack, told}),
		"the third failure is the last": polled(span{4, 5, reported("failed", 2), Output{}}, span{6, 7, reported("failed", 3), Output{GiveUp: true}}),
		"an old failure reported again": polled(span{4, 5, reported("failed", 1), Output{}}, span{6, 7, updated, told},
			span{8, 9, reported("failed", 1), Output{}}, span{10, 11, readRow, Output{ReportRow: ReportRow{"2.0.0", "2.0.0", "installed", false, 1}}}),
		"a poll on the old channel, before the move": polled(span{4, 9, moveAway, Output{}}, span{5, 8, updated, told}, span{10, 11, readRow, Output{ReportRow: ended}}),
	} {
		err := judge(spans...)
		expect.That(t, err == nil, "%s: %v", name, err)
	}
}

func TestCheckBox_OtherHistory_Fails(t *testing.T) {
	for name, spans := range map[string][]span{
		"a report is lost":                                   polled(span{4, 5, reported("failed", 1), Output{}}, span{6, 7, readRow, reportRow("offered", 0)}),
		"a report of an older attempt counts":                polled(span{4, 5, reported("failed", 2), Output{}}, span{6, 7, reported("working", 1), Output{}}, span{8, 9, readRow, reportRow("working", 1)}),
		"one attempt counts twice":                           polled(span{4, 5, reported("failed", 1), Output{}}, span{6, 7, reported("failed", 1), Output{}}, span{8, 9, readRow, reportRow("failed", 2)}),
		"a failure disappears while the box works":           polled(span{4, 5, reported("failed", 1), Output{}}, span{6, 7, reported("working", 2), Output{}}, span{8, 9, readRow, reportRow("working", 2)}),
		"a report about a version that was not offered":      polled(span{4, 5, Input{Action: Report, Version: "3.0.0", Outcome: "working", Attempt: 1}, Output{}}),
		"a report refused as stale although it is not":       polled(span{4, 5, reported("working", 1), refused(problem.ReportStale)}),
		"a retired box still reports":                        polled(span{4, 5, retire, Output{}}, span{6, 7, reported("failed", 1), Output{}}),
		"a retired box still polls":                          polled(span{4, 5, retire, Output{}}, span{6, 7, updated, told}),
		"a retired box is still read":                        polled(span{4, 5, retire, Output{}}, span{6, 7, readBox, Output{Box: Box{"stable", 1}}}),
		"two retirements of one box":                         polled(span{4, 8, retire, Output{}}, span{5, 9, retire, Output{}}),
		"a box is registered again with its old reports":     polled(span{4, 5, reported("failed", 1), Output{}}, span{6, 7, retire, Output{}}, span{8, 9, comeBack, Output{Created: true}}, span{10, 11, readRow, reportRow("failed", 1)}),
		"a box is registered again with its old revisions":   polled(span{4, 5, retire, Output{}}, span{6, 7, comeBack, Output{Created: true}}, span{8, 9, readBox, Output{Box: Box{"stable", 1}}}),
		"a poll revives a retired box":                       polled(span{4, 9, retire, Output{}}, span{5, 8, updated, told}, span{10, 11, readRow, Output{ReportRow: ended}}),
		"a poll of the old channel after a move":             polled(span{4, 5, moveAway, Output{}}, span{6, 7, updated, told}),
		"a box that moves is sent back":                      polled(span{4, 5, moveAway, Output{}}, span{6, 7, comeBack, Output{}}, span{8, 9, newer, told}),
		"a box keeps a version that it does not run":         polled(span{4, 5, moveAway, Output{}}, span{6, 7, newer, Output{Told: "3.0.0"}}, span{8, 9, comeBack, Output{}}, span{10, 11, fellBack, Output{Told: "3.0.0"}}),
		"a box that comes with a newer version is sent back": polled(span{4, 5, newer, told}),
		"an installation that a poll did not record":         polled(span{4, 5, fellBack, told}, span{6, 7, readRow, Output{ReportRow: ended}}),
		"a fallback that is not recorded":                    polled(span{4, 5, updated, told}, span{6, 7, fellBack, told}, span{8, 9, readRow, reportRow("installed", 0)}),
		"no end after the third failure":                     polled(span{4, 5, reported("failed", 3), Output{}}),
		"retired on an old revision":                         polled(span{4, 5, moveAway, Output{}}, span{6, 7, Input{Action: Retire, IfMatch: 1}, Output{}}),
	} {
		expect.That(t, judge(spans...) != nil, "%s: taken", name)
	}
}
