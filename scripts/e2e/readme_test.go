package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"wavegate/scripts/e2e/harness"
	"wavegate/scripts/local/devissuer"
	"wavegate/scripts/local/service"
)

// A step of the session is a command and what it prints.
type step struct{ command, want string }

// steps reads the console blocks of a section of the README, in order.
func steps(t *testing.T, section string) []step {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, session, found := strings.Cut(string(text), "\n## "+section+"\n")
	if !found {
		t.Fatalf("the README has no section %q", section)
	}
	session, _, _ = strings.Cut(session, "\n## ")
	var list []step
	for _, block := range regexp.MustCompile("(?s)```console\n(.*?)```").FindAllStringSubmatch(session, -1) {
		for _, line := range strings.Split(strings.TrimSuffix(block[1], "\n"), "\n") {
			if command, ok := strings.CutPrefix(line, "$ "); ok {
				list = append(list, step{command: command})
			} else {
				list[len(list)-1].want += line + "\n"
			}
		}
	}
	return list
}

// TestREADME_FirstSession_IsAsPrinted types the README's session into a shell, as a newcomer would,
// and compares every answer with the one that is printed there; … stands for anything.
func TestREADME_FirstSession_IsAsPrinted(t *testing.T) { typed(t, "A first session") }

// TestREADME_FairUse_IsAsPrinted does so with the section on limits.
func TestREADME_FairUse_IsAsPrinted(t *testing.T) {
	typed(t, "Fair use", withSettings("LIMIT_USER=5", "LIMIT_COPILOT_USER=5"), patient())
}

func typed(t *testing.T, section string, change ...func(*service.Options)) {
	t.Helper()
	keys := t.TempDir()
	issuers, err := devissuer.Load(keys)
	if err != nil {
		t.Fatal(err)
	}
	w := harness.New(t, append(change, func(o *service.Options) { o.Issuers = issuers })...)
	if err := w.Seed(t.Context()); err != nil {
		t.Fatal(err)
	}
	const mark = "=== next ==="
	var script strings.Builder
	all := steps(t, section)
	for _, s := range all {
		command := strings.ReplaceAll(s.command, "http://127.0.0.1:8080", w.Target.URL)
		script.WriteString(command + "\necho; echo '" + mark + "'\n")
	}
	shell := exec.CommandContext(t.Context(), "sh")
	shell.Dir = filepath.Join("..", "..")
	shell.Env = append(os.Environ(), "WAVEGATE_DEV_DIR="+keys)
	shell.Stdin = strings.NewReader(script.String())
	shell.Stderr = t.Output()
	out, err := shell.Output()
	if err != nil {
		t.Fatalf("the session ended: %v\n%s", err, out)
	}
	answers := strings.Split(string(out), mark+"\n")
	if len(answers) != len(all)+1 || len(all) < 8 {
		t.Fatalf("%d commands gave %d answers", len(all), len(answers)-1)
	}
	for i, s := range all {
		pattern := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(s.want)), "…", ".*")
		if got := strings.TrimSpace(answers[i]); !regexp.MustCompile(`(?s)\A` + pattern + `\z`).MatchString(got) {
			t.Errorf("$ %s\ngot  %s\nwant %s", s.command, got, strings.TrimSpace(s.want))
		}
	}
}
