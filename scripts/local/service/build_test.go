package service

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"wavegate/shared/testing/expect"
)

// build runs a repository's scripts/build for two functions and returns the hash of each.
func build(t *testing.T, root string, env ...string) map[string][32]byte {
	t.Helper()
	out := t.TempDir()
	cmd := exec.Command(filepath.Join(root, "scripts", "build"), "authorizer", "get-factory")
	cmd.Env = append(append(os.Environ(), "OUT="+out, "TOOLCHAIN=local"), env...)
	text, err := cmd.CombinedOutput()
	expect.Must(t, err == nil && len(text) == 0, "%v: the build says %q", err, text)
	hashes := map[string][32]byte{}
	for _, name := range []string{"authorizer", "get-factory"} {
		b := expect.Value(os.ReadFile(filepath.Join(out, name, "bootstrap")))(t)
		hashes[name] = sha256.Sum256(b)
	}
	return hashes
}

// copyOf copies the sources to another directory and commits them to a new repository, so that a dependence on the
// commit would show.
func copyOf(t *testing.T, root string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "another", "place")
	for _, part := range []string{"go.mod", "go.sum", "functions", "shared", "events", "scripts/box", "scripts/build", "scripts/operator"} {
		expect.OK(t, filepath.WalkDir(filepath.Join(root, part), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			relative, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			if err := os.MkdirAll(filepath.Dir(filepath.Join(to, relative)), 0o755); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(to, relative), b, info.Mode())
		}))
	}
	for _, arguments := range []string{"init -q", "add -A", "-c user.name=a -c user.email=a@example.com commit -qm another"} {
		git := exec.Command("git", strings.Fields(arguments)...)
		git.Dir = to
		out, err := git.CombinedOutput()
		expect.Must(t, err == nil, "git %s: %v\n%s", arguments, err, out)
	}
	return to
}

func TestBuild_SameBytes_WhateverTheDirectoryCommitAndSettings(t *testing.T) {
	root := expect.Value(Root())(t)
	settings := filepath.Join(t.TempDir(), "env")
	expect.OK(t, os.WriteFile(settings, []byte("GOFLAGS=-buildvcs=true -ldflags=-X=main.a=b\nGOAMD64=v3\nGOEXPERIMENT=nogreenteagc\n"), 0o600))
	want := build(t, root, "ARCH=amd64")
	got := build(t, copyOf(t, root), "ARCH=amd64", "GOENV="+settings, "GOFLAGS=-buildvcs=true -tags=other", "GOOS=darwin", "GOARCH=arm64",
		"GOAMD64=v2", "CGO_ENABLED=1", "GOEXPERIMENT=nogreenteagc", "GODEBUG=netdns=go")
	expect.Equal(t, got, want, "the functions' hashes")
}

func TestBuild_UnknownFunction_IsNamed(t *testing.T) {
	root := expect.Value(Root())(t)
	text, err := exec.Command(filepath.Join(root, "scripts", "build"), "no-such").CombinedOutput()
	expect.That(t, err != nil && strings.Contains(string(text), "no-such"), "%v: %q", err, text)
}

// TestModules_OfTheFirstStart_AreSmall: ./scripts/dev downloads them into an empty cache before anything runs.
func TestModules_OfTheFirstStart_AreSmall(t *testing.T) {
	const most = 15 << 20
	list := golang(t, "list", "-deps", "-f={{with .Module}}{{if not .Main}}{{.Path}}@{{.Version}}{{end}}{{end}}", "./functions/...", "./scripts/local")
	modules := strings.Fields(string(list))
	slices.Sort(modules)
	all := json.NewDecoder(bytes.NewReader(golang(t, append([]string{"mod", "download", "-json"}, slices.Compact(modules)...)...)))
	total := int64(0)
	for all.More() {
		var module struct{ Zip string }
		expect.OK(t, all.Decode(&module))
		info := expect.Value(os.Stat(module.Zip))(t)
		total += info.Size()
	}
	expect.That(t, total <= most && total != 0, "they take %d bytes, and may take %d: %v", total, most, modules)
}

// golang runs the go command in the project's folder and returns what it prints.
func golang(t *testing.T, arguments ...string) []byte {
	t.Helper()
	root := expect.Value(Root())(t)
	cmd := exec.CommandContext(t.Context(), "go", arguments...)
	cmd.Dir = root
	out, err := cmd.Output()
	expect.Must(t, err == nil, "go %q: %v", arguments, err)
	return out
}
