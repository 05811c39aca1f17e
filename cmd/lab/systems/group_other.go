//go:build !linux

package systems

import "syscall"

// ownGroup puts a child into a process group of its own, so that Ctrl-C on the
// terminal reaches the lab alone, which then ends its processes in order.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
