package box

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"wavegate/shared/testing/expect"
)

// TestShellClient_DoesTheWholeLoop plays the same scenario as for the Go client.
func TestShellClient_DoesTheWholeLoop(t *testing.T) {
	expect.Full(t)
	for _, program := range []string{"curl", "jq", "sha256sum"} {
		expect.Program(t, "Debian's curl, jq and coreutils bring it", program)
	}
	playLoop(t, startShell)
}

func TestShellClient_FullDoor_GoesToTheAPI(t *testing.T) {
	expect.Full(t)
	playDoor(t, startShell)
}

// TestProgram_DoesTheWholeLoop, too, with the same hooks.
func TestProgram_DoesTheWholeLoop(t *testing.T) {
	expect.Full(t)
	program := filepath.Join(t.TempDir(), "wavegate-box")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./wavegate-box").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	playLoop(t, func(t *testing.T, o *origin, d device, folder string) func() {
		return startProgram(t, o, d, folder, program)
	})
}

func startShell(t *testing.T, o *origin, d device, folder string) func() {
	return startProgram(t, o, d, folder, "sh", "client.sh")
}

// startProgram makes a minute take a second.
func startProgram(t *testing.T, o *origin, d device, folder string, program ...string) func() {
	t.Helper()
	hooks := t.TempDir()
	for name, text := range map[string]string{
		"authorization": "echo '" + authorization + "'",
		"installed":     "cat '" + d.file("version") + "'",
		"activate": "echo $1 >>'" + d.file("activations") + `'
			case $(cat '` + d.file("does") + `') in fail) exit 1 ;; defer) exit 75 ;; esac
			grep -q "^image of $1$" "$2" && printf %s "$1" >'` + d.file("version") + "'",
	} {
		expect.OK(t, os.WriteFile(filepath.Join(hooks, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700))
	}
	c := exec.Command(program[0], program[1:]...)
	c.Env = append(os.Environ(), "API="+o.URL, "BOX=box-1", "FOLDER="+folder, "HOOKS="+hooks, "MINUTE=1")
	c.Stderr = t.Output()
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	expect.OK(t, c.Start())
	return func() {
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) // with its children
		_ = c.Wait()                                      // it was killed
	}
}
