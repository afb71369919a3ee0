package workspace

import (
	"io/fs"
	"time"
)

// stat is what the package needs to know of a file, on every system.
type stat struct {
	dev, ino, nlink uint64
	size            int64
	mtime, ctime    int64 // nanoseconds since 1970
	mode            fs.FileMode
	uid, gid        uint32
	sys             any
}

// fileInfo presents a stat as an fs.FileInfo.
type fileInfo struct {
	name string
	stat
}

func (i *fileInfo) Name() string       { return i.name }
func (i *fileInfo) Size() int64        { return i.size }
func (i *fileInfo) Mode() fs.FileMode  { return i.mode }
func (i *fileInfo) ModTime() time.Time { return time.Unix(0, i.mtime) }
func (i *fileInfo) IsDir() bool        { return i.mode.IsDir() }
func (i *fileInfo) Sys() any           { return i.sys }

// permissions are the mode bits that chmod(2) sets.
const permissions = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky
