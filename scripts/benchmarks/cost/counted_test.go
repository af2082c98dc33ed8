package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"context"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"wavegate/scripts/benchmarks/calls"
	"wavegate/scripts/benchmarks/meter"
	"wavegate/scripts/local/service"
	"wavegate/shared/operations"
	"wavegate/shared/platform/dynamo/dynamolocal"
)

var (
	update = flag.Bool("update", false, "write what is counted to counted.tsv")
	only   = flag.String("only", "", "count the calls of this operation alone")
)

// TestCalls_TakeNoMoreThanTheTableSays counts what each call asks of DynamoDB. More than before is a
// regression, or a decision that shows in the table. Less is written down, too, so that it stays:
//
//	go test ./scripts/benchmarks/cost -run Calls -update [-only <operation>]
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

// mostZipped is the most bytes that a function's zip may have: what is loaded at a cold start.
const mostZipped = 4_000_000

// TestFunctions_AreSmallAsDeployed zips the largest binary of those that are deployed. All are made
// of the same packages but for their own, so the others' zips are smaller.
func TestFunctions_AreSmallAsDeployed(t *testing.T) {
	root, err := service.Root()
	if err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), filepath.Join(root, "scripts", "build"))
	build.Env = append(os.Environ(), "ARCH=arm64", "OUT="+filepath.Join(root, "dist"))
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var largest string
	var size int64
	for _, f := range operations.Functions() {
		path := filepath.Join(root, "dist", f, "bootstrap")
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > size {
			largest, size = path, info.Size()
		}
	}
	b, err := os.ReadFile(largest)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.DefaultCompression) })
	f, err := z.Create("bootstrap")
	if err == nil {
		_, err = f.Write(b)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	if out.Len() > mostZipped {
		t.Errorf("%s has %d bytes, zipped %d; it may have %d", largest, size, out.Len(), mostZipped)
	}
}
