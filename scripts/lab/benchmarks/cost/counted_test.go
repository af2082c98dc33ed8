package main

import (
	"flag"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"wavegate/scripts/local/service"
	"wavegate/scripts/samples"
	"wavegate/shared/testing/dynamolocal"
	"wavegate/shared/testing/expect"
)

var (
	update = flag.Bool("update", false, "write the counts to counted.tsv")
	only   = flag.String("only", "", "count only the calls of this operation")
)

const heading = "call\trequests\tround trips\tread units\twrite units"

// TestCalls_TakeNoMoreThanTheTableSays counts the DynamoDB requests of each case of each sample. If there are more
// than before, that is a regression, or a decision that the table has to show. If there are fewer, the table is also
// updated, so that it stays so:
//
//	go test ./scripts/lab/benchmarks/cost -run Calls -update [-only <operation>]
func TestCalls_TakeNoMoreThanTheTableSays(t *testing.T) {
	s := expect.Value(dynamolocal.Embedded())(t)
	t.Cleanup(func() { s.Close() })
	m := startMeter(t, s.Endpoint)
	w := startWorld(t, func(o *service.Options) { o.Store = dynamolocal.External(m.url) })
	all := expect.Value(limits())(t)
	lines := []string{heading}
	for _, sample := range samples.All {
		for _, c := range sample.Cases {
			name := nameOf(sample.Operation, c)
			was, known := all[name]
			delete(all, name)
			if *only != "" && sample.Operation != *only {
				if known {
					lines = append(lines, was.line(name))
				}
				continue
			}
			var within *limit
			if known && !*update {
				within = &was
			}
			took := w.count(t, m, sample.Operation, c, within)
			lines = append(lines, took.line(name))
			switch {
			case *update:
			case within == nil:
				t.Errorf("counted.tsv has no line for %s, which took\n%s", name, took.line(name))
			case !within.holds(took):
				t.Errorf("took more than it may\n%s\n%s", took.line(name), heading)
			case took.Requests < was.Requests || took.Rounds < was.Rounds:
				t.Errorf("took less than the table says; update the table:\n%s", took.line(name))
			}
		}
	}
	if *update {
		expect.OK(t, os.WriteFile("counted.tsv", []byte(strings.Join(lines, "\n")+"\n"), 0o600))
		return
	}
	for name := range all {
		t.Errorf("counted.tsv has a line for %q, but there is no such call", name)
	}
}

// quietTimes are the meter's waits for requests of the same round trip, one per try. With a longer wait, a slow
// machine does not split a round trip.
var quietTimes = []time.Duration{12 * time.Millisecond, 40 * time.Millisecond, 150 * time.Millisecond,
	600 * time.Millisecond, 600 * time.Millisecond}

// count measures a call in a warm process until it is within the limit, at most five times, and returns the smallest
// result. Without a limit it measures five times.
func (w *world) count(t *testing.T, m *meter, operation string, c samples.Case, within *limit) limit {
	t.Helper()
	recorded := true // a poll whose report waits too long at the meter is answered without an entity tag
	ask := func(call samples.Call) func() {
		return func() {
			answer := w.Make(t, call).Is(t, call.Status)
			recorded = operation != "get-manifest" || answer.Header.Get("ETag") != ""
		}
	}
	ask(w.prepare(t, operation, c))() // warms the process and opens its connections
	least := limit{Requests: math.MaxInt, Rounds: math.MaxInt, Read: math.Inf(1), Write: math.Inf(1)}
	for _, quiet := range quietTimes {
		u := m.measure(quiet, ask(w.prepare(t, operation, c)))
		if !recorded {
			continue
		}
		for _, d := range u.Disagreements {
			t.Errorf("%s: %s", nameOf(operation, c), d)
		}
		least = limit{
			Requests: min(least.Requests, u.Requests), Rounds: min(least.Rounds, u.Rounds),
			Read: min(least.Read, u.Read), Write: min(least.Write, u.Write),
		}
		if within != nil && within.holds(least) {
			break
		}
	}
	return least
}

func (l limit) holds(took limit) bool {
	return took.Requests <= l.Requests && took.Rounds <= l.Rounds && took.Read <= l.Read && took.Write <= l.Write
}

// line is the limit as a line of the table.
func (l limit) line(name string) string {
	return fmt.Sprintf("%s\t%d\t%d\t%g\t%g", name, l.Requests, l.Rounds, l.Read, l.Write)
}
