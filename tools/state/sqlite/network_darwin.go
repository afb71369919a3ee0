package sqlite

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/prism-ls/prism-ls/tools"
)

// refuseNetwork is CodeStateUnavailable where a directory is on a network file system.
func refuseNetwork(dir string) error {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	if fs.Flags&unix.MNT_LOCAL != 0 {
		return nil
	}
	return tools.Errorf(tools.CodeStateUnavailable, "%s is on a network file system (%s), where a store is not safe; name a local directory, or a PostgreSQL server",
		dir, unix.ByteSliceToString(fs.Fstypename[:]))
}
