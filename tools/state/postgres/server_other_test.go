//go:build unix && !linux

package postgres_test

import "syscall"

func endsWithUs(as *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: as}
}
