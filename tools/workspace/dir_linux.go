package workspace

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// dir is an open directory. All its methods take one name, never a path, and
// never follow a link of that name: what a dir does stays in that directory,
// wherever somebody moves it or whatever replaces the path to it.
type dir struct {
	fd   int
	seam *seam
}

// renameMode says what a rename does with what is at the new name.
type renameMode uint

const (
	renameReplace   renameMode = 0
	renameNoReplace renameMode = unix.RENAME_NOREPLACE
	renameExchange  renameMode = unix.RENAME_EXCHANGE
)

const openSafe = unix.O_NONBLOCK | unix.O_CLOEXEC | unix.O_NOCTTY

func retry(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}

func openFD(dirfd int, name string, flags int, mode uint32) (fd int, err error) {
	err = retry(func() error {
		fd, err = unix.Openat(dirfd, name, flags|unix.O_CLOEXEC, mode)
		return err
	})
	return fd, err
}

// openRootDir opens a directory by its absolute path.
func openRootDir(path string) (*dir, error) {
	fd, err := openFD(unix.AT_FDCWD, path, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	return &dir{fd: fd}, nil
}

func (d *dir) close() {
	if d != nil {
		unix.Close(d.fd)
	}
}

// child opens a subdirectory far enough to walk through it.
func (d *dir) child(name string) (*dir, error) {
	fd, err := openFD(d.fd, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	return &dir{fd: fd, seam: d.seam}, nil
}

// list opens a subdirectory ("." is the directory itself) for reading,
// flushing and locking. One that may be searched but not read can still be
// walked through, and written to without a flush of its own.
func (d *dir) list(name string) (*dir, error) {
	fd, err := openFD(d.fd, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err == unix.EACCES {
		return d.child(name)
	}
	if err != nil {
		return nil, err
	}
	return &dir{fd: fd, seam: d.seam}, nil
}

// open opens an existing entry for reading without following it. A FIFO or a
// device does not block and gains no terminal; a socket is ENXIO (open(2)).
func (d *dir) open(name string) (*os.File, error) {
	fd, err := openFD(d.fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|openSafe, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// create makes a new file; perm is reduced by the umask.
func (d *dir) create(name string, perm uint32) (*os.File, error) {
	if err := d.seam.before("create", name); err != nil {
		return nil, err
	}
	fd, err := openFD(d.fd, name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, perm)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

func (d *dir) stat(name string) (stat, error) {
	var st syscall.Stat_t
	if err := fstatat(d.fd, name, &st); err != nil {
		return stat{}, err
	}
	return statOf(&st), nil
}

func fstatat(dirfd int, name string, st *syscall.Stat_t) error {
	var raw unix.Stat_t
	err := retry(func() error { return unix.Fstatat(dirfd, name, &raw, unix.AT_SYMLINK_NOFOLLOW) })
	if err != nil {
		return err
	}
	*st = syscall.Stat_t{
		Dev: raw.Dev, Ino: raw.Ino, Nlink: raw.Nlink, Mode: raw.Mode, Uid: raw.Uid, Gid: raw.Gid, Rdev: raw.Rdev,
		Size: raw.Size, Blksize: raw.Blksize, Blocks: raw.Blocks,
		Atim: syscall.Timespec(raw.Atim), Mtim: syscall.Timespec(raw.Mtim), Ctim: syscall.Timespec(raw.Ctim),
	}
	return nil
}

// self describes the directory itself.
func (d *dir) self() (stat, error) {
	var st syscall.Stat_t
	if err := syscall.Fstat(d.fd, &st); err != nil {
		return stat{}, err
	}
	return statOf(&st), nil
}

func (d *dir) readlink(name string) (string, error) {
	buf := make([]byte, maxPath+1)
	n, err := unix.Readlinkat(d.fd, name, buf)
	if err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}

func (d *dir) rename(name string, to *dir, toName string, mode renameMode) error {
	if err := d.seam.before(mode.String(), name); err != nil {
		return err
	}
	if mode == renameReplace {
		return retry(func() error { return unix.Renameat(d.fd, name, to.fd, toName) })
	}
	return retry(func() error { return unix.Renameat2(d.fd, name, to.fd, toName, uint(mode)) })
}

func (d *dir) link(name string, to *dir, toName string) error {
	if err := d.seam.before("link", name); err != nil {
		return err
	}
	return retry(func() error { return unix.Linkat(d.fd, name, to.fd, toName, 0) })
}

func (d *dir) symlink(target, name string) error {
	if err := d.seam.before("symlink", name); err != nil {
		return err
	}
	return unix.Symlinkat(target, d.fd, name)
}

// special makes a FIFO, a socket or (with the privilege for it) a device like st.
func (d *dir) special(name string, st *stat) error {
	if err := d.seam.before("mknod", name); err != nil {
		return err
	}
	raw, ok := st.sys.(*syscall.Stat_t)
	if !ok {
		return unix.EINVAL
	}
	return unix.Mknodat(d.fd, name, raw.Mode, int(raw.Rdev))
}

func (d *dir) mkdir(name string, perm uint32) error {
	if err := d.seam.before("mkdir", name); err != nil {
		return err
	}
	return unix.Mkdirat(d.fd, name, perm)
}

func (d *dir) unlink(name string) error {
	if err := d.seam.before("unlink", name); err != nil {
		return err
	}
	return unix.Unlinkat(d.fd, name, 0)
}

func (d *dir) rmdir(name string) error {
	if err := d.seam.before("rmdir", name); err != nil {
		return err
	}
	return unix.Unlinkat(d.fd, name, unix.AT_REMOVEDIR)
}

func (d *dir) sync() error {
	if err := d.seam.before("sync", "."); err != nil {
		return err
	}
	err := retry(func() error { return unix.Fsync(d.fd) })
	if err == unix.EBADF || err == unix.EINVAL {
		return nil // opened without the right to read it; or nothing to flush there (fsync(2))
	}
	return err
}

// names lists the directory, unsorted; more than limit names is errTooMany.
func (d *dir) names(limit int) ([]string, error) {
	fd, err := openFD(d.fd, ".", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(fd), ".")
	defer file.Close()
	return readNames(file, limit)
}

// writable reports whether this process may write the entry (access(2), with
// the effective ids).
func (d *dir) writable(name string) error {
	err := unix.Faccessat2(d.fd, name, unix.W_OK, unix.AT_EACCESS|unix.AT_SYMLINK_NOFOLLOW)
	if err == unix.ENOSYS || err == unix.EINVAL || err == unix.EPERM {
		return nil // an old kernel: the write itself will tell
	}
	return err
}

// mountID tells mounts apart, also two of the same file system (statx(2)). Zero
// means the kernel does not say.
func (d *dir) mountID(name string) uint64 {
	var st unix.Statx_t
	if unix.Statx(d.fd, name, unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT, unix.STATX_MNT_ID, &st) != nil {
		return 0
	}
	return st.Mnt_id
}

// tryLock takes an exclusive advisory lock on the directory (flock(2)), which
// ends when d is closed. It reports whether it did.
func (d *dir) tryLock() (bool, error) {
	err := retry(func() error { return unix.Flock(d.fd, unix.LOCK_EX|unix.LOCK_NB) })
	if err == unix.EWOULDBLOCK {
		return false, nil
	}
	return err == nil, err
}
