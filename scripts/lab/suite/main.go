// Command suite runs the project's tests, in groups, three at a time. ./scripts/test calls it.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if slices.Contains(os.Args, "-h") || slices.Contains(os.Args, "--help") {
		fmt.Print("The groups, and the mode that adds them:", table(), "\n")
		return
	}
	chosen, err := choose(os.Args[1:])
	words, failure := replacer(chosen)
	if err = errors.Join(err, failure); err == nil {
		err = run(ctx, words, chosen, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "test:", err)
		os.Exit(1)
	}
}

// choose returns the groups of a mode, or those with the given names.
func choose(arguments []string) (chosen []group, err error) {
	mode := strings.Join(arguments, " ")
	for _, g := range groups {
		if mode == g.mode || mode == full && g.mode != long || mode == long || slices.Contains(arguments, g.name) {
			chosen = append(chosen, g)
		}
	}
	for _, name := range arguments {
		known := func(g group) bool { return g.name == name }
		if !slices.ContainsFunc(groups, known) && !slices.Contains([]string{rest, full, long}, mode) {
			return nil, fmt.Errorf("%q is not a group, and not a mode that stands alone. The groups are:%s", name, table())
		}
	}
	return chosen, nil
}

func table() (text string) {
	for _, g := range groups {
		text += fmt.Sprintf("\n  %-15s %-6s %s", g.name, g.mode, g.says)
	}
	return text
}

// replacer replaces the words with an @ in steps. Packages with tests are sorted by what the tests import.
func replacer(chosen []group) (*strings.Replacer, error) {
	list := []string{"list", "-e", "-f", `{{if not .ForTest}}{{.ImportPath}} {{join .TestImports " "}} {{join .XTestImports " "}} {{end}}`}
	if len(chosen) > 1 {
		// This compiles everything, once. Groups that start at the same time would compile the same.
		list = append(list, "-export", "-test")
	}
	out, err := exec.Command("go", append(list, "./...")...).Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	lists := map[string]string{}
	properties := slices.ContainsFunc(chosen, func(g group) bool { return g.name == "properties" })
	for line := range strings.Lines(string(out)) {
		name, imports, _ := strings.Cut(line, " ")
		if strings.TrimSpace(imports) == "" || slices.Contains(alone, name) {
			continue
		}
		imported := func(path string) bool { return strings.Contains(" "+imports, " "+path+" ") }
		worlds := imported("wavegate/scripts/e2e/harness") // which tells Go what the functions are made of
		pure := !worlds && !imported("os/exec") && !imported("wavegate/scripts/local/service")
		stores := imported("wavegate/shared/testing/dynamotest")
		rapid := pure && !stores && imported("pgregory.net/rapid")
		for list, fits := range map[string]bool{
			"@worlds":    worlds,
			"@processes": !pure && !worlds, // the tests run servers or other programs
			// Go's cache of test results knows everything that these read. "properties" runs its packages with all their tests.
			"@pure":    pure && !(rapid && properties),
			"@unraced": pure && name != simulator && !slices.Contains(goroutines, name),
			"@rapid":   rapid,  // property tests
			"@stores":  stores, // tests of stored data
		} {
			if fits {
				lists[list] += name + " "
			}
		}
	}
	short := "-short" // a fifth of the cases of each property
	if properties {
		short = ""
	}
	const test = "go test -vet=off -json" // the group "sources" vets all packages, and the suite reads the output
	words := []string{"@short", short, "@test", test, "@full", "env FULL=1 " + test + " -count=1 -timeout=1h",
		"@race", "env CGO_ENABLED=1 " + test + " -race -short -timeout=20m"} // properties start no goroutines
	for list, names := range lists {
		words = append(words, list, names)
	}
	return strings.NewReplacer(words...), nil
}

// run plays groups, and shows what happens.
func run(ctx context.Context, words *strings.Replacer, chosen []group, out io.Writer) error {
	began, board := time.Now(), log.New(out, "", 0)
	results := make([]*result, len(chosen))
	var all errgroup.Group
	var turn sync.Mutex
	all.SetLimit(3) // some mostly wait for other programs
	for i, g := range chosen {
		var before []string
		if i > 0 && g.mode == daily || g.name == races {
			before = []string{"nice", "-n", "5"} // they make room for the first, which takes longest, and for boxes that keep to their times
		}
		all.Go(func() error {
			if slices.Contains(apart, g.name) {
				turn.Lock()
				defer turn.Unlock()
			}
			board.Printf("running   %s", g.name)
			results[i] = g.play(ctx, words, before...)
			board.Printf("%-9s %s, %.0f s  %s", results[i].state, g.name, results[i].took.Seconds(), results[i].why)
			return nil
		})
	}
	_ = all.Wait() // the results have the errors

	board.Printf("\n%-15s %-9s %8s %8s %7s %7s %7s %7s", "group", "result", "seconds", "of CPU", "tests", "failed", "skipped", "cached")
	passed, failed, red := 0, 0, 0
	for i, r := range results {
		board.Printf("%-15s %-9s %8.0f %8.0f %7d %7d %7d %7d",
			chosen[i].name, r.state, r.took.Seconds(), r.used.Seconds(), r.passed+r.failed, r.failed, r.skipped, r.cached)
		passed, failed = passed+r.passed, failed+r.failed
		if r.state == "FAILED" {
			red++
		}
	}
	board.Printf("\n%d groups in %s; %d failed\n%d passed, %d failed", len(chosen), time.Since(began).Round(time.Second), red, passed, failed)
	if red > 0 {
		return fmt.Errorf("%d groups failed", red)
	}
	return nil
}

