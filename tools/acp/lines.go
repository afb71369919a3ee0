package acp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/prism-ls/prism-ls/tools"
)

// lines reads lines of one text.
type lines struct {
	ctx        context.Context
	name       string
	size       int64
	most, scan int64
}

// read returns count lines from the one with number first on, or all of them
// with count 0.
func (l lines) read(in io.Reader, first, count int) (string, error) {
	if count == 0 && first == 1 && l.size > l.most {
		return "", l.tooLong()
	}
	reader := bufio.NewReaderSize(io.LimitReader(in, l.scan), int(min(max(l.size, 4<<10), 256<<10)))
	number, err := l.skip(reader, first)
	if err != nil {
		return "", err
	}
	var text bytes.Buffer
	for taken := 0; count == 0 || taken < count; {
		part, err := reader.ReadSlice('\n')
		text.Write(part)
		switch {
		case int64(text.Len()) > l.most:
			return "", l.tooLong()
		case err == nil:
			taken++
		case errors.Is(err, io.EOF):
			if text.Len() == 0 && first > 1 {
				return "", tools.Errorf(tools.CodeOutOfRange, "line %d is beyond the end of %s, which has %d lines", first, l.name, number-1)
			}
			if l.size > l.scan {
				return "", l.tooFar()
			}
			return l.text(text.Bytes())
		case !errors.Is(err, bufio.ErrBufferFull):
			return "", err
		}
	}
	return l.text(text.Bytes())
}

// skip goes to the line with number first, and returns the number it came to.
func (l lines) skip(reader *bufio.Reader, first int) (int, error) {
	number := 1
	for number < first {
		if number%1024 == 0 && l.ctx.Err() != nil {
			return number, context.Cause(l.ctx)
		}
		part, err := reader.ReadSlice('\n')
		switch {
		case err == nil:
			number++
		case errors.Is(err, bufio.ErrBufferFull):
		case !errors.Is(err, io.EOF):
			return number, err
		case l.size > l.scan:
			return number, l.tooFar()
		default:
			if len(part) > 0 {
				number++
			}
			return number, nil
		}
	}
	return number, nil
}

func (l lines) text(data []byte) (string, error) {
	if bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data) {
		return "", tools.Errorf(tools.CodeBinary, "%s is not UTF-8 text", l.name)
	}
	return string(data), nil
}

func (l lines) tooLong() error {
	return tools.Errorf(tools.CodeLimit, "%s would give more than %d bytes; ask for fewer lines with line and limit", l.name, l.most)
}

func (l lines) tooFar() error {
	return tools.Errorf(tools.CodeLimit, "the lines lie beyond the first %d bytes of %s, which is as far as is looked", l.scan, l.name)
}
