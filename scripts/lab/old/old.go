// Package old builds earlier commits of the project, whose functions and stacks are run beside those of the working
// tree, before them and after them.
package old

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"wavegate/scripts/local/service"
)

// Commit is the release that upgrades are tested from, and rollbacks to.
const Commit = "cdc0673812d43ed21890bd57528776ed0c850471"

// Functions builds the functions of a commit for this machine, and returns their directory. They are built once, and
// kept in .dev/old/<commit>. The build's output goes to out.
func Functions(ctx context.Context, commit string, out io.Writer) (dir string, err error) {
	root, err := service.Root()
	if err != nil {
		return "", err
	}
	full, err := resolve(ctx, root, commit)
	if err != nil {
		return "", err
	}
	dir = filepath.Join(root, ".dev", "old", full)
	if _, err := os.Stat(dir); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return dir, err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o750); err != nil {
		return "", err
	}
	scratch, err := os.MkdirTemp(filepath.Dir(dir), "building-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	source, built := filepath.Join(scratch, "source"), filepath.Join(scratch, "functions")
	if err := Source(ctx, root, full, source); err != nil {
		return "", err
	}
	build := exec.CommandContext(ctx, filepath.Join(source, "scripts", "build"))
	build.Env = append(os.Environ(), "OUT="+built, "OS="+runtime.GOOS, "ARCH="+runtime.GOARCH, "TOOLCHAIN=local")
	build.Stdout, build.Stderr = out, out
	if err := build.Run(); err != nil {
		return "", fmt.Errorf("old: build the functions of %s: %w", commit, err)
	}
	// Another process may have built them at the same time.
	if err := os.Rename(built, dir); err != nil {
		if _, there := os.Stat(dir); there != nil {
			return "", err
		}
	}
	return dir, nil
}

// Source writes the files of a commit to a new directory.
func Source(ctx context.Context, root, commit, to string) error {
	full, err := resolve(ctx, root, commit)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o750); err != nil {
		return err
	}
	archive := exec.CommandContext(ctx, "sh", "-euc", `git archive --format=tar --output="$2.tar" "$1" && tar -xf "$2.tar" -C "$2" && rm "$2.tar"`, "sh", full, to)
	archive.Dir = root
	if text, err := archive.CombinedOutput(); err != nil {
		return fmt.Errorf("old: the files of %s: %w: %s", commit, err, text)
	}
	return nil
}

// resolve returns the full hash of a commit.
func resolve(ctx context.Context, root, commit string) (string, error) {
	find := exec.CommandContext(ctx, "git", "rev-parse", "--verify", "--quiet", "--end-of-options", commit+"^{commit}")
	find.Dir = root
	text, err := find.Output()
	if err != nil {
		return "", fmt.Errorf("old: the commit %s is not in this clone. If the clone is shallow, run: git fetch --unshallow", commit)
	}
	return strings.TrimSpace(string(text)), nil
}
