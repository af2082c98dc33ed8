// Command startup measures how long a function takes from the start of its process to its first poll
// of the Lambda runtime and to its first answer, against an empty function built with the same flags,
// and how large it is. The functions take turns, so that a machine whose speed drifts is the same to
// all.
package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"wavegate/scripts/local/devissuer"
	"wavegate/scripts/local/service"
	"wavegate/scripts/local/store"
	"wavegate/shared/dynamo"
	"wavegate/shared/operations"
	"wavegate/shared/token"
)

// runs of each function; RUNS replaces it.
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
			return fmt.Errorf("RUNS=%s is no count", s)
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
	return table(order, samples, binaries, n)
}

func table(order []string, samples map[string][]sample, binaries map[string]string, n int) error {
	fmt.Printf("Median of %d starts of each, taken in turns; ratios are to the empty function.\n\n", n)
	fmt.Println("| function | first poll, ms | ratio | first answer, ms | binary, MB | zip, MB |")
	fmt.Println("|---|---|---|---|---|---|")
	poll := func(s sample) time.Duration { return s.poll }
	base := median(samples[empty], poll)
	for _, f := range order {
		size, zipped, err := sizes(binaries[f])
		if err != nil {
			return err
		}
		first := median(samples[f], poll)
		fmt.Printf("| %s | %.2f | %.2f | %.2f | %.1f | %.1f |\n", f, ms(first), float64(first)/float64(base),
			ms(median(samples[f], func(s sample) time.Duration { return s.answer })), mb(size), mb(zipped))
	}
	return nil
}

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
	s, err := store.Embedded()
	if err != nil {
		return nil, nil, err
	}
	stop = func() { s.Close() }
	if err := store.CreateTables(ctx, s.Client()); err != nil {
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
	env = append(store.Environment(ids...), "AWS_REGION="+store.Region, "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local",
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

// A runtime is the part of the Lambda runtime's API that one call needs.
type runtime struct {
	address          string
	polled, answered chan time.Time
	close            func()
}

func newRuntime(event []byte) (*runtime, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &runtime{address: l.Addr().String(), polled: make(chan time.Time, 1), answered: make(chan time.Time, 1)}
	mux := http.NewServeMux()
	done := make(chan struct{})
	var first atomic.Bool
	first.Store(true)
	mux.HandleFunc("GET /2018-06-01/runtime/invocation/next", func(w http.ResponseWriter, q *http.Request) {
		if !first.CompareAndSwap(true, false) {
			// The second poll, after the answer, waits for the end.
			select {
			case <-done:
			case <-q.Context().Done():
			}
			return
		}
		r.polled <- time.Now()
		w.Header().Set("Lambda-Runtime-Aws-Request-Id", "bench")
		w.Header().Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(time.Now().Add(time.Minute).UnixMilli(), 10))
		_, _ = w.Write(event)
	})
	answer := func(w http.ResponseWriter, q *http.Request) {
		r.answered <- time.Now()
		_, _ = io.Copy(io.Discard, q.Body)
		w.WriteHeader(http.StatusAccepted)
	}
	mux.HandleFunc("POST /2018-06-01/runtime/invocation/bench/response", answer)
	mux.HandleFunc("POST /2018-06-01/runtime/invocation/bench/error", answer)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Second}
	go func() { _ = server.Serve(l) }()
	r.close = func() { close(done); server.Close() }
	return r, nil
}

// sizes are those of a binary and of the zip that is deployed.
func sizes(binary string) (size, zipped int64, err error) {
	b, err := os.ReadFile(binary)
	if err != nil {
		return 0, 0, err
	}
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	f, err := z.Create("bootstrap")
	if err == nil {
		_, err = f.Write(b)
	}
	if err == nil {
		err = z.Close()
	}
	return int64(len(b)), int64(out.Len()), err
}
