//go:build !linux

package workspace

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"syscall"
)

var notDirectory = syscall.ENOTDIR

func (w *Workspace) openFast(Path) (*os.File, fs.FileInfo, bool, error) { return nil, nil, false, nil }
func (w *Workspace) openDirFast(Path) (*os.File, bool, error)           { return nil, false, nil }
func (w *Workspace) locateFast(Path, bool) (*spot, error)               { return nil, nil }

// statOf knows no inode here; size, times and content tell files apart.
func statOf(info fs.FileInfo) stat {
	return stat{
		nlink: 1, size: info.Size(), mtime: info.ModTime().UnixNano(), ctime: info.ModTime().UnixNano(),
		mode: info.Mode(), sys: info.Sys(),
	}
}

func syncDir(file *os.File) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	return file.Sync()
}

func statFile(f *os.File) (stat, error) {
	info, err := f.Stat()
	if err != nil {
		return stat{}, err
	}
	return statOf(info), nil
}

// unsupported reports whether a rename or link failed because this system does
// not have it, rather than because of the files.
func unsupported(err error) bool {
	return errors.Is(err, errOther) || errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL)
}
