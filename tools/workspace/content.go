package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/prism-ls/prism-ls/tools"
)

// Content is a regular file as it was at one moment.
type Content struct {
	Path   Path // with Real set when read in a transaction
	Data   []byte
	Mode   fs.FileMode
	Size   int64
	MTime  time.Time
	SHA256 string // of Data, lower-case hex
}

// readChunk is how much is read between two looks at the context.
const readChunk = 4 << 20

// ReadFile reads a regular file whole. A file larger than max bytes is
// [tools.CodeLimit], and nothing of it is read.
func (w *Workspace) ReadFile(ctx context.Context, p Path, max int64) (*Content, error) {
	file, info, err := w.OpenFile(p)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := readAll(ctx, file, p.Rel, info.Size(), max)
	if err != nil {
		return nil, err
	}
	return &Content{Path: p, Data: data, Mode: info.Mode(), Size: int64(len(data)), MTime: info.ModTime(), SHA256: hashOf(data)}, nil
}

// readAll reads a file that was size bytes long when it was opened and may
// have grown or shrunk since.
func readAll(ctx context.Context, file *os.File, given string, size, max int64) ([]byte, error) {
	if size > max {
		return nil, tooLarge(given, size, max)
	}
	data := make([]byte, 0, size+1) // one more, so that the end shows without growing
	for {
		if err := ctx.Err(); err != nil {
			return nil, tools.AsError(err)
		}
		if len(data) == cap(data) {
			data = append(data, make([]byte, readChunk)...)[:len(data)]
		}
		n, err := file.Read(data[len(data):min(cap(data), len(data)+readChunk)])
		data = data[:len(data)+n]
		if int64(len(data)) > max {
			return nil, tooLarge(given, int64(len(data)), max)
		}
		if err == io.EOF {
			return data, nil
		}
		if err != nil {
			return nil, pathError(given, err)
		}
	}
}

func tooLarge(given string, size, max int64) error {
	return tools.Errorf(tools.CodeLimit, "%s has %d bytes, at most %d are read", given, size, max)
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
