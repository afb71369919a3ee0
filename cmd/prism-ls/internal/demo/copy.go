package demo

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// maxCopy bounds the copy: what is larger is no quick demonstration.
const maxCopy = 1 << 30

type copied struct {
	files int
	bytes int64
}

// copySource copies the source's regular files into the scratch directory.
func (s *show) copySource() (done copied, err error) {
	names, err := s.Files(s.ctx)
	if err != nil {
		return done, err
	}
	for _, name := range names {
		if err := s.ctx.Err(); err != nil {
			return done, err
		}
		path, err := s.Source.Parse("./" + name)
		if err != nil {
			return done, err
		}
		size, err := s.copyFile(path)
		if err != nil {
			return done, err
		}
		done.files++
		if done.bytes += size; done.bytes > maxCopy {
			return done, tools.Errorf(tools.CodeLimit, "the repository is over %d MiB; name a smaller one: prism-ls demo DIR", maxCopy>>20)
		}
	}
	if done.files == 0 {
		return done, tools.Errorf(tools.CodeNotFound, "%s has no files to show anything on", s.Source.Root())
	}
	return done, nil
}

func (s *show) copyFile(path workspace.Path) (int64, error) {
	in, info, err := s.Source.OpenFile(path)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	target := filepath.Join(s.Scratch, filepath.FromSlash(path.Rel))
	if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
		return 0, err
	}
	out, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm()|0o600)
	if err != nil {
		return 0, err
	}
	size, err := io.Copy(out, in)
	if closeErr := out.Close(); err == nil {
		err = closeErr
	}
	return size, err
}

// digest identifies the names, modes and contents of all files below dir.
func digest(dir string) (string, error) {
	sum := sha256.New()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		fmt.Fprintf(sum, "%q %o %x\n", path, info.Mode(), sha256.Sum256(data))
		return nil
	})
	return hex.EncodeToString(sum.Sum(nil)), err
}
