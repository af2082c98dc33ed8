package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// Root returns the directory of the repository's go.mod, at or above the working directory.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", fmt.Errorf("service: no go.mod at or above the working directory")
		}
		dir = up
	}
}

// Build builds one program of all functions that a local run starts, with ./scripts/build local, and returns the directory with
// its links: <repository>/.dev/functions. Its output goes to out. If nothing has changed, it takes a second or two.
func Build(ctx context.Context, out io.Writer) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, ".dev", "functions")
	build := exec.CommandContext(ctx, filepath.Join(root, "scripts", "build"), "local")
	build.Stdout, build.Stderr = out, out
	if err := build.Run(); err != nil {
		return "", fmt.Errorf("service: build the functions: %w", err)
	}
	return dir, nil
}

// ReadSources lists the sources, for tests that run functions or scripts. Go does not know that these are part of a test, but
// it remembers which directories the test has read, and runs the test again if a file there has changed.
func ReadSources() error {
	root, err := Root()
	if err != nil {
		return err
	}
	for _, part := range []string{"events", "functions", "infra", "scripts", "shared", "go.sum"} {
		err = errors.Join(err, filepath.WalkDir(filepath.Join(root, part), func(_ string, at fs.DirEntry, err error) error {
			if err == nil && at.Name() == "node_modules" {
				return filepath.SkipDir
			}
			return err
		}))
	}
	return err
}
