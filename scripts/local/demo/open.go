package demo

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// open opens an address in the browser of the desktop, if there is one. It ignores errors, because the address is
// also printed.
func open(address string) {
	program := "xdg-open"
	switch {
	case runtime.GOOS == "darwin":
		program = "open"
	case os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "":
		return
	}
	browser := exec.Command(program, address)
	browser.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // the end of the demo does not end the browser
	if browser.Start() == nil {
		go func() { _ = browser.Wait() }()
	}
}
