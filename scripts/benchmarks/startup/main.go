// Command startup measures how long a function takes from the start of its process to its first poll
// of the Lambda runtime and to its first answer, against an empty function built with the same flags,
// and how large it is. The functions take turns, so that a machine whose speed drifts is the same to
// all.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"wavegate/scripts/local/devissuer"
	"wavegate/scripts/local/service"
	"wavegate/shared/access/token"
	"wavegate/shared/operations"
	"wavegate/shared/platform/dynamo"
	"wavegate/shared/platform/dynamo/dynamolocal"
)

// runs of each function; RUNS=… replaces it.
const runs = 30

// empty is the name of the empty function in the table.
const empty = "(an empty function)"

// A sample is one start.
type sample struct{ poll, answer time.Duration }

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "startup:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	n := runs
	if s := os.Getenv("RUNS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil || n < 1 {
			return fmt.Errorf("the count RUNS=%s makes no sense", s)
		}
	}
	dir, err := service.Build(ctx, os.Stderr)
	if err != nil {
		return err
	}
	binaries := map[string]string{}
	for _, f := range operations.Functions() {
		binaries[f] = filepath.Join(dir, f, "bootstrap")
	}
	if binaries[empty], err = buildEmpty(ctx); err != nil {
		return err
	}
	environment, closeStore, err := environment(ctx)
	if err != nil {
		return err
	}
	defer closeStore()

	order := append([]string{empty}, operations.Functions()...)
	samples := map[string][]sample{}
	for i := range n + 1 { // the first round warms the page cache and is not counted
		for _, f := range order {
			s, err := start(ctx, binaries[f], f, environment)
			if err != nil {
				return fmt.Errorf("%s: %w", f, err)
			}
			if i > 0 {
				samples[f] = append(samples[f], s)
			}
		}
	}
	return table(ctx, order, samples, binaries, n)
}

func table(ctx context.Context, order []string, samples map[string][]sample, binaries map[string]string, n int) error {
	arm64, err := deployed(ctx)
	if err != nil {
		return err
	}
	var paths []string // this machine's binary and the deployed one of each function by turns
	for _, f := range order {
		paths = append(paths, binaries[f])
		if f != empty {
			paths = append(paths, filepath.Join(arm64, f, "bootstrap"))
		}
	}
	all, err := sizes(paths)
	if err != nil {
		return err
	}
	bySize := map[string]size{}
	for i, p := range paths {
		bySize[p] = all[i]
	}
	fmt.Printf("Median of %d starts of each, taken in turns; ratios are to the empty function. First poll: from the start of the process to its first question to the Lambda runtime. First answer: to the answer of a first call, with its own connection to the store. Sizes of the binary that was measured, and as deployed, for linux/arm64.\n\n", n)
	fmt.Println("| function | first poll, ms | ratio | first answer, ms | binary, MB | zip, MB | deployed, MB | deployed zip, MB |")
	fmt.Println("|---|---|---|---|---|---|---|---|")
	base := median(samples[empty], poll)
	var slowest float64
	var largest int64
	for _, f := range order {
		first, here := median(samples[f], poll), bySize[binaries[f]]
		ratio := float64(first) / float64(base)
		there := "| |"
		if d, ok := bySize[filepath.Join(arm64, f, "bootstrap")]; ok {
			there = fmt.Sprintf("| %.2f | %.2f |", mb(d.binary), mb(d.zipped))
			slowest, largest = max(slowest, ratio), max(largest, d.zipped, here.zipped)
		}
		fmt.Printf("| %s | %.2f | %.2f | %.2f | %.2f | %.2f %s\n", f, ms(first), ratio, ms(median(samples[f], answer)), mb(here.binary), mb(here.zipped), there)
	}
	fmt.Printf("\nHighest ratio %.2f (at most 1.45 is aimed at), largest zip %.2f MB (at most 4 is aimed at, and held by a test).\n", slowest, mb(largest))
	return nil
}

func poll(s sample) time.Duration   { return s.poll }
func answer(s sample) time.Duration { return s.answer }

func median(list []sample, of func(sample) time.Duration) time.Duration {
	var d []time.Duration
	for _, s := range list {
		d = append(d, of(s))
	}
	slices.Sort(d)
	return d[len(d)/2]
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
func mb(n int64) float64         { return float64(n) / 1e6 }

// buildEmpty builds the empty function as scripts/build builds the others.
func buildEmpty(ctx context.Context) (string, error) {
	root, err := service.Root()
	if err != nil {
		return "", err
	}
	out := filepath.Join(root, ".dev", "empty", "bootstrap")
	cmd := exec.CommandContext(ctx, "go", "build", "-tags", "lambda.norpc", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w",
		"-o", out, "./scripts/benchmarks/startup/empty")
	cmd.Dir, cmd.Stderr = root, os.Stderr
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	return out, cmd.Run()
}

// environment is a store with tables, and what a function needs to reach it.
func environment(ctx context.Context) (env []string, stop func(), err error) {
	s, err := dynamolocal.Embedded()
	if err != nil {
		return nil, nil, err
	}
	stop = func() { s.Close() }
	if err := dynamolocal.CreateTables(ctx, s.Client()); err != nil {
		stop()
		return nil, nil, err
	}
	keys, err := os.MkdirTemp("", "wavegate-startup")
	if err != nil {
		stop()
		return nil, nil, err
	}
	defer os.RemoveAll(keys)
	issuers, err := devissuer.Load(keys)
	if err != nil {
		stop()
		return nil, nil, err
	}
	var ids []dynamo.TableID
	for _, t := range dynamo.Tables {
		ids = append(ids, t.ID)
	}
	env = append(dynamolocal.Environment(ids...), "AWS_REGION="+dynamolocal.Region, "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local",
		"AWS_ENDPOINT_URL_DYNAMODB="+s.Endpoint, token.Setting+"="+issuers.Setting(),
		"AWS_LAMBDA_FUNCTION_NAME=bench", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE=256", "AWS_LAMBDA_LOG_FORMAT=JSON")
	return env, stop, nil
}

// start runs a function's process until it has answered one event, and ends it.
func start(ctx context.Context, binary, function string, environment []string) (sample, error) {
	event := []byte(`{}`)
	if function != empty && function != operations.Authorizer {
		root, err := service.Root()
		if err != nil {
			return sample{}, err
		}
		if event, err = os.ReadFile(filepath.Join(root, "events", function+".json")); err != nil {
			return sample{}, err
		}
	}
	api, err := newRuntime(event)
	if err != nil {
		return sample{}, err
	}
	defer api.close()
	cmd := exec.CommandContext(ctx, binary)
	cmd.Env = append(environment, "AWS_LAMBDA_RUNTIME_API="+api.address)
	cmd.Stdout, cmd.Stderr = io.Discard, os.Stderr
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return sample{}, err
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	var s sample
	for _, step := range []struct {
		at   chan time.Time
		took *time.Duration
	}{{api.polled, &s.poll}, {api.answered, &s.answer}} {
		select {
		case at := <-step.at:
			*step.took = at.Sub(began)
		case <-time.After(10 * time.Second):
			return sample{}, fmt.Errorf("no sign of life within 10 s")
		}
	}
	return s, nil
}
