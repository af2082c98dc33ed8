// Command guard simulates how often rules that watch a rollout are wrong: the guard's, and the fixed thresholds of
// AWS IoT Jobs and hawkBit. A rule is wrong if it halts a good release or promotes a bad one. Every trial has a
// seed of its own, so the tables are the same on every machine.
//
// With 100,000 trials a row it takes about ten minutes on two processors. To try it:
//
//	go run ./scripts/lab/benchmarks/guard -trials 1000
package main

import (
	"bufio"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"

	"wavegate/shared/fleet/guard"
)

func main() {
	trials := flag.Int("trials", 100_000, "trials of each row")
	flag.Parse()
	out := bufio.NewWriter(os.Stdout)
	fmt.Fprintf(out, introText, *trials, 100*guard.Alpha, 100*guard.Beta)
	writeFailures(out, *trials)
	writeSilence(out, *trials)
	if err := out.Flush(); err != nil {
		fmt.Fprintln(os.Stderr, "guard:", err)
		os.Exit(1)
	}
}

// An outcome is what a rule did with a release.
type outcome int

const (
	held outcome = iota
	halted
	promoted
)

// A result is the outcome of a trial, and when it was decided: at a minute, or after a number of boxes.
type result struct {
	outcome outcome
	at      int
}

// A tally counts the outcomes of the trials of a row.
type tally struct {
	of      [3]int
	haltsAt map[int]int
}

func (t *tally) add(r result) {
	t.of[r.outcome]++
	if r.outcome == halted {
		t.haltsAt[r.at]++
	}
}

// run makes the trials of a row. All rules see the same trials. The seed of a row is the hash of its name.
func run(name string, trials, rules int, trial func(*rand.Rand) []result) []tally {
	hash := fnv.New64a()
	_, _ = io.WriteString(hash, name)
	seed := hash.Sum64()
	tallies := make([]tally, rules)
	for i := range tallies {
		tallies[i].haltsAt = map[int]int{}
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		wg.Go(func() {
			for i := w; i < trials; i += workers {
				results := trial(rand.New(rand.NewPCG(seed, uint64(i))))
				mu.Lock()
				for rule, r := range results {
					tallies[rule].add(r)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return tallies
}

// cell writes the percentages of trials that were halted and promoted, and when the median halt was.
func (t *tally) cell() string {
	trials := t.of[held] + t.of[halted] + t.of[promoted]
	text := percent(t.of[halted], trials) + " / " + percent(t.of[promoted], trials)
	seen := 0
	for at := 0; seen < t.of[halted]; at++ {
		if seen += t.haltsAt[at]; 2*seen >= t.of[halted] {
			return fmt.Sprintf("%s @%d", text, at)
		}
	}
	return text
}

// percent writes a share, with more digits where it is small or nearly all.
func percent(n, of int) string {
	share := 100 * float64(n) / float64(of)
	switch {
	case n == 0 || n == of:
		return fmt.Sprint(share)
	case min(share, 100-share) < 0.1:
		return fmt.Sprintf("%.3f", share)
	}
	return fmt.Sprintf("%.2f", share)
}

// writeRow writes a line of a table. lead has its first cells, with bars between them.
func writeRow(w io.Writer, lead string, tallies []tally) {
	fmt.Fprintf(w, "| %s |", lead)
	for _, t := range tallies {
		fmt.Fprintf(w, " %s |", t.cell())
	}
	fmt.Fprintln(w)
}
