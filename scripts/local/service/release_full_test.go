package service

import (
	"archive/zip"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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
		runs(t, checkout, "env", "PLATFORMS="+platform, "APPS="+platform, "FUNCTIONS=authorizer tick", "./scripts/release", version)
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
	checkPackage(t, top, platform)
}

var (
	pageLink = regexp.MustCompile(`\]\(([^)#\s]+)[^)]*\)`)
	script   = regexp.MustCompile("(?m)(?:^|[ `])(\\./scripts/[a-z/]+)")
)

// checkPackage checks the package of a deploy, which lies in an empty place: each link and each command of its pages leads to
// something, and its programs run without the source and without Go.
func checkPackage(t *testing.T, top, platform string) {
	t.Helper()
	links, commands := 0, 0
	expect.OK(t, filepath.WalkDir(top, func(page string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(page) != ".md" {
			return err
		}
		text, err := os.ReadFile(page)
		for _, l := range pageLink.FindAllStringSubmatch(string(text), -1) {
			if !strings.Contains(l[1], "://") {
				_, err := os.Stat(filepath.Join(filepath.Dir(page), l[1]))
				expect.That(t, err == nil, "%s has a link to %s, which is not in the package", d.Name(), l[1])
				links++
			}
		}
		if d.Name() != "CHANGES.md" { // which is for those with the source, too
			for _, c := range script.FindAllStringSubmatch(string(text), -1) {
				_, err := os.Stat(filepath.Join(top, c[1]))
				expect.That(t, err == nil, "%s names %s, which is not in the package", d.Name(), c[1])
				commands++
			}
		}
		return err
	}))
	expect.That(t, links > 20 && commands > 20, "the pages have %d links and %d commands", links, commands)
	aws := t.TempDir() // a command that knows of nothing: the programs are found, and say what they lack
	expect.OK(t, os.WriteFile(filepath.Join(aws, "aws"), []byte("#!/bin/sh\necho none\n"), 0o700))
	for _, name := range []string{"restore", "migrate"} {
		expect.OK(t, os.Rename(filepath.Join(top, "artifacts", name+"-"+platform), filepath.Join(top, "artifacts", name+"-real")))
		shown := "#!/bin/sh\necho " + name + " is run\n"
		expect.OK(t, os.WriteFile(filepath.Join(top, "artifacts", name+"-"+platform), []byte(shown), 0o700))
		out := runs(t, top, "env", "-i", "PATH="+aws+":/usr/bin:/bin", "AWS_ACCESS_KEY_ID=x", "AWS_REGION=eu-central-1", "sh", "scripts/"+name, "--stage", "prod")
		expect.Equal(t, out, name+" is run\n", "the script prints")
		help, _ := exec.CommandContext(t.Context(), filepath.Join(top, "artifacts", name+"-real"), "-h").CombinedOutput()
		expect.That(t, strings.Contains(string(help), "-stage") || strings.Contains(string(help), "Usage"), "%s says %s", name, help)
	}
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
