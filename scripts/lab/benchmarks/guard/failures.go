package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"

	"wavegate/shared/fleet/guard"
)

// stageSize is how many boxes a stage has in the trials of failures.
const stageSize = 1000

// An order is how the outcomes of a stage's boxes come in.
type order struct {
	name string
	// oneByOne: each box is decided before the next one is told. Otherwise all are told at once.
	oneByOne bool
	// clustered: a twentieth of the plants fails 20 times as often, and the others never.
	clustered bool
	// sorted puts the failures first or last.
	sorted string
}

var orders = []order{
	{name: "told one by one", oneByOne: true},
	{name: "told at once, mixed"},
	{name: "told at once, failures first", sorted: "first"},
	{name: "told at once, failures last", sorted: "last"},
	{name: "told one by one, failures in a twentieth of the plants", oneByOne: true, clustered: true},
}

// outcomes tells which boxes are bad, in the order of their reports.
func (o order) outcomes(r *rand.Rand, rate float64) []bool {
	var worse [plants]bool
	for i := range worse {
		worse[i] = o.clustered && r.Float64() < 0.05
	}
	bad, n := make([]bool, stageSize), 0
	for i := range bad {
		if o.clustered {
			bad[i] = worse[r.IntN(plants)] && r.Float64() < 20*rate
		} else {
			bad[i] = r.Float64() < rate
		}
		n += toInt(bad[i])
	}
	for i := range bad {
		switch o.sorted {
		case "first":
			bad[i] = i < n
		case "last":
			bad[i] = i >= len(bad)-n
		}
	}
	return bad
}

func toInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A failureRule looks at a stage after every report: at how many boxes were told the release, how many of them are
// decided, and how many of those are bad. last is set once all are decided.
type failureRule struct {
	name string
	look func(told, decided, bad int, last bool) outcome
}

var (
	bounds = guard.Default().Guard
	test   = guard.NewWald(bounds.Acceptable, bounds.Intolerable)
)

var failureRules = []failureRule{
	{"guard", func(told, decided, bad int, last bool) outcome {
		switch {
		case test.Halts(bad, told):
			return halted
		case last && test.Clears(bad, decided):
			return promoted
		}
		return held
	}},
	{"AWS IoT Jobs: over 2 %, at least 20", iotJobs(0.02, 20)},
	{"AWS IoT Jobs: over 5 %, at least 20", iotJobs(0.05, 20)},
	{"AWS IoT Jobs: over 5 %, at least 100", iotJobs(0.05, 100)},
	{"hawkBit: errors over 5 %, success 50 %", hawkBit(0.05, 0.5)},
	{"hawkBit: errors over 5 %, success 95 %", hawkBit(0.05, 0.95)},
}

// iotJobs is the abort criterion of AWS IoT Jobs: the share of failed executions exceeds a threshold, once some
// things have executed the job. A job that is not aborted goes on to everyone.
func iotJobs(threshold float64, least int) func(told, decided, bad int, last bool) outcome {
	return func(_, decided, bad int, last bool) outcome {
		switch {
		case decided >= least && float64(bad) > threshold*float64(decided):
			return halted
		case last:
			return promoted
		}
		return held
	}
}

// hawkBit is the conditions of a deployment group of hawkBit. The error condition is about the share of all targets
// that failed, and the success condition, which starts the next group, about the share that finished.
func hawkBit(threshold, success float64) func(told, decided, bad int, last bool) outcome {
	return func(_, decided, bad int, _ bool) outcome {
		switch {
		case float64(bad) > threshold*stageSize:
			return halted
		case float64(decided-bad) >= success*stageSize:
			return promoted
		}
		return held
	}
}

// failureRow makes the trials of releases that fail at a rate.
func failureRow(rate float64, o order, trials int) []tally {
	return run(fmt.Sprintf("failures %g %s", rate, o.name), trials, len(failureRules), func(r *rand.Rand) []result {
		outcomes := o.outcomes(r, rate)
		results := make([]result, len(failureRules))
		for rule := range results {
			results[rule] = follow(failureRules[rule], o, outcomes)
		}
		return results
	})
}

// follow shows a stage to a rule until the rule halts or promotes.
func follow(rule failureRule, o order, outcomes []bool) result {
	told, bad := stageSize, 0
	for i, isBad := range outcomes {
		if o.oneByOne {
			told = i + 1
		}
		bad += toInt(isBad)
		if got := rule.look(told, i+1, bad, i == len(outcomes)-1); got != held {
			return result{got, i + 1}
		}
	}
	return result{held, len(outcomes)}
}

func writeFailures(w io.Writer, trials int) {
	fmt.Fprintf(w, failuresText, stageSize, plants)
	for _, rate := range []float64{0.01, 0.05, 0.10} {
		fmt.Fprintf(w, "### %g percent of the boxes are bad\n\n| reports |", 100*rate)
		for _, rule := range failureRules {
			fmt.Fprintf(w, " %s |", rule.name)
		}
		fmt.Fprintf(w, "\n|---|%s\n", strings.Repeat("---|", len(failureRules)))
		for _, o := range orders {
			if !o.clustered || 20*rate <= 1 { // a plant cannot fail more often than always
				writeRow(w, o.name, failureRow(rate, o, trials))
			}
		}
		fmt.Fprintln(w)
	}
}
