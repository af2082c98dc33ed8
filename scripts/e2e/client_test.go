package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"wavegate/scripts/e2e/harness"
	"wavegate/shared/access/auth"
)

// TestContract_AGeneratedClient_DoesTheREADMEsSession shows that others can program against the
// contract: a common generator makes a client of it, which compiles and does the README's first session.
func TestContract_AGeneratedClient_DoesTheREADMEsSession(t *testing.T) {
	w := harness.New(t)
	if err := w.Seed(t.Context()); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "client"))); err != nil {
		t.Fatal(err)
	}
	contract, err := filepath.Abs(filepath.Join("..", "..", "shared", "contract", "openapi.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	tools, err := filepath.Abs(filepath.Join("..", "oapi-codegen.mod"))
	if err != nil {
		t.Fatal(err)
	}
	built := command(t, "go", "tool", "-modfile="+tools, "-n", "oapi-codegen")
	in(t, dir, strings.TrimSpace(built), "-config", "generate.yaml", contract)
	in(t, dir, "go", "build", "-o", "client", ".")

	token := func(c *harness.Caller) string { return strings.TrimPrefix(c.Bearer, "Bearer ") }
	session := exec.CommandContext(t.Context(), filepath.Join(dir, "client"), w.Target.URL)
	session.Env = append(os.Environ(),
		"OWNER="+token(w.As(t, "olga", "wavegate", auth.PlatformOwner)),
		"ENGINEER="+token(w.Engineer(t, "acme")),
		"BOX_0027="+token(w.Box(t, "box-0027")),
		"BOX_0001="+token(w.Box(t, "box-0001")),
	)
	if out, err := session.CombinedOutput(); err != nil || string(out) != "done\n" {
		t.Fatalf("the generated client: %v: %s", err, out)
	}
}

// command runs a program and returns what it prints.
func command(t *testing.T, name string, arguments ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, arguments...).Output()
	if err != nil {
		t.Fatalf("%s %q: %v", name, arguments, err)
	}
	return string(out)
}

// in runs a program in a directory, outside of this module.
func in(t *testing.T, dir, name string, arguments ...string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, arguments...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOWORK=off")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v\n%s", name, arguments, err, out)
	}
}
