package state

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/prism-ls/prism-ls/tools"
)

// A record's file has three parts: a line with the form and the hash of the rest, a
// line of JSON, and the data as they are.
const formPrefix = "prism-record 1 "

// header is the line of JSON.
type header struct {
	Owner     Owner     `json:"owner"`
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
	Version   int64     `json:"version"`
	Fence     int64     `json:"fence"`
	Saved     time.Time `json:"saved"`
}

// headerBytes bounds the lines before the data: five names, each byte of which JSON
// may write as six.
const headerBytes = 5*6*512 + 1024

func encode(r *Record) []byte {
	line, err := json.Marshal(header{
		Owner: r.Key.Owner, Namespace: r.Key.Namespace, Name: r.Key.Name,
		Version: r.Version, Fence: r.Fence, Saved: r.Saved,
	})
	if err != nil {
		panic(err) // strings, numbers and a time of this century
	}
	rest := append(append(line, '\n'), r.Data...)
	sum := sha256.Sum256(rest)
	return append([]byte(formPrefix+hex.EncodeToString(sum[:])+"\n"), rest...)
}

var (
	errForm    = errors.New("not a record's file, or one of a later prism-ls")
	errContent = errors.New("its content is not what was saved")
)

func decode(content []byte) (*Record, error) {
	first, rest, _ := bytes.Cut(content, []byte("\n"))
	sum, ok := strings.CutPrefix(string(first), formPrefix)
	if !ok {
		return nil, errForm
	}
	actual := sha256.Sum256(rest)
	if sum != hex.EncodeToString(actual[:]) {
		return nil, errContent
	}
	line, data, _ := bytes.Cut(rest, []byte("\n"))
	var h header
	if err := json.Unmarshal(line, &h); err != nil {
		return nil, errForm
	}
	return &Record{
		Key:     Key{Owner: h.Owner, Namespace: h.Namespace, Name: h.Name},
		Version: h.Version, Fence: h.Fence, Saved: h.Saved, Data: data,
	}, nil
}

// read returns nil where there is no record.
func (f *Files) read(path string) (*Record, error) {
	broken := func(err error) error { return unavailable("reading the record in", path, err) }
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, broken(err)
	}
	defer file.Close()
	const most = headerBytes + 512<<10
	content, err := io.ReadAll(io.LimitReader(file, most+1))
	if err != nil {
		return nil, broken(err)
	}
	if len(content) > most {
		return nil, broken(errContent)
	}
	record, err := decode(content)
	if err != nil {
		return nil, broken(err)
	}
	if f.path(record.Key) != path {
		return nil, broken(tools.Errorf(tools.CodeStateUnavailable, "it is the record of another name, %q", record.Key.Name))
	}
	return record, nil
}

// replace has the file at path hold content, or what it held, whatever happens. The
// caller holds the record's lock, so that the fresh file is nobody else's.
func replace(path string, content []byte) error {
	name := fresh(path)
	file, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err == nil {
		err = file.Sync()
	}
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(name, path)
	}
	if err != nil {
		_ = os.Remove(name)
		return err
	}
	return flushDir(filepath.Dir(path))
}

// makeDirs makes a directory and a folder in it, for the user alone. An outer one
// may be the user's own and is left as it is.
func makeDirs(dir, folder string) error {
	if _, err := os.Stat(folder); err == nil {
		return nil
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	if runtime.GOOS != "windows" { // access lists there, inherited from the user's profile
		if err := errors.Join(os.Chmod(dir, 0o700), os.Chmod(folder, 0o700)); err != nil {
			return err
		}
	}
	_ = flushDir(filepath.Dir(dir)) // it may not be ours to open
	return flushDir(dir)
}

// flushDir makes the names in a directory last. Some file systems cannot (EINVAL),
// and Windows has no such thing.
func flushDir(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := dir.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}
