package taskspace

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
)

// The entries of an archive of saved files: the files themselves are below filesPrefix,
// as they were on disk; deletedEntry lists tracked files that were not, each ended by
// NUL; indexEntry is the index as `git ls-files -s -z` prints it.
const (
	filesPrefix  = "files/"
	deletedEntry = "deleted"
	indexEntry   = "index"
)

// archive is what one archive holds.
type archive struct {
	top     string
	files   []string
	deleted []string
	index   []byte // nil: the index is as HEAD
}

// write writes the archive. A file that goes away meanwhile is left out, and one that
// changes is an error.
func (a *archive) write(ctx context.Context, to io.Writer) error {
	out := tar.NewWriter(to)
	if len(a.deleted) > 0 {
		if err := writeEntry(out, deletedEntry, []byte(strings.Join(a.deleted, "\x00")+"\x00")); err != nil {
			return err
		}
	}
	if a.index != nil {
		if err := writeEntry(out, indexEntry, a.index); err != nil {
			return err
		}
	}
	root, err := os.OpenRoot(a.top)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range a.files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := writeFile(out, root, name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return tools.Errorf(tools.AsError(err).Code, "%q cannot be saved: %w", name, err)
		}
	}
	return out.Close()
}

func writeEntry(out *tar.Writer, name string, data []byte) error {
	header := &tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o600, Size: int64(len(data)), Format: tar.FormatPAX}
	if err := out.WriteHeader(header); err != nil {
		return err
	}
	_, err := out.Write(data)
	return err
}

func writeFile(out *tar.Writer, root *os.Root, name string) error {
	info, err := root.Lstat(name)
	if err != nil {
		return err
	}
	header := &tar.Header{Name: filesPrefix + name, Mode: int64(info.Mode().Perm()), ModTime: info.ModTime(), Format: tar.FormatPAX}
	if info.Mode()&fs.ModeSymlink != 0 {
		header.Typeflag = tar.TypeSymlink
		if header.Linkname, err = root.Readlink(name); err != nil {
			return err
		}
		return out.WriteHeader(header)
	}
	if info.IsDir() {
		header.Typeflag, header.Name = tar.TypeDir, header.Name+"/"
		return out.WriteHeader(header)
	}
	if !info.Mode().IsRegular() {
		return nil // it became what has no content
	}
	file, err := root.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	header.Typeflag, header.Size = tar.TypeReg, info.Size()
	if err := out.WriteHeader(header); err != nil {
		return err
	}
	if _, err = io.CopyN(out, file, info.Size()); errors.Is(err, io.EOF) {
		return tools.Errorf(tools.CodeWorkspaceDirty, "it was made shorter while it was saved; end what writes to it first")
	}
	return err
}

// content identifies what a path holds: its kind, permissions and bytes.
type content struct {
	link bool
	dir  bool
	mode fs.FileMode
	sum  [sha256.Size]byte
}

func sumOf(r io.Reader) (sum [sha256.Size]byte, err error) {
	hash := sha256.New()
	_, err = io.Copy(hash, r)
	hash.Sum(sum[:0])
	return sum, err
}

// readContents adds what an archive holds to a map by path.
func readContents(r io.Reader, into map[string]content) error {
	in := tar.NewReader(r)
	for {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			_, err = io.Copy(io.Discard, r) // to the end, where the store compares the hash
			return err
		}
		if err != nil {
			return err
		}
		name, ok := strings.CutPrefix(header.Name, filesPrefix)
		if !ok {
			continue
		}
		if header.Typeflag == tar.TypeDir {
			into[strings.TrimSuffix(name, "/")] = content{dir: true}
			continue
		}
		if header.Typeflag == tar.TypeSymlink {
			into[name] = content{link: true, sum: sha256.Sum256([]byte(header.Linkname))}
			continue
		}
		sum, err := sumOf(in)
		if err != nil {
			return err
		}
		into[name] = content{mode: fs.FileMode(header.Mode).Perm(), sum: sum}
	}
}

// different returns those of the files that are not on disk as they are in the map.
func different(top string, files []string, saved map[string]content) ([]string, error) {
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var list []string
	for _, name := range files {
		now, err := contentAt(root, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if kept, ok := saved[name]; !ok || kept != now {
			list = append(list, name)
		}
	}
	return list, nil
}

func contentAt(root *os.Root, name string) (content, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return content{}, err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := root.Readlink(name)
		return content{link: true, sum: sha256.Sum256([]byte(target))}, err
	}
	if info.IsDir() {
		return content{dir: true}, nil
	}
	if !info.Mode().IsRegular() {
		return content{}, fs.ErrNotExist
	}
	file, err := root.Open(name)
	if err != nil {
		return content{}, err
	}
	defer file.Close()
	sum, err := sumOf(file)
	return content{mode: info.Mode().Perm(), sum: sum}, err
}

// unpack puts an archive's files back below top, takes away what was deleted, and
// returns the index, nil where it was as HEAD.
func unpack(r io.Reader, top string) (index []byte, err error) {
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	in := tar.NewReader(r)
	for {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			_, err = io.Copy(io.Discard, r)
			return index, err
		}
		if err != nil {
			return nil, err
		}
		switch name, ok := strings.CutPrefix(header.Name, filesPrefix); {
		case ok:
			err = unpackFile(in, root, name, header)
		case header.Name == deletedEntry:
			err = unpackDeleted(in, root)
		case header.Name == indexEntry:
			index, err = io.ReadAll(in)
		}
		if err != nil {
			return nil, err
		}
	}
}

func unpackDeleted(in io.Reader, root *os.Root) error {
	list, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		for ; name != "" && name != "."; name = parent(name) {
			if root.Remove(name) != nil {
				break // it is not there, or a directory that holds more
			}
		}
	}
	return nil
}

func parent(name string) string { return name[:max(0, strings.LastIndexByte(name, '/'))] }

func unpackFile(in io.Reader, root *os.Root, name string, header *tar.Header) error {
	if header.Typeflag == tar.TypeDir {
		return root.MkdirAll(strings.TrimSuffix(name, "/"), 0o777)
	}
	if dir := parent(name); dir != "" {
		if err := root.MkdirAll(dir, 0o777); err != nil {
			return err
		}
	}
	if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if header.Typeflag == tar.TypeSymlink {
		return root.Symlink(header.Linkname, name)
	}
	mode := fs.FileMode(header.Mode).Perm()
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode|0o200)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, in)
	err = errors.Join(err, file.Chmod(mode), file.Close())
	return errors.Join(err, root.Chtimes(name, header.ModTime, header.ModTime))
}
