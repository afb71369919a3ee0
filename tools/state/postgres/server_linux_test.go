package postgres_test

import "syscall"

// endsWithUs ends the server if the tests do not.
func endsWithUs(as *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: as, Pdeathsig: syscall.SIGQUIT}
}
