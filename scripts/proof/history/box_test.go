package history

import (
	"testing"

	"wavegate/shared/platform/problem"
)

// polled registers a box on stable and has it poll while it runs 1.0.0.
func polled(more ...span) []span {
	return append([]span{
		{0, 1, Input{Action: Register, Channel: "stable"}, Output{Created: true}},
		{2, 3, Input{Action: Poll, Running: "1.0.0"}, Output{Told: "2.0.0"}},
	}, more...)
}

func reported(outcome string, attempt int) Input {
	return Input{Action: Report, Version: "2.0.0", Outcome: outcome, Attempt: attempt}
}

func standing(stand string, attempts int) Output {
	return Output{Standing: Standing{Running: "1.0.0", Offered: "2.0.0", Stand: stand, Failed: stand == "failed", Attempts: attempts}}
}

var (
	updated  = Input{Action: Poll, Running: "2.0.0"}
	fellBack = Input{Action: Poll, Running: "1.0.0"}
	retire   = Input{Action: Retire}
	comeBack = Input{Action: Register, Channel: "stable"}
	moveAway = Input{Action: Register, Channel: "canary"}
	readBox  = Input{Action: ReadBox}
	readRow  = Input{Action: ReadStanding}
	told     = Output{Told: "2.0.0"}
	ended    = Standing{Running: "2.0.0", Offered: "2.0.0", Stand: "installed"}
)

func TestCheckBox_WhatAnOrderExplains_IsTaken(t *testing.T) {
	for name, spans := range map[string][]span{
		"a report beside a read": polled(span{4, 9, reported("working", 1), Output{}}, span{5, 6, readRow, standing("offered", 0)},
			span{10, 11, readRow, standing("working", 1)}),
		"a report that came after a retirement": polled(span{4, 9, retire, Output{}}, span{5, 8, reported("failed", 1), refused(problem.NotFound)}),
		"a report that came before it": polled(span{4, 9, retire, Output{}}, span{5, 8, reported("failed", 1), Output{}},
			span{10, 11, readRow, Output{}}),
		"a lost retirement was made": polled(span{4, 1 << 60, retire, Output{Lost: true}}, span{10, 11, readBox, refused(problem.NotFound)}),
		"a lost retirement was not made": polled(span{4, 1 << 60, retire, Output{Lost: true}},
			span{10, 11, readBox, Output{Box: Box{"stable", 1}}}),
		"a box that comes back goes on counting": polled(span{4, 5, retire, Output{}}, span{6, 7, comeBack, Output{Created: true}},
			span{8, 9, readBox, Output{Box: Box{"stable", 3}}}, span{10, 11, readRow, Output{}}),
		"a box that moves keeps what it said": polled(span{4, 5, reported("failed", 1), Output{}}, span{6, 7, moveAway, Output{}},
			span{8, 9, readRow, standing("failed", 1)}),
		"the third failure is the last": polled(span{4, 5, reported("failed", 2), Output{}}, span{6, 7, reported("failed", 3), Output{GiveUp: true}}),
		"an old failure told again": polled(span{4, 5, reported("failed", 1), Output{}}, span{6, 7, updated, told},
			span{8, 9, reported("failed", 1), Output{}}, span{10, 11, readRow, Output{Standing: Standing{"2.0.0", "2.0.0", "installed", false, 1}}}),
		"a poll on the old channel, before the move": polled(span{4, 9, moveAway, Output{}}, span{5, 8, updated, told}, span{10, 11, readRow, Output{Standing: ended}}),
	} {
		if err := judge(spans...); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCheckBox_WhatNoOrderExplains_IsFound(t *testing.T) {
	for name, spans := range map[string][]span{
		"a report is lost":                        polled(span{4, 5, reported("failed", 1), Output{}}, span{6, 7, readRow, standing("offered", 0)}),
		"a report of an older attempt counts":     polled(span{4, 5, reported("failed", 2), Output{}}, span{6, 7, reported("working", 1), Output{}}, span{8, 9, readRow, standing("working", 1)}),
		"one attempt counts twice":                polled(span{4, 5, reported("failed", 1), Output{}}, span{6, 7, reported("failed", 1), Output{}}, span{8, 9, readRow, standing("failed", 2)}),
		"a failure vanishes while the box works":  polled(span{4, 5, reported("failed", 1), Output{}}, span{6, 7, reported("working", 2), Output{}}, span{8, 9, readRow, standing("working", 2)}),
		"a report about what was not offered":     polled(span{4, 5, Input{Action: Report, Version: "3.0.0", Outcome: "working", Attempt: 1}, Output{}}),
		"a stale report that is not":              polled(span{4, 5, reported("working", 1), refused(problem.ReportStale)}),
		"a retired box still reports":             polled(span{4, 5, retire, Output{}}, span{6, 7, reported("failed", 1), Output{}}),
		"a retired box still polls":               polled(span{4, 5, retire, Output{}}, span{6, 7, updated, told}),
		"a retired box is still read":             polled(span{4, 5, retire, Output{}}, span{6, 7, readBox, Output{Box: Box{"stable", 1}}}),
		"two retirements of one box":              polled(span{4, 8, retire, Output{}}, span{5, 9, retire, Output{}}),
		"a box comes back with what it said":      polled(span{4, 5, reported("failed", 1), Output{}}, span{6, 7, retire, Output{}}, span{8, 9, comeBack, Output{Created: true}}, span{10, 11, readRow, standing("failed", 1)}),
		"a box comes back with its old revisions": polled(span{4, 5, retire, Output{}}, span{6, 7, comeBack, Output{Created: true}}, span{8, 9, readBox, Output{Box: Box{"stable", 1}}}),
		"a poll brings a retired box back":        polled(span{4, 9, retire, Output{}}, span{5, 8, updated, told}, span{10, 11, readRow, Output{Standing: ended}}),
		"a poll of the old channel after a move":  polled(span{4, 5, moveAway, Output{}}, span{6, 7, updated, told}),
		"an installation that a poll did not see": polled(span{4, 5, fellBack, told}, span{6, 7, readRow, Output{Standing: ended}}),
		"a fall back that is not seen":            polled(span{4, 5, updated, told}, span{6, 7, fellBack, told}, span{8, 9, readRow, standing("installed", 0)}),
		"no end after the third failure":          polled(span{4, 5, reported("failed", 3), Output{}}),
		"retired on an old revision":              polled(span{4, 5, moveAway, Output{}}, span{6, 7, Input{Action: Retire, IfMatch: 1}, Output{}}),
	} {
		if err := judge(spans...); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}
