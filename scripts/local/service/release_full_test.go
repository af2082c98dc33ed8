package service

import (
	"archive/zip"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"wavegate/shared/testing/expect"
)

// TestRelease_TwoRuns_GiveTheSameBytes from two checkouts, for this machine and with two functions. What is in it works.
func TestRelease_TwoRuns_GiveTheSameBytes(t *testing.T) {
	expect.Full(t)
	const version = "1.0.0-tried.7"
	root := expect.Value(Root())(t)
	platform := runtime.GOOS + "-" + runtime.GOARCH
	var sums [2]string
	dir := ""
	for i := range sums {
		checkout := filepath.Join(t.TempDir(), strings.Repeat("x", i+1))
		runs(t, root, "git", "clone", "--quiet", "--no-hardlinks", root, checkout)
		dir = filepath.Join(checkout, "dist", "release", version)
		runs(t, checkout, "env", "PLATFORMS="+platform, "APPS=", "FUNCTIONS=authorizer tick", "./scripts/release", version)
		sums[i] = runs(t, dir, "cat", "SHA256SUMS")
		runs(t, dir, "sha256sum", "-c", "--quiet", "SHA256SUMS")
		expect.OK(t, os.WriteFile(filepath.Join(checkout, "more"), nil, 0o600))
		unclean := exec.CommandContext(t.Context(), "./scripts/release", "1.0.1")
		unclean.Dir = checkout
		if out, err := unclean.CombinedOutput(); err == nil || !strings.Contains(string(out), "the checkout is not clean") {
			t.Errorf("of a checkout that is not clean: %s, %v", out, err)
		}
	}
	if sums[0] != sums[1] || strings.Count(sums[0], "\n") != 5 {
		t.Errorf("the releases have\n%sand\n%s", sums[0], sums[1])
	}
	command := unpacked(t, filepath.Join(dir, "wavegate-"+version+"-"+platform+".zip"))
	deploy := unpacked(t, filepath.Join(dir, "wavegate-"+version+"-deploy.zip"))
	top := filepath.Join(command, "wavegate-"+version+"-"+platform)
	var said struct{ Version string }
	expect.OK(t, json.Unmarshal([]byte(runs(t, top, "./wavegate", "version", "--json")), &said))
	expect.Equal(t, said.Version, version, "the command says the version")
	for _, file := range []string{"wavegate-box", "client.sh", "completion/bash", "completion/powershell"} {
		runs(t, top, "test", "-s", file)
	}
	top = filepath.Join(deploy, "wavegate-"+version+"-deploy")
	runs(t, filepath.Join(top, "artifacts"), "sha256sum", "-c", "--quiet", "SHA256SUMS")
	bootstrap := filepath.Join(unpacked(t, filepath.Join(top, "artifacts", "functions", "tick.zip")), "bootstrap")
	if text, err := os.ReadFile(bootstrap); err != nil || !strings.Contains(string(text), version) {
		t.Errorf("the function does not know its release: %v", err)
	}
	runs(t, top, "test", "-x", "scripts/cdk")
}

// runs runs a program in a directory and returns what it prints.
func runs(t *testing.T, dir, name string, arguments ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, arguments...)
	cmd.Dir = dir
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.Output()
	expect.Must(t, err == nil, "%s %q: %v\n%s", name, arguments, err, problems.String())
	return string(out)
}

// unpacked unpacks a zip into a new directory.
func unpacked(t *testing.T, file string) string {
	t.Helper()
	r := expect.Value(zip.OpenReader(file))(t)
	defer func() { _ = r.Close() }()
	dir := t.TempDir()
	for _, f := range r.File {
		content := expect.Value(f.Open())(t)
		text := expect.Value(io.ReadAll(content))(t)
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		expect.OK(t, os.MkdirAll(filepath.Dir(name), 0o750))
		expect.OK(t, os.WriteFile(name, text, f.Mode()))
	}
	return dir
}
