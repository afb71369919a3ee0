package taskspace

import (
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// identify names a directory by its inode and, where the file system has it, by when it
// was made, since numbers are used again. Devices are left out: theirs may change when
// the machine starts.
func identify(path string, _ fs.FileInfo) (string, error) {
	var st unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_INO|unix.STATX_BTIME, &st); err != nil {
		return "", &fs.PathError{Op: "statx", Path: path, Err: err}
	}
	if st.Mask&unix.STATX_BTIME == 0 {
		return fmt.Sprintf("inode %d", st.Ino), nil
	}
	return fmt.Sprintf("inode %d, made %d.%09d", st.Ino, st.Btime.Sec, st.Btime.Nsec), nil
}

// renameNew renames, and fails where something has the new name.
func renameNew(from, to string) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	if err == unix.EINVAL || err == unix.ENOSYS { // a file system without it
		err = unix.Rename(from, to)
	}
	if err != nil {
		return &fs.PathError{Op: "rename", Path: from, Err: err}
	}
	return nil
}

// flush has everything of a directory's file system on the disk.
func flush(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := unix.Syncfs(int(dir.Fd())); err != nil {
		return &fs.PathError{Op: "syncfs", Path: path, Err: err}
	}
	return nil
}
