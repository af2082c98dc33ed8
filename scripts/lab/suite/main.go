// Command suite runs the project's tests, in groups, three at a time. ./scripts/test calls it.
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	os.Exit(run(ctx, os.Args[1:]))
}

// atOnce is the number of groups that run at a time. Some mostly wait for other programs.
const atOnce = 3

func run(ctx context.Context, arguments []string) int {
	if slices.ContainsFunc(arguments, func(a string) bool { return a == "-h" || a == "--help" }) {
		fmt.Print(usage())
		return 0
	}
	p, err := list()
	if err != nil {
		fmt.Fprintln(os.Stderr, "test:", err)
		return 1
	}
	chosen, err := choose(p, arguments)
	if err != nil {
		fmt.Fprintf(os.Stderr, "test: %v\n\n%s", err, usage())
		return 2
	}
	if err := os.MkdirAll(".dev/test", 0o755); err != nil {
		fmt.Fprintln(os.Stderr, "test:", err)
		return 1
	}
	// Tests are short and there is enough memory, so the compiler and the tests collect garbage less often.
	if os.Getenv("GOGC") == "" {
		if err := os.Setenv("GOGC", "400"); err != nil {
			fmt.Fprintln(os.Stderr, "test:", err)
			return 1
		}
	}
	began := time.Now()
	b := newBoard(os.Stdout, chosen)
	results := make([]result, len(chosen))
	turns := make(chan int)
	var workers sync.WaitGroup
	for range atOnce {
		workers.Go(func() {
			for i := range turns {
				b.starts(chosen[i])
				results[i] = play(ctx, chosen[i])
				b.ends(results[i])
			}
		})
	}
	for i := range chosen {
		turns <- i
	}
	close(turns)
	workers.Wait()
	return b.summary(results, time.Since(began))
}

// choose returns the groups that the arguments ask for.
func choose(p packages, arguments []string) ([]group, error) {
	if len(arguments) == 0 {
		return groups(p, daily), nil
	}
	switch m := mode(arguments[0]); m {
	case rest, full, long:
		if len(arguments) > 1 {
			return nil, fmt.Errorf("%s cannot be combined with other arguments", m)
		}
		if m == long {
			if err := os.Setenv("LONG", "1"); err != nil {
				return nil, err
			}
		}
		return groups(p, m), nil
	}
	all := groups(p, full)
	var chosen []group
	for _, name := range arguments {
		at := slices.IndexFunc(all, func(g group) bool { return g.name == name })
		if at < 0 {
			return nil, fmt.Errorf("there is no group and no mode %q", name)
		}
		chosen = append(chosen, all[at])
	}
	return chosen, nil
}

// missing returns the program that a group lacks, or an empty string.
func (g group) missing() string {
	for _, p := range g.needs {
		if !slices.ContainsFunc(p.names, func(name string) bool { _, err := exec.LookPath(name); return err == nil }) {
			return fmt.Sprintf("there is no %s (%s)", strings.Join(p.names, " or "), p.how)
		}
	}
	return ""
}
