//go:build full

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
	for _, program := range []string{"curl", "jq", "sha256sum"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatal(err)
		}
	}
	playLoop(t, startShell)
}

func TestShellClient_FullDoor_GoesToTheAPI(t *testing.T) { playDoor(t, startShell) }

// startShell makes a minute take a second.
func startShell(t *testing.T, o *origin, d device, folder string) func() {
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
	c := exec.Command("sh", "client.sh")
	c.Env = append(os.Environ(), "API="+o.URL, "BOX=box-1", "FOLDER="+folder, "HOOKS="+hooks, "MINUTE=1")
	c.Stderr = t.Output()
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	expect.OK(t, c.Start())
	return func() {
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) // with its children
		_ = c.Wait()                                      // it was killed
	}
}
