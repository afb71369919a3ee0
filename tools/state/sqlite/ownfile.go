package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"runtime"

	"github.com/prism-ls/prism-ls/tools"
)

// Files are the paths of the store at path and of what is beside it: SQLite's own, the
// gate and the mark. Who opens stores must open none of them in another way: closing it
// would end the locks that this process has on it (fcntl(2)), and SQLite has them on the
// memory that is shared, whatever it locks the rest with.
func Files(path string) []string {
	return []string{path, path + "-wal", path + "-shm", path + "-journal", path + ".lock", path + ".mark"}
}

// ownFiles refuses what is in the place of the store's files and is no file: a named
// pipe would be waited for, and what a link leads to may lie anywhere. Files that
// others may read are made the user's alone. None is opened, see Files.
func ownFiles(path string) error {
	for _, name := range Files(path) {
		info, err := os.Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return err
		case !info.Mode().IsRegular():
			return tools.Errorf(tools.CodeStateUnavailable, "%s is no regular file (%s); move it away", name, info.Mode())
		case runtime.GOOS == "windows" || info.Mode().Perm()&0o077 == 0:
			continue
		}
		if err := os.Chmod(name, info.Mode().Perm()&0o700); err != nil {
			return err
		}
	}
	return nil
}
