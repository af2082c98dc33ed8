package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"wavegate/scripts/local/service"
	"wavegate/shared/operations/table"
	"wavegate/shared/testing/expect"
)

// mostZipped is the largest size of a function's zip, in bytes, which is loaded at a cold start.
const mostZipped = 4_000_000

// TestFunctions_AreSmallAsDeployed zips the largest of the four deployed binaries that link the most packages, in a long run of
// all. They share most of their packages, so the zips of the others are smaller.
func TestFunctions_AreSmallAsDeployed(t *testing.T) {
	expect.Full(t)
	root := expect.Value(service.Root())(t)
	list := exec.CommandContext(t.Context(), "go", "list", "-tags=lambda.norpc", "-f", `{{printf "%04d" (len .Deps)}} {{.ImportPath}}`, "./functions/...")
	list.Dir = root
	var names []string
	for _, line := range slices.Sorted(strings.Lines(string(expect.Value(list.Output())(t)))) {
		if name := path.Base(strings.TrimSpace(line)); slices.Contains(table.Functions(), name) {
			names = append(names, name)
		}
	}
	names = names[expect.Long(len(names)-4, 0):]
	build := exec.CommandContext(t.Context(), filepath.Join(root, "scripts", "build"), names...)
	build.Env = append(os.Environ(), "ARCH=arm64", "OUT="+filepath.Join(root, "dist"))
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var largest string
	var size int64
	for _, name := range names {
		file := filepath.Join(root, "dist", name, "bootstrap")
		info := expect.Value(os.Stat(file))(t)
		if info.Size() > size {
			largest, size = file, info.Size()
		}
	}
	b := expect.Value(os.ReadFile(largest))(t)
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
	expect.OK(t, err)
	if out.Len() > mostZipped {
		t.Errorf("%s has %d bytes, zipped %d; it may have %d", largest, size, out.Len(), mostZipped)
	}
}
