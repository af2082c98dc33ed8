package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestArtifacts_ThatWereChanged_AreNotDeployed: every deployment runs exactly the bytes that were built.
func TestArtifacts_ThatWereChanged_AreNotDeployed(t *testing.T) {
	release := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(release, name)), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(release, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("commit", "c0ffee\n")
	write("functions/get-edge/bootstrap", "another program")
	write("SHA256SUMS", fmt.Sprintf("%x  ./functions/get-edge/bootstrap\n", sha256.Sum256([]byte("the program"))))
	out, err := exec.CommandContext(t.Context(), "../scripts/cdk", "deploy", "--artifacts", release, "--context", "stage=dev").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "is not the output of ./scripts/build release") {
		t.Errorf("it says %s, %v", out, err)
	}
}
