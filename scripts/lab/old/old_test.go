package old

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"wavegate/shared/testing/expect"
)

func TestFunctions_CommitIsMissing_SaysWhatToDo(t *testing.T) {
	_, err := Functions(t.Context(), "0123456789abcdef0123456789abcdef01234567", t.Output())
	if err == nil || !strings.Contains(err.Error(), "0123456789abcdef") || !strings.Contains(err.Error(), "git fetch --unshallow") {
		t.Errorf("%v", err)
	}
}

func TestSource_OfACommit_HasItsFilesAndNoLaterOnes(t *testing.T) {
	root := t.TempDir()
	write := func(text string) {
		expect.OK(t, os.WriteFile(filepath.Join(root, "file"), []byte(text), 0o600))
	}
	git := func(arguments string) {
		c := exec.Command("git", strings.Fields(arguments)...)
		c.Dir = root
		out, err := c.CombinedOutput()
		expect.Must(t, err == nil, "git %s: %v: %s", arguments, err, out)
	}
	write("old")
	git("init -q")
	git("add -A")
	git("-c user.name=a -c user.email=a@example.com commit -qm first")
	write("new")
	to := filepath.Join(t.TempDir(), "source")
	expect.OK(t, Source(t.Context(), root, "HEAD", to))
	if text, err := os.ReadFile(filepath.Join(to, "file")); err != nil || string(text) != "old" {
		t.Errorf("%q %v", text, err)
	}
	_, err := os.Stat(to + ".tar")
	expect.That(t, err != nil, "the archive is left")
}
