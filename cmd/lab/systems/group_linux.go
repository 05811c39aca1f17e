package systems

import "syscall"

// ownGroup puts a child into a process group of its own, so that Ctrl-C on the
// terminal reaches the lab alone, which then ends its processes in order. Should
// the lab itself be killed, the kernel kills the child.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
