package lease

import (
	"testing"
	"time"

	"wavegate/shared/testing/expect"
)

// TestTable_CallsOfManyBoxes_CostFewWritesAndAreRarelyRefusedEarly prints the table of
// scripts/lab/benchmarks/results/ratelimit.md. Organizations do not share a book, so their number does not matter.
func TestTable_CallsOfManyBoxes_CostFewWritesAndAreRarelyRefusedEarly(t *testing.T) {
	expect.Full(t)
	for _, c := range []struct {
		what          string
		limit, calls  int
		writes, early float64 // at most
	}{
		{"100,000 boxes, a poll in 5 minutes", 600_000, 20_000, 0.05, 0},
		{"100,000 boxes, a poll a minute", 600_000, 100_000, 0.05, 0},
		{"at 92 % of 600,000", 600_000, 550_000, 0.05, 0.1},
		{"1,000 boxes, limit 10,000, a poll a minute", 10_000, 1_000, 1.5, 0},
		{"at 90 % of 10,000", 10_000, 9_000, 1.5, 0.1},
		{"twice 10,000", 10_000, 20_000, 1.5, 0.1},
	} {
		for _, containers := range []int{20, 200, 900} {
			w, admitted, writes := traffic{containers, c.limit, c.calls}.play(2)
			most := w.most(time.Minute)
			t.Logf("| %s | %d | %.4f | %.1f %% | %d | %d |", c.what, containers, writes, 100*(1-admitted), most, len(w.book.Ends))
			expect.That(t, most <= c.limit && writes <= c.writes && 1-admitted <= c.early+0.001,
				"%s, %d containers: %d in a minute, %.4f writes a call, %.4f refused early", c.what, containers, most, writes, 1-admitted)
		}
	}
}
