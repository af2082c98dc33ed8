// Command startup measures how long the process of a function takes from its start to its first answer, beside
// an empty function that is built with the same flags. The functions take turns, so that a change of the
// machine's speed affects all of them.
//
//	./scripts/lab/benchmarks/run startup     RUNS=… sets how often each function is started (30)
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"wavegate/scripts/lab/benchmarks/calls"
	"wavegate/scripts/local/runtime"
	"wavegate/scripts/local/service"
	"wavegate/shared/operations"
)

// empty is the name of the empty function in the table.
const empty = "(an empty function)"

// unknown is an event that operations answer without a request to the store, so it shows the start alone.
var unknown = []byte("{}")

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "startup:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	runs, err := strconv.Atoi(cmp.Or(os.Getenv("RUNS"), "30"))
	if err != nil || runs < 1 {
		return fmt.Errorf("the count RUNS=%s is not 1 or more", os.Getenv("RUNS"))
	}
	root, err := service.Root()
	if err != nil {
		return err
	}
	binary, err := buildEmpty(ctx, root)
	if err != nil {
		return err
	}
	functions, err := service.Build(ctx, os.Stderr)
	if err != nil {
		return err
	}
	w, err := calls.Start(ctx, calls.Options{Functions: functions})
	if err != nil {
		return err
	}
	defer w.Close()
	none := runtime.New(runtime.Spec{Name: "empty", Binary: binary, Timeout: time.Minute, MemoryMB: 256})
	defer none.Stop()

	order := append([]string{empty}, operations.Functions()...)
	starts, answers := map[string][]time.Duration{}, map[string][]time.Duration{}
	for i := range runs + 1 {
		for _, name := range order {
			f := none
			if name != empty {
				f = w.Function(name)
			}
			event, err := os.ReadFile(filepath.Join(root, "events", name+".json"))
			if err != nil {
				event = unknown // there is no sample event of what is no operation
			}
			start, err := first(ctx, f, unknown)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			answer, err := first(ctx, f, event)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			if i == 0 {
				continue // warms the page cache
			}
			starts[name], answers[name] = append(starts[name], start), append(answers[name], answer)
		}
	}
	fmt.Printf("Median of %d starts of each, taken in turns; ratios are to the empty function. Start: from the start of the process to its answer to an event that it does not know, which takes no request to the store (tick reads no event and does its work). First answer: to the sample event of the operation, with a new connection to the store.\n\n", runs)
	fmt.Print("| function | start, ms | ratio | first answer, ms |\n|---|---|---|---|\n")
	for _, name := range order {
		ms := median(starts[name])
		fmt.Printf("| %s | %.2f | %.2f | %.2f |\n", name, ms, ms/median(starts[empty]), median(answers[name]))
	}
	return nil
}

// first is how long a new process of the function takes to answer the event. An error that the function reports is
// an answer, too.
func first(ctx context.Context, f *runtime.Function, event []byte) (time.Duration, error) {
	f.Recycle()
	began := time.Now()
	_, err := f.Invoke(ctx, event)
	took := time.Since(began)
	if _, reported := errors.AsType[*runtime.FunctionError](err); reported {
		err = nil
	}
	return took, err
}

// median is in milliseconds.
func median(d []time.Duration) float64 {
	slices.Sort(d)
	return float64(d[len(d)/2].Microseconds()) / 1000
}

// buildEmpty builds the empty function as scripts/build builds the others.
func buildEmpty(ctx context.Context, root string) (string, error) {
	out := filepath.Join(root, ".dev", "empty", "bootstrap")
	cmd := exec.CommandContext(ctx, "go", "build", "-tags", "lambda.norpc", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w",
		"-o", out, "./scripts/lab/benchmarks/startup/empty")
	cmd.Dir, cmd.Stderr = root, os.Stderr
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	return out, cmd.Run()
}
