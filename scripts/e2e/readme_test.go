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
	"wavegate/shared/testing/expect"
)

// A step of the session is a command and its output.
type step struct{ command, want string }

// steps reads the console blocks of a section of a page of the project, in order.
func steps(t *testing.T, page, section string) []step {
	t.Helper()
	text := expect.Value(os.ReadFile(filepath.Join("..", "..", page)))(t)
	_, session, found := strings.Cut(string(text), "\n## "+section+"\n")
	expect.Must(t, found, "%s has no section %q", page, section)
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

// TestSession_OfEachPage_IsAsPrinted types the sessions of the pages into a shell, like a newcomer, and compares every
// answer with the printed one; … matches anything.
func TestSession_OfEachPage_IsAsPrinted(t *testing.T) {
	for page, c := range map[string]struct {
		section string
		change  []func(*service.Options)
	}{
		"README.md":                        {"A first session", nil},
		"shared/access/README.md":          {"Fair use", []func(*service.Options){withSettings("LIMIT_USER=5", "LIMIT_COPILOT_USER=5")}},
		"scripts/box/README.md":            {"A box on this machine", nil},
		"scripts/operator/README.md":       {"A session", nil},
		"shared/fleet/ddi/README.md":       {"Bring your boxes", nil},
		"shared/fleet/enrolment/README.md": {"A session", nil},
		"shared/production/README.md":      {"A method from draft to recall", nil},
	} {
		t.Run(page, func(t *testing.T) { typeSession(t, newReader(t, c.change...), page, c.section) })
	}
}

// A reader of the README has a seeded service, and ./scripts/token finds its keys.
type reader struct {
	*harness.World
	keys string
}

func newReader(t *testing.T, change ...func(*service.Options)) reader {
	t.Helper()
	keys := t.TempDir()
	issuers := expect.Value(devissuer.Load(keys))(t)
	w := harness.New(t, append(change, func(o *service.Options) { o.Issuers = issuers })...)
	expect.OK(t, w.Seed(t.Context()))
	return reader{w, keys}
}

// typeSession types a section's commands and compares their output.
func typeSession(t *testing.T, by reader, page, section string) {
	t.Helper()
	const mark = "=== next ==="
	var script strings.Builder
	all := steps(t, page, section)
	for _, s := range all {
		command := strings.ReplaceAll(s.command, "http://127.0.0.1:8080", by.Target.URL)
		script.WriteString(command + "\necho; echo '" + mark + "'\n")
	}
	shell := exec.CommandContext(t.Context(), "sh")
	shell.Dir = filepath.Join("..", "..")
	shell.Env = append(os.Environ(), "WAVEGATE_DEV_DIR="+by.keys, "WAVEGATE_CONFIG_DIR="+by.keys)
	shell.Stdin = strings.NewReader(script.String())
	shell.Stderr = t.Output()
	out, err := shell.Output()
	expect.Must(t, err == nil, "the session ended: %v\n%s", err, out)
	answers := strings.Split(string(out), mark+"\n")
	expect.Must(t, len(answers) == len(all)+1 && len(all) >= 8, "%d commands gave %d answers", len(all), len(answers)-1)
	for i, s := range all {
		pattern := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(s.want)), "…", ".*")
		if got := strings.TrimSpace(answers[i]); !regexp.MustCompile(`(?s)\A` + pattern + `\z`).MatchString(got) {
			t.Errorf("$ %s\ngot  %s\nwant %s", s.command, got, strings.TrimSpace(s.want))
		}
	}
}
