package service

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"wavegate/shared/testing/expect"
)

// TestBuild_Command_SameBytes_WhateverTheDirectoryAndCommit builds the operator's command for
// another system, from two directories.
func TestBuild_Command_SameBytes_WhateverTheDirectoryAndCommit(t *testing.T) {
	expect.Full(t)
	root, err := Root()
	expect.OK(t, err)
	// The build prints nothing, except what it downloads. On a bare machine that is what only Windows needs.
	download := exec.Command("go", "list", "-deps", "./scripts/operator/...")
	download.Dir, download.Env = root, append(os.Environ(), "GOOS=windows", "GOARCH=arm64")
	if text, err := download.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	var all [2][]byte
	for i, from := range []string{root, copyOf(t, root)} {
		out := t.TempDir()
		cmd := exec.Command(filepath.Join(from, "scripts", "build"), "cli")
		cmd.Env = append(os.Environ(), "OUT="+out, "TOOLCHAIN=local", "PLATFORMS=windows-arm64")
		if text, err := cmd.CombinedOutput(); err != nil || len(text) > 0 {
			t.Fatalf("%v: the build says %q", err, text)
		}
		if all[i], err = os.ReadFile(filepath.Join(out, "cli", "windows-arm64", "wavegate.exe")); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.HasPrefix(all[0], []byte("MZ")) || !bytes.Equal(all[0], all[1]) {
		t.Errorf("%d and %d bytes, not the same program for Windows", len(all[0]), len(all[1]))
	}
}