// play runs the steps of a group until one fails.
func (g group) play(ctx context.Context, words *strings.Replacer, before ...string) *result {
	for _, names := range strings.Fields(g.needs) {
		found := func(name string) bool { _, err := exec.LookPath(name); return err == nil }
		if slices.ContainsFunc(strings.Split(names, "|"), found) {
			continue
		}
		why := "there is no " + strings.ReplaceAll(names, "|", " or ") + "; .ci/run says which package has it"
		if os.Getenv("CI") == "true" {
			return &result{state: "FAILED", why: why}
		}
		return &result{state: "skipped", why: why}
	}
	path := ".dev/test/" + strings.ReplaceAll(g.name, " ", "-") + ".log"
	log, err := os.Create(path)
	if err != nil {
		return &result{state: "FAILED", why: err.Error()}
	}
	defer log.Close()
	r, began := &result{state: "ok", log: log, output: map[string][]string{}}, time.Now()
	for _, step := range g.steps {
		if err := r.step(ctx, append(slices.Clip(before), strings.Fields(words.Replace(step))...)); err != nil {
			r.state, r.why = "FAILED", fmt.Sprintf("%s: %v; all output: %s\n\n", step, err, path)
			if ended, ok := errors.AsType[*exec.ExitError](err); ok && ended.ExitCode() == 77 {
				r.state = "skipped" // the step says so with this code, as tests of automake do
			}
			for _, name := range slices.Sorted(maps.Keys(r.output)) {
				lines := r.output[name]
				r.why += strings.Join(lines[max(0, len(lines)-120):], "")
			}
			break
		}
	}
	r.took = time.Since(began)
	return r
}

// A result of a group. It reads the output of the group's commands.
type result struct {
	state, why             string        // ok, skipped or FAILED, and its cause or what its steps warn of
	took, used             time.Duration // used is the time of processors, without the Docker engine's
	passed, failed, cached int           // tests, and packages with results from Go's cache
	skipped                int           // tests that need FULL, or a program that is missing

	log    io.Writer
	begun  []byte              // a line that has no end yet
	output map[string][]string // of each test and package that has not passed, and of other programs
}

func (r *result) step(ctx context.Context, command []string) error {
	r.line("$ " + strings.Join(command, " ") + "\n")
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = time.Minute
	cmd.Stdout, cmd.Stderr = r, r
	ran := r.passed + r.failed
	err := cmd.Run()
	if ended := cmd.ProcessState; ended != nil {
		r.used += ended.UserTime() + ended.SystemTime()
	}
	_, _ = r.Write([]byte("\n")) // ends the last line
	if err == nil && slices.Contains(command, "-json") && r.passed+r.failed == ran {
		return errors.New("no test ran")
	}
	return err
}

// Write reads events of go test -json, and other lines.
func (r *result) Write(b []byte) (int, error) {
	lines := bytes.SplitAfter(append(r.begun, b...), []byte("\n"))
	r.begun = lines[len(lines)-1]
	for _, line := range lines[:len(lines)-1] {
		r.line(string(line))
	}
	return len(b), nil
}

func (r *result) line(line string) {
	var e struct{ Action, Package, Test, Output string }
	if json.Unmarshal([]byte(line), &e) != nil || e.Action == "" {
		e.Output = line
	}
	_, _ = io.WriteString(r.log, e.Output) // a log that cannot be written fails no test
	name := e.Package + " " + e.Test       // both are empty for compilers and other programs
	r.output[name] = append(r.output[name], e.Output)
	switch {
	case e.Package == "" && strings.HasPrefix(e.Output, "warning: "):
		r.why += e.Output
	case e.Test == "" && strings.Contains(e.Output, "(cached)"):
		r.cached++
	case e.Test != "" && e.Action == "pass":
		r.passed++
	case e.Test != "" && e.Action == "fail":
		r.failed++
	case e.Test != "" && e.Action == "skip":
		r.skipped++
	}
	if e.Action == "pass" || e.Action == "skip" {
		delete(r.output, name)
	}
}
