package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"wavegate/scripts/lab/benchmarks/calls"
	"wavegate/scripts/lab/benchmarks/meter"
	"wavegate/shared/testing/dynamolocal"
)

// table says what each call may take. A line has the operation and case, the requests, round trips, read units and
// write units, with tabs between them. A test checks it.
//
//go:embed counted.tsv
var table string

// A limit is a line of the table.
type limit struct {
	Requests, Rounds int
	Read, Write      float64
}

// limits reads the table.
func limits() (map[string]limit, error) {
	all := map[string]limit{}
	for i, line := range strings.Split(strings.TrimSpace(table), "\n") {
		f := strings.Split(line, "\t")
		if len(f) != 5 {
			return nil, fmt.Errorf("counted.tsv: line %d has %d columns", i+1, len(f))
		}
		if i == 0 {
			continue
		}
		requests, err1 := strconv.Atoi(f[1])
		rounds, err2 := strconv.Atoi(f[2])
		read, err3 := strconv.ParseFloat(f[3], 64)
		write, err4 := strconv.ParseFloat(f[4], 64)
		if err := errors.Join(err1, err2, err3, err4); err != nil {
			return nil, fmt.Errorf("counted.tsv: line %d: %w", i+1, err)
		}
		all[f[0]] = limit{requests, rounds, read, write}
	}
	return all, nil
}

// line is a usage as a line of the table.
func line(name string, u meter.Usage) string {
	return fmt.Sprintf("%s\t%d\t%d\t%g\t%g", name, u.Requests, u.Rounds, u.Read, u.Write)
}

const heading = "call\trequests\tround trips\tread units\twrite units"

// startCounted runs the service with a meter between it and the store.
func startCounted(ctx context.Context, functions string, s *dynamolocal.Store) (*calls.World, *meter.Meter, error) {
	m, err := meter.Start(s.Endpoint)
	if err != nil {
		return nil, nil, err
	}
	w, err := calls.Start(ctx, calls.Options{Functions: functions, Store: dynamolocal.External(m.URL), Processes: 1})
	if err != nil {
		return nil, nil, errors.Join(err, m.Close())
	}
	return w, m, nil
}

// quietTimes are how long the meter waits for requests of the same round trip, try by try. With a longer wait, a
// slow machine does not split a round trip.
var quietTimes = []time.Duration{12 * time.Millisecond, 40 * time.Millisecond, 150 * time.Millisecond}

// count measures a call in a warm process until it is within the limit, at most three times, and returns the least
// that was seen. Without a limit it measures three times.
func count(w *calls.World, m *meter.Meter, row calls.Row, within *limit) (meter.Usage, error) {
	least := meter.Usage{Requests: math.MaxInt, Rounds: math.MaxInt, Read: math.Inf(1), Write: math.Inf(1)}
	for try, quiet := range append([]time.Duration{0}, quietTimes...) {
		call, err := row.Prepare(w)
		if err != nil {
			return least, fmt.Errorf("%s: %w", row.Name(), err)
		}
		var answer calls.Answer
		ask := func() (err error) { answer, err = w.Do(call); return err }
		var u meter.Usage
		if try == 0 { // warms the process, and makes its connections
			err = ask()
		} else {
			u, err = m.Measure(quiet, ask)
		}
		if err == nil && answer.Status != call.Status {
			err = fmt.Errorf("answered %d %s, want %d", answer.Status, answer.Body, call.Status)
		}
		if err != nil {
			return least, fmt.Errorf("%s: %w", row.Name(), err)
		}
		if try == 0 {
			continue
		}
		least.Requests, least.Rounds = min(least.Requests, u.Requests), min(least.Rounds, u.Rounds)
		least.Read, least.Write = min(least.Read, u.Read), min(least.Write, u.Write)
		least.Disagreements = u.Disagreements
		if within != nil && within.holds(least) {
			break
		}
	}
	return least, nil
}

func (l limit) holds(u meter.Usage) bool {
	return u.Requests <= l.Requests && u.Rounds <= l.Rounds && u.Read <= l.Read && u.Write <= l.Write
}
