package child

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// confine gives up, for the calling thread and what it will start, all that
// the sandbox withholds. There is no way back. The thread must be locked.
func confine(s *spec) error {
	if err := dropPrivileges(); err != nil {
		return fmt.Errorf("giving up privileges: %w", err)
	}
	if err := restrict(s); err != nil {
		return fmt.Errorf("confining writes: %w", err)
	}
	if s.network {
		return nil
	}
	if err := closeNetwork(); err != nil {
		return fmt.Errorf("closing the network: %w", err)
	}
	return nil
}

// kept are the capabilities that root keeps in a sandbox: those over its own
// files and processes. The others reach the system behind Landlock's back:
// mounting, tracing, raw devices, modules, file handles (capabilities(7)).
func kept(capability uintptr) bool {
	switch capability {
	case unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_FSETID, unix.CAP_KILL,
		unix.CAP_SETGID, unix.CAP_SETUID, unix.CAP_SETPCAP, unix.CAP_SETFCAP, unix.CAP_SYS_CHROOT:
		return true
	}
	return false
}

// dropPrivileges sets no-new-privileges and takes capabilities out of the
// bounding set, which is what a program executed by root gets at most.
func dropPrivileges() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	for capability := uintptr(0); capability <= unix.CAP_LAST_CAP; capability++ {
		if kept(capability) {
			continue
		}
		err := unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0)
		if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EINVAL) {
			// Without CAP_SETPCAP a user has no such capability to lose, or the
			// probe will find out; EINVAL is a kernel that does not know it.
			continue
		}
		if err != nil {
			return err
		}
	}
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var current [2]unix.CapUserData
	if err := unix.Capget(&header, &current[0]); err != nil {
		return err
	}
	// Inheritable ones would survive the bounding set.
	current[0].Inheritable, current[1].Inheritable = 0, 0
	return unix.Capset(&header, &current[0])
}

// Landlock's rights (landlock(7)). Reading and executing are not handled, thus
// free.
const (
	writeFileRights = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	// Device nodes may not be made anywhere: root could reach a disk by one.
	deviceNodeRights = unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR
	writeTreeRights  = writeFileRights | unix.LANDLOCK_ACCESS_FS_REFER |
		unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SYM |
		unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO
)

// rulesets returns what to ask the kernel for, the strictest first. Older
// kernels refuse what they do not know; the probe tells what then holds.
// None may be without truncation: content could be destroyed anywhere.
func rulesets(network bool) []unix.LandlockRulesetAttr {
	full := unix.LandlockRulesetAttr{
		Handled_access_fs:  writeTreeRights | deviceNodeRights,
		Handled_access_net: unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP,
		Scoped:             unix.LANDLOCK_SCOPE_SIGNAL | unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET,
	}
	if network {
		full.Handled_access_net = 0
		full.Scoped = unix.LANDLOCK_SCOPE_SIGNAL
	}
	unscoped := full
	unscoped.Scoped = 0
	noDevices := unscoped
	noDevices.Handled_access_fs &^= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	filesOnly := noDevices
	filesOnly.Handled_access_net = 0
	return []unix.LandlockRulesetAttr{full, unscoped, noDevices, filesOnly}
}

// devices can be written in every sandbox; those that are missing are skipped.
func devices() []string {
	return []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts"}
}

func restrict(s *spec) error {
	ruleset, attr, err := createRuleset(s.network)
	if err != nil {
		return err
	}
	defer unix.Close(ruleset)
	for _, root := range s.writeRoots {
		if err := allowWrites(ruleset, root, attr.Handled_access_fs&writeTreeRights); err != nil {
			return fmt.Errorf("write root %q: %w", root, err)
		}
	}
	for _, device := range devices() {
		err := allowWrites(ruleset, device, attr.Handled_access_fs&writeFileRights)
		if err != nil && !errors.Is(err, unix.ENOENT) {
			return fmt.Errorf("%s: %w", device, err)
		}
	}
	_, _, errno := unix.RawSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(ruleset), 0, 0)
	return errnoOrNil(errno)
}

// rulesetSizes are struct landlock_ruleset_attr's sizes as it grew.
const (
	sizeFS     = 8
	sizeNet    = 16
	sizeScoped = 24
)

func createRuleset(network bool) (fd int, attr unix.LandlockRulesetAttr, err error) {
	for _, attr = range rulesets(network) {
		size := sizeFS
		switch {
		case attr.Scoped != 0:
			size = sizeScoped
		case attr.Handled_access_net != 0:
			size = sizeNet
		}
		result, _, errno := unix.RawSyscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), uintptr(size), 0)
		if errno == 0 {
			return int(result), attr, nil
		}
		err = errno
	}
	return -1, attr, err
}

func allowWrites(ruleset int, path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return err
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= writeFileRights // the kernel refuses a tree's rights on a file
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	_, _, errno := unix.RawSyscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset),
		unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	runtime.KeepAlive(&rule)
	return errnoOrNil(errno)
}

func errnoOrNil(errno unix.Errno) error {
	if errno == 0 {
		return nil
	}
	return errno
}
