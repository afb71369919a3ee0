package mcpserver

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
)

// MaxFrame is the largest frame that is read, in bytes without the newline.
const MaxFrame = 32 << 20

// ErrFrameTooLong is a line of more than MaxFrame bytes, which was skipped.
var ErrFrameTooLong = errors.New("frame too long")

// Frames splits a stream into lines of at most max bytes. What is longer is
// skipped up to its newline without being kept.
type Frames struct {
	r   *bufio.Reader
	max int
}

// NewFrames splits r into lines of at most MaxFrame bytes.
func NewFrames(r io.Reader) *Frames { return newFrames(r, MaxFrame) }

func newFrames(r io.Reader, max int) *Frames {
	return &Frames{bufio.NewReaderSize(r, 64<<10), max}
}

// Next returns the next line that is not blank, without its line ending. The
// caller owns it. ErrFrameTooLong means that one line was skipped and that
// there may be more; any other error is the end.
func (f *Frames) Next() ([]byte, error) {
	for {
		line, err := f.line()
		if line = bytes.TrimSpace(line); len(line) > 0 || err != nil {
			return line, err
		}
	}
}

func (f *Frames) line() ([]byte, error) {
	var line []byte
	tooLong := false
	for {
		part, err := f.r.ReadSlice('\n')
		if !tooLong && len(line)+len(part) > f.max+1 {
			tooLong, line = true, nil
		}
		if !tooLong {
			if cap(line)-len(line) < len(part) {
				line = slices.Grow(line, max(len(part), len(line))) // append's steps copy a large frame five times
			}
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case tooLong && (err == nil || errors.Is(err, io.EOF)):
			return nil, ErrFrameTooLong
		case errors.Is(err, io.EOF) && len(line) > 0:
			return line, nil // the last line may lack its newline
		}
		return line, err
	}
}
