package langintel

import (
	"io/fs"
	"syscall"
)

// changeTime is the inode's change time in nanoseconds, which a program cannot
// set back as it can the modification time; 0: not known.
func changeTime(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ctim.Nano()
	}
	return 0
}
