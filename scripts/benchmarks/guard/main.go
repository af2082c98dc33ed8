// Command guard simulates how often rules that watch a rollout are wrong: the guard's, and fixed thresholds as
// AWS IoT Jobs and hawkBit have them. A good release should not be halted, and a bad one not be promoted. Every
// trial has a seed of its own, so the tables are the same wherever they are made.
package main

import (
	"bufio"
	"flag"
	"fmt"
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
	write(out, *trials)
	if err := out.Flush(); err != nil {
		fmt.Fprintln(os.Stderr, "guard:", err)
		os.Exit(1)
	}
}

// Outcomes of a trial.
type outcome int

const (
	held outcome = iota
	halted
	promoted
)

// A result is what became of a trial. At is when, in the trial's own measure.
type result struct {
	outcome outcome
	at      int
}

// A tally is what became of all trials of a row.
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

// median is when the median halt was.
func (t *tally) median() string {
	seen := 0
	for at := 0; seen < t.of[halted]; at++ {
		if seen += t.haltsAt[at]; 2*seen >= t.of[halted] {
			return fmt.Sprint(at)
		}
	}
	return "–"
}

// run makes the trials of a row for several rules at once: all rules see the same trials. A row's seed is that
// of its name.
func run(name string, trials, rules int, trial func(*rand.Rand) []result) []tally {
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
				results := trial(rand.New(rand.NewPCG(seed(name), uint64(i))))
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

// seed is the hash of a name (FNV-1a).
func seed(name string) uint64 {
	h := uint64(14695981039346656037)
	for _, b := range []byte(name) {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return h
}

// cell writes a tally: the percentages of trials that were halted and promoted, and the median halt.
func (t *tally) cell() string {
	trials := t.of[held] + t.of[halted] + t.of[promoted]
	text := percent(t.of[halted], trials) + " / " + percent(t.of[promoted], trials)
	if t.of[halted] > 0 {
		text += " @" + t.median()
	}
	return text
}

// percent writes a share of all trials.
func percent(n, of int) string {
	if n == 0 || n == of {
		return fmt.Sprint(100 * n / of)
	}
	share := 100 * float64(n) / float64(of)
	if min(share, 100-share) < 0.1 {
		return fmt.Sprintf("%.3f", share)
	}
	return fmt.Sprintf("%.2f", share)
}

func write(w io.Writer, trials int) {
	fmt.Fprintf(w, introText, trials, 100*guard.Alpha, 100*guard.Beta)
	writeFailures(w, trials)
	writeSilence(w, trials)
}
