//go:build unix

package git

import (
	"os"
	"syscall"
)

const executableName = "git"

// foreignOwner reports the first of paths that does not belong to the
// effective user.
func foreignOwner(paths ...string) (uid uint32, foreign bool) {
	for _, path := range paths {
		info, err := os.Lstat(path)
		if err != nil {
			continue
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		if ok && stat.Uid != uint32(os.Geteuid()) {
			return stat.Uid, true
		}
	}
	return 0, false
}

func isExecutable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
