package main

import (
	"context"
	"flag"
	"os"
	"strings"
	"testing"

	"wavegate/scripts/lab/benchmarks/calls"
	"wavegate/scripts/lab/benchmarks/meter"
	"wavegate/scripts/local/service"
	"wavegate/shared/testing/dynamolocal"
)

var (
	update = flag.Bool("update", false, "write what is counted to counted.tsv")
	only   = flag.String("only", "", "count the calls of this operation alone")
)

// TestCalls_TakeNoMoreThanTheTableSays counts what each call asks of DynamoDB. More than before is a
// regression, or a decision that shows in the table. Less is written down, too, so that it stays:
//
//	go test ./scripts/lab/benchmarks/cost -run Calls -update [-only <operation>]
func TestCalls_TakeNoMoreThanTheTableSays(t *testing.T) {
	functions, err := service.Build(t.Context(), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	s, err := dynamolocal.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	w, m, err := startCounted(context.Background(), functions, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close(); _ = m.Close() })
	all, err := limits()
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{heading}
	for _, row := range calls.Rows() {
		if *only != "" && row.Operation != *only {
			if l, ok := all[row.Name()]; ok {
				lines = append(lines, line(row.Name(), meter.Usage{Requests: l.Requests, Rounds: l.Rounds, Read: l.Read, Write: l.Write}))
			}
			delete(all, row.Name())
			continue
		}
		var within *limit
		if l, ok := all[row.Name()]; ok && !*update {
			within = &l
		}
		u, err := count(w, m, row, within)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line(row.Name(), u))
		if *update {
			continue
		}
		switch {
		case within == nil:
			t.Errorf("counted.tsv has no line for %s, which took\n%s", row.Name(), line(row.Name(), u))
		case !within.holds(u):
			t.Errorf("took more than it may\n%s\n%s", line(row.Name(), u), heading)
		case u.Requests < within.Requests || u.Rounds < within.Rounds:
			t.Errorf("took less than the table says, which is good and belongs into it:\n%s", line(row.Name(), u))
		}
		delete(all, row.Name())
	}
	if *update {
		if err := os.WriteFile("counted.tsv", []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	for name := range all {
		t.Errorf("counted.tsv has a line for %q, and there is no such call", name)
	}
}
