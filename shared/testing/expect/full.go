package expect

import (
	"os"
	"os/exec"
	"strings"
)

// A Skipper is a test that can be skipped.
type Skipper interface {
	T
	Skipf(format string, args ...any)
}

// Full skips a test unless FULL is set, as ./scripts/test full does. It is the first statement of each test that takes long, or that
// needs programs: groups of tests are checked by it.
func Full(t Skipper) {
	t.Helper()
	if os.Getenv("FULL") == "" {
		t.Skipf("FULL is not set; ./scripts/test full sets it")
	}
}

// Program returns the path of the first of the programs that the machine has. If it has none, the test is skipped, but fails in CI,
// which must have all programs.
func Program(t Skipper, brings string, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	Missing(t, "there is no "+strings.Join(names, " or ")+"; "+brings)
	return ""
}

// Missing skips a test that cannot run on this machine. It fails in CI.
func Missing(t Skipper, why string) {
	t.Helper()
	Must(t, os.Getenv("CI") != "true", "%s", why)
	t.Skipf("%s", why)
}
