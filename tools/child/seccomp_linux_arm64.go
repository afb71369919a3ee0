package child

import "golang.org/x/sys/unix"

const (
	auditArch = unix.AUDIT_ARCH_AARCH64
	// foreignNumbers: there are none on this architecture.
	foreignNumbers = 0x80000000
)
