package workspace

import (
	"io/fs"
	"os"
	"syscall"
)

func statOf(st *syscall.Stat_t) stat {
	return stat{
		dev: uint64(st.Dev), ino: st.Ino, nlink: uint64(st.Nlink), size: st.Size,
		mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano(),
		mode: modeOf(st.Mode), uid: st.Uid, gid: st.Gid, sys: st,
	}
}

func modeOf(raw uint32) fs.FileMode {
	mode := fs.FileMode(raw & 0o777)
	switch raw & syscall.S_IFMT {
	case syscall.S_IFDIR:
		mode |= fs.ModeDir
	case syscall.S_IFLNK:
		mode |= fs.ModeSymlink
	case syscall.S_IFIFO:
		mode |= fs.ModeNamedPipe
	case syscall.S_IFSOCK:
		mode |= fs.ModeSocket
	case syscall.S_IFBLK:
		mode |= fs.ModeDevice
	case syscall.S_IFCHR:
		mode |= fs.ModeDevice | fs.ModeCharDevice
	}
	if raw&syscall.S_ISUID != 0 {
		mode |= fs.ModeSetuid
	}
	if raw&syscall.S_ISGID != 0 {
		mode |= fs.ModeSetgid
	}
	if raw&syscall.S_ISVTX != 0 {
		mode |= fs.ModeSticky
	}
	return mode
}

// rawMode is the inverse of modeOf for what chmod(2) sets.
func rawMode(mode fs.FileMode) uint32 {
	raw := uint32(mode.Perm())
	if mode&fs.ModeSetuid != 0 {
		raw |= syscall.S_ISUID
	}
	if mode&fs.ModeSetgid != 0 {
		raw |= syscall.S_ISGID
	}
	if mode&fs.ModeSticky != 0 {
		raw |= syscall.S_ISVTX
	}
	return raw
}

func statFile(f *os.File) (stat, error) {
	var st syscall.Stat_t
	if err := syscall.Fstat(int(f.Fd()), &st); err != nil {
		return stat{}, err
	}
	return statOf(&st), nil
}
