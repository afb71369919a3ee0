package child

import "golang.org/x/sys/unix"

const (
	auditArch = unix.AUDIT_ARCH_X86_64
	// foreignNumbers is where the numbers of the x32 convention begin.
	foreignNumbers = 0x40000000
)
