package main

import (
	"archive/zip"
	"compress/flate"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"

	"golang.org/x/sync/errgroup"

	"wavegate/scripts/local/service"
)

// A size is that of a binary and of the zip that Lambda gets, in bytes.
type size struct{ binary, zipped int64 }

// deployed builds the functions as they are deployed, for linux/arm64, and returns where they are.
func deployed(ctx context.Context) (string, error) {
	root, err := service.Root()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, "dist")
	build := exec.CommandContext(ctx, filepath.Join(root, "scripts", "build"))
	build.Env, build.Stdout, build.Stderr = append(os.Environ(), "ARCH=arm64", "OUT="+dir), os.Stderr, os.Stderr
	return dir, build.Run()
}

// sizes zips binaries.
func sizes(binaries []string) ([]size, error) {
	all := make([]size, len(binaries))
	var group errgroup.Group
	group.SetLimit(goruntime.NumCPU())
	for i, b := range binaries {
		group.Go(func() (err error) {
			all[i], err = sizeOf(b)
			return err
		})
	}
	return all, group.Wait()
}

// A counter counts what is written to it.
type counter int64

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

func sizeOf(binary string) (size, error) {
	b, err := os.ReadFile(binary)
	if err != nil {
		return size{}, err
	}
	var out counter
	z := zip.NewWriter(&out)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	f, err := z.Create("bootstrap")
	if err == nil {
		_, err = f.Write(b)
	}
	if err == nil {
		err = z.Close()
	}
	return size{int64(len(b)), int64(out)}, err
}
