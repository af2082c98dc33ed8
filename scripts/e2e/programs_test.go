package e2e

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"wavegate/shared/testing/expect"
)

// crate builds the program that uses the Rust crate hawkbit, once for a user's machine.
func crate(t *testing.T) []string {
	t.Helper()
	expect.Program(t, "rustup or Debian's cargo-web and rustc-web bring it", "cargo")
	target := filepath.Join(cache(t), "hawkbit")
	in(t, "testdata/crate", "cargo", "build", "--quiet", "--locked", "--target-dir", target)
	return []string{filepath.Join(target, "debug", "box")}
}

// npmPackage is the program that uses npm's @awesomeorganization/hawkbit-ddi.
func npmPackage(t *testing.T) []string {
	t.Helper()
	expect.Program(t, "Debian's nodejs brings it", "node")
	expect.Program(t, "Debian's npm brings it", "npm")
	installed := prepared(t, "hawkbit-npm", "testdata/npm/package-lock.json", func(dir string) {
		for _, name := range []string{"package.json", "package-lock.json"} {
			place(t, filepath.Join("testdata/npm", name), dir)
		}
		in(t, dir, "npm", "ci", "--silent", "--no-audit", "--no-fund")
	})
	dir := t.TempDir() // with the program, which finds packages next to it
	place(t, "testdata/npm/box.js", dir)
	place(t, "testdata/npm/package.json", dir)
	expect.OK(t, os.Symlink(filepath.Join(installed, "node_modules"), filepath.Join(dir, "node_modules")))
	return []string{"node", filepath.Join(dir, "box.js")}
}

// pypiPackage is the program that uses PyPI's rauc-hawkbit.
func pypiPackage(t *testing.T) []string {
	t.Helper()
	const python, brings = "/usr/bin/python3", "Debian's dbus, python3-gi, python3-aiohttp and python3-venv bring it"
	expect.Program(t, brings, "dbus-daemon")
	expect.Program(t, brings, python)
	// Debian has the packages for its own Python, no matter which one is on the PATH.
	if err := exec.CommandContext(t.Context(), python, "-c", "import gi, aiohttp, ensurepip").Run(); err != nil {
		expect.Missing(t, fmt.Sprintf("%s has no gi, aiohttp or ensurepip: %v; %s", python, err, brings))
	}
	installed := prepared(t, "hawkbit-pypi", "testdata/pypi/requirements.txt", func(dir string) {
		in(t, ".", python, "-m", "venv", "--system-site-packages", dir)
		in(t, ".", filepath.Join(dir, "bin", "pip"), "install", "--quiet", "--disable-pip-version-check", "--no-deps",
			"--require-hashes", "--requirement", "testdata/pypi/requirements.txt")
	})
	return []string{filepath.Join(installed, "bin", "python"), "testdata/pypi/box.py"}
}

// cache is the project's folder in the user's cache.
func cache(t *testing.T) string {
	t.Helper()
	dir := expect.Value(os.UserCacheDir())(t)
	return filepath.Join(dir, "wavegate")
}

// prepared is a folder in the user's cache that was filled for the present content of a file with pinned versions.
func prepared(t *testing.T, name, pins string, fill func(dir string)) string {
	t.Helper()
	content := expect.Value(os.ReadFile(pins))(t)
	dir := filepath.Join(cache(t), fmt.Sprintf("%s-%.6x", name, sha256.Sum256(content)))
	complete := filepath.Join(dir, "complete")
	if _, err := os.Stat(complete); err == nil {
		return dir
	}
	expect.OK(t, os.RemoveAll(dir))
	expect.OK(t, os.MkdirAll(dir, 0o700))
	fill(dir)
	expect.OK(t, os.WriteFile(complete, nil, 0o600))
	return dir
}

// place copies a file into a folder.
func place(t *testing.T, file, dir string) {
	t.Helper()
	content := expect.Value(os.ReadFile(file))(t)
	expect.OK(t, os.WriteFile(filepath.Join(dir, filepath.Base(file)), content, 0o600))
}

// in runs a program in a directory.
func in(t *testing.T, dir, name string, arguments ...string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, arguments...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	expect.Must(t, err == nil, "%s %q: %v\n%s", name, arguments, err, out)
}
