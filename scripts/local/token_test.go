package main

import (
	"bytes"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wavegate/scripts/local/devissuer"
	"wavegate/shared/access/auth"
	"wavegate/shared/access/token"
	"wavegate/shared/testing/expect"
)

// taken verifies the output of a command: one line with one token that the service accepts.
func taken(t *testing.T, out string) auth.Principal {
	t.Helper()
	raw, ok := strings.CutSuffix(out, "\n")
	expect.Must(t, ok && !strings.ContainsAny(raw, " \n"), "printed %q", out)
	issuers := expect.Value(devissuer.Load(""))(t)
	trusted := expect.Value(token.ParseIssuers(issuers.Setting()))(t)
	p := expect.Value(token.New(trusted, token.Options{}).Verify(t.Context(), raw))(t)
	return p
}

func TestToken_PrintsOnlyAToken(t *testing.T) {
	t.Setenv(devissuer.DirEnv, t.TempDir())
	var out, problems bytes.Buffer
	args := []string{"--user", "ada", "--org", "acme", "--role", "platform_owner", "--role", "production_engineer", "--ttl", "90m"}
	code := printToken(args, &out, &problems)
	expect.Must(t, code == 0 && problems.Len() == 0, "exit code %d, %s", code, problems.String())
	p := taken(t, out.String())
	left := time.Until(p.Expires)
	expect.That(t, left >= 80*time.Minute && left <= 90*time.Minute, "it is valid for %s", left)
	expect.Equal(t, []string{p.UserID, p.OrganizationID}, []string{"ada", "acme"}, "it is of")
	expect.Equal(t, p.Roles, []auth.Role{auth.PlatformOwner, auth.ProductionEngineer}, "its roles are")
}

func TestToken_WrongArguments_AreExplainedWithExitCode2(t *testing.T) {
	t.Setenv(devissuer.DirEnv, t.TempDir())
	for args, want := range map[string]string{
		"":                                   "--user is missing",
		"--user":                             "flag needs an argument: -user",
		"--user ada --role root":             `there is no role "root"`,
		"--user ada --role edge --role edge": "the role edge cannot be combined",
		"--user ada --org a/b":               "the organization is not an id",
		"--user ada --ttl 0s":                "--ttl must be more than 0",
		"--user ada --ttl -5m":               "--ttl must be more than 0",
		"--user ada --ttl soon":              "invalid value",
		"--user ada acme":                    "not an option: acme",
		"--name ada":                         "flag provided but not defined: -name",
	} {
		var out, problems bytes.Buffer
		code := printToken(strings.Fields(args), &out, &problems)
		expect.That(t, code == 2 && out.Len() == 0, "%q: exit code %d, printed %q", args, code, out.String())
		expect.That(t, strings.Contains(problems.String(), want) && strings.Count(problems.String(), "usage:") == 1,
			"%q: explained as %q, want %q", args, problems.String(), want)
	}
}

func TestToken_Help_IsExitCode0(t *testing.T) {
	var out, problems bytes.Buffer
	if code := printToken([]string{"--help"}, &out, &problems); code != 0 || out.Len() != 0 || !strings.Contains(problems.String(), "usage:") {
		t.Errorf("exit code %d, printed %q, explained %q", code, out.String(), problems.String())
	}
}

func TestToken_KeysCannotBeLoaded_IsExitCode1(t *testing.T) {
	t.Setenv(devissuer.DirEnv, "/dev/null/keys")
	var out, problems bytes.Buffer
	if code := printToken([]string{"--user", "ada"}, &out, &problems); code != 1 || out.Len() != 0 ||
		!strings.Contains(problems.String(), "/dev/null/keys") {
		t.Errorf("exit code %d, printed %q, explained %q", code, out.String(), problems.String())
	}
}

func TestScript_WorksFromAnyDirectory(t *testing.T) {
	script, err := filepath.Abs("../token")
	expect.OK(t, err)
	t.Setenv(devissuer.DirEnv, t.TempDir())
	t.Chdir(t.TempDir())
	out := expect.Value(exec.CommandContext(t.Context(), script, "--user", "ada", "--org", "acme").Output())(t)
	expect.Equal(t, taken(t, string(out)).UserID, "ada", "accepted as")
	err = exec.CommandContext(t.Context(), script).Run()
	exit, ok := errors.AsType[*exec.ExitError](err)
	expect.That(t, ok && exit.ExitCode() == 2, "without arguments: %v", err)
}
