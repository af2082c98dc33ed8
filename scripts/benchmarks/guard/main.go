// Command guard simulates whole fleets with the pure rules of rollouts: what a box is told, what the service knows
// about it, the count of the boxes, the guard's verdict and its actions. Only the clock, the plants and the boxes are
// simulated.
//
//	go run ./scripts/benchmarks/guard -world scripts/benchmarks/guard/worlds/good.json -seeds 20
//
// prints one line of JSON per seed. Without -world it plays all worlds of the folder worlds and prints a table, by
// default with 20 seeds each. -results names a folder of such lines, one file per world; worlds with a file there are
// not played again. -health plays the fleets of health.go on the rule of health numbers, or the one that -world names. README.md describes world files.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"wavegate/shared/fleet/guard"
)

func main() {
	file := flag.String("world", "", "the file of a world")
	seeds := flag.Int("seeds", 20, "how many fleets to play")
	first := flag.Int("first", 1, "the first seed")
	results := flag.String("results", "", "a folder of results that are there already")
	bells := flag.Bool("bell", false, "have the boxes of the world listen to a bell")
	fast := flag.Bool("fast", false, "soak at 10 percent for a day instead of the time in the file")
	windows := flag.Bool("windows", false, "give the plants of the world windows of 2 to 8 hours in 12 time zones")
	every := flag.Duration("count", time.Minute, "how often the boxes of the world are counted")
	health := flag.Bool("health", false, "play the fleets that say health numbers, and print their table")
	flag.Bool("report", false, "print the table of all worlds, as without -world")
	flag.Parse()
	debug.SetGCPercent(400) // a fleet is many small rows that stay
	out := bufio.NewWriter(os.Stdout)
	var err error
	switch {
	case *health:
		reportHealth(out, *seeds, *file)
	case *file == "":
		err = writeReport(out, *seeds, *results)
	default:
		err = playFile(out, *file, *first, *seeds, func(w *world) {
			w.Bell, w.CountEvery = w.Bell || *bells, *every
			if *fast {
				w.Policy.Promote.Soak.At10 = guard.Lasting(24 * time.Hour)
			}
			if *windows {
				w.Updates = usualUpdates()
			}
		})
	}
	if err = errors.Join(err, out.Flush()); err != nil {
		fmt.Fprintln(os.Stderr, "guard:", err)
		os.Exit(1)
	}
}

// read reads the file of a world.
func read(file string) (world, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return world{}, err
	}
	w, err := parse(text)
	if err != nil {
		return world{}, fmt.Errorf("%s has faults:\n%w", file, err)
	}
	return w, nil
}

func playFile(out *bufio.Writer, file string, first, seeds int, change func(*world)) error {
	w, err := read(file)
	if err != nil {
		return err
	}
	change(&w)
	return each(w, first, seeds, func(r result) error { return writeLine(out, r) })
}

func writeLine(out *bufio.Writer, r result) error {
	if err := json.NewEncoder(out).Encode(r); err != nil {
		return err
	}
	return out.Flush()
}

// each plays a world with a number of seeds in parallel, and passes on the results in the order of the seeds.
func each(w world, first, seeds int, take func(result) error) error {
	results := make([]chan result, seeds)
	for i := range results {
		results[i] = make(chan result, 1)
	}
	var next sync.Mutex
	at := 0
	for range min(runtime.GOMAXPROCS(0), seeds) {
		go func() {
			for {
				next.Lock()
				i := at
				at++
				next.Unlock()
				if i >= seeds {
					return
				}
				results[i] <- run(w, first+i)
			}
		}()
	}
	for _, c := range results {
		if err := take(<-c); err != nil {
			return err
		}
	}
	return nil
}
