package main

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"wavegate/shared/access/token"
)

// TestMain lets a test run this test binary as the function.
func TestMain(m *testing.M) {
	if os.Getenv("RUN_AS_AUTHORIZER") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// A bad setting must fail the start of the function, so that the first call of a deployment
// finds it.
func TestMain_BadSetting_DoesNotStart(t *testing.T) {
	for setting, want := range map[string]string{
		"":     "AUTH_ISSUERS: must be a JSON list",
		"[{}]": "AUTH_ISSUERS[0].grants: must be a list of at least one role",
	} {
		command := exec.CommandContext(t.Context(), os.Args[0])
		command.Env = append(os.Environ(), "RUN_AS_AUTHORIZER=1", token.Setting+"="+setting)
		out, err := command.CombinedOutput()
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok || exit.ExitCode() != 1 || !strings.Contains(string(out), want) {
			t.Errorf("setting %q: error %v, output %s", setting, err, out)
		}
	}
}
