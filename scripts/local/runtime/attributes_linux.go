package runtime

import "syscall"

// attributes puts a process into a group of its own, so that an interrupt at the terminal reaches
// the gateway only, which then ends its functions in order. Should the gateway itself be killed, the
// kernel ends the process.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
