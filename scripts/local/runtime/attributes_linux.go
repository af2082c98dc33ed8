package runtime

import "syscall"

// attributes puts a process into its own group. So an interrupt at the terminal reaches only the
// gateway, which then stops its functions in order. If the gateway itself is killed, the kernel
// ends the process.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
