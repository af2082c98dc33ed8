package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"

	"wavegate/shared/fleet/guard"
)

// stageSize is how many boxes a stage has in the trials of failures.
const stageSize = 1000

// An order is how the outcomes of a stage's boxes come in. It returns them in the order in which they are
// reported, and how many boxes were told the release by each report.
type order struct {
	name string
	make func(r *rand.Rand, rate float64) (bad []bool, told []int)
}

var orders = []order{
	{"told one by one", func(r *rand.Rand, rate float64) ([]bool, []int) { return outcomes(r, rate), oneByOne }},
	{"told at once, mixed", func(r *rand.Rand, rate float64) ([]bool, []int) { return outcomes(r, rate), atOnce }},
	{"told at once, failures first", func(r *rand.Rand, rate float64) ([]bool, []int) {
		return sorted(outcomes(r, rate), true), atOnce
	}},
	{"told at once, failures last", func(r *rand.Rand, rate float64) ([]bool, []int) {
		return sorted(outcomes(r, rate), false), atOnce
	}},
	{"told one by one, failures in a twentieth of the plants", func(r *rand.Rand, rate float64) ([]bool, []int) {
		var worse [plants]bool
		for i := range worse {
			worse[i] = r.Float64() < 0.05
		}
		bad := make([]bool, stageSize)
		for i := range bad {
			bad[i] = worse[r.IntN(plants)] && r.Float64() < 20*rate
		}
		return bad, oneByOne
	}},
}

// clustered is the order in which failures are not independent.
const clustered = 4

func outcomes(r *rand.Rand, rate float64) []bool {
	bad := make([]bool, stageSize)
	for i := range bad {
		bad[i] = r.Float64() < rate
	}
	return bad
}

// How many boxes were told the release by each report.
var (
	atOnce   = slices.Repeat([]int{stageSize}, stageSize)
	oneByOne = func() []int {
		told := make([]int, stageSize)
		for i := range told {
			told[i] = i + 1
		}
		return told
	}()
)

// sorted puts the bad outcomes first or last.
func sorted(bad []bool, first bool) []bool {
	n := 0
	for _, b := range bad {
		n += toInt(b)
	}
	for i := range bad {
		bad[i] = first && i < n || !first && i >= len(bad)-n
	}
	return bad
}

func toInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A watch looks at a stage after every report: how many boxes were told the release, how many of them are
// decided, and how many of those are bad. last is set once all are.
type watch struct {
	name string
	look func(told, decided, bad int, last bool) outcome
}

var (
	bounds = guard.Default().Guard
	test   = guard.NewWald(bounds.Acceptable, bounds.Intolerable)
)

var watches = []watch{
	{"guard", func(told, decided, bad int, last bool) outcome {
		switch {
		case test.Halts(bad, told):
			return halted
		case last && test.Clears(bad, decided):
			return promoted
		}
		return held
	}},
	{"the same test, cleared as soon as it clears", func(told, decided, bad int, _ bool) outcome {
		switch {
		case test.Halts(bad, told):
			return halted
		case test.Clears(bad, decided):
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

// iotJobs is the abort criteria of AWS IoT Jobs: the share of failed executions exceeds a threshold, once some
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

// hawkBit is the conditions of a deployment group of hawkBit: its error condition is met by the share of all its
// targets that failed, and its success condition, which starts the next group, by the share that finished.
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

// follow shows a stage to a rule until that halts or promotes.
func follow(w watch, isBad []bool, told []int) result {
	bad := 0
	for i := range isBad {
		bad += toInt(isBad[i])
		last := i == len(isBad)-1
		if o := w.look(told[i], i+1, bad, last); o != held {
			return result{o, i + 1}
		}
	}
	return result{held, len(isBad)}
}

// A failureRow is a kind of release and how its outcomes come in.
type failureRow struct {
	rate  float64
	order order
}

func (f failureRow) run(trials int) []tally {
	return run(fmt.Sprintf("failures %g %s", f.rate, f.order.name), trials, len(watches), func(r *rand.Rand) []result {
		bad, told := f.order.make(r, f.rate)
		results := make([]result, len(watches))
		for i, w := range watches {
			results[i] = follow(w, bad, told)
		}
		return results
	})
}

// rates are the shares of boxes on which releases fail.
var rates = []float64{0.01, 0.05, 0.10}

func writeFailures(w io.Writer, trials int) {
	fmt.Fprintf(w, failuresText, stageSize, plants)
	for _, rate := range rates {
		fmt.Fprintf(w, "### %g percent of the boxes are bad\n\n| reports |", 100*rate)
		for _, watch := range watches {
			fmt.Fprintf(w, " %s |", watch.name)
		}
		fmt.Fprintf(w, "\n|---|%s\n", strings.Repeat("---|", len(watches)))
		for i, o := range orders {
			if i == clustered && rate*20 > 1 {
				continue // a plant cannot fail more often than always
			}
			fmt.Fprintf(w, "| %s |", o.name)
			for _, t := range (failureRow{rate, o}).run(trials) {
				fmt.Fprintf(w, " %s |", t.cell())
			}
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w)
	}
}
