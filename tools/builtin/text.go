package builtin

import (
	"bytes"
	"context"
	"hash"
	"io"
	"math"
	"net/http"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/prism-ls/prism-ls/tools"
)

// The encodings that metadata names. What is neither UTF-8 nor UTF-16 is shown
// as far as it can be, under the name that RFC 1428 §3 has for that.
const (
	encodingUTF8    = "utf-8"
	encodingUTF16LE = "utf-16le"
	encodingUTF16BE = "utf-16be"
	encodingUnknown = "unknown-8bit"
)

// textFile is a file that is text, and how to read it.
type textFile struct {
	file     File
	head     []byte
	bom      int64 // bytes of byte order mark
	encoding string
	sep      byte
	scan     *scan
}

// scan accounts for the raw bytes that a call reads, and hashes them as long as
// they come in order from the start.
type scan struct {
	most, left int64
	hash       hash.Hash // nil: not wanted
}

// scanReader reads raw bytes on account of a scan.
type scanReader struct {
	in   io.Reader
	scan *scan
	hash bool
}

func (r *scanReader) Read(p []byte) (int, error) {
	if r.scan.left <= 0 {
		return 0, errScanCap
	}
	n, err := r.in.Read(p[:min(int64(len(p)), r.scan.left)])
	r.scan.left -= int64(n)
	if r.hash {
		r.scan.hash.Write(p[:n])
	}
	return n, err
}

// openText decides by the start of a file whether and how it is text. A NUL in
// the first 8 KiB that UTF-16 does not explain is CodeBinary.
func openText(ctx context.Context, name string, file File, head []byte, s *scan) (*textFile, error) {
	t := &textFile{file: file, head: head, encoding: encodingUTF8, scan: s}
	switch {
	case bytes.HasPrefix(head, []byte{0xef, 0xbb, 0xbf}):
		t.bom = 3
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}):
		t.bom, t.encoding = 2, encodingUTF16LE
	case bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		t.bom, t.encoding = 2, encodingUTF16BE
	}
	if !t.utf16() && bytes.IndexByte(head, 0) >= 0 {
		return nil, tools.Errorf(tools.CodeBinary, "%s is not text: %d bytes of %s", name, file.Size(), http.DetectContentType(head))
	}
	return t, t.findSeparator(ctx)
}

func (t *textFile) utf16() bool {
	return t.encoding == encodingUTF16LE || t.encoding == encodingUTF16BE
}

// from returns the text from a byte offset of it, which must be 0 in UTF-16.
// hashed says to hash what is read, the byte order mark included.
func (t *textFile) from(offset int64, hashed bool) io.Reader {
	raw := &scanReader{in: io.NewSectionReader(t.file, t.bom+offset, math.MaxInt64-t.bom-offset), scan: t.scan, hash: hashed && t.scan.hash != nil}
	if raw.hash {
		t.scan.hash.Reset()
		t.scan.hash.Write(t.head[:t.bom])
	}
	return t.decode(raw)
}

func (t *textFile) decode(raw io.Reader) io.Reader {
	switch t.encoding {
	case encodingUTF16LE:
		return transform.NewReader(raw, unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewDecoder())
	case encodingUTF16BE:
		return transform.NewReader(raw, unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM).NewDecoder())
	}
	return raw
}

// findSeparator looks for the first \n. Only a file that has none has lines
// that end in a lone \r. The look is off the account: it reads what a page
// would read anyway.
func (t *textFile) findSeparator(ctx context.Context) error {
	t.sep = '\n'
	if !t.utf16() && bytes.IndexByte(t.head, '\n') >= 0 {
		return nil
	}
	in := t.decode(io.NewSectionReader(t.file, t.bom, t.scan.most))
	buf := make([]byte, min(max(t.file.Size()+1, 4<<10), blockBytes))
	returns := false // a \r was seen
	var seen int64
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := in.Read(buf)
		seen += int64(n)
		if bytes.IndexByte(buf[:n], '\n') >= 0 {
			return nil
		}
		returns = returns || bytes.IndexByte(buf[:n], '\r') >= 0
		switch {
		case err == io.EOF && returns && seen < t.scan.most:
			t.sep = '\r'
			return nil
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

// showable replaces each maximal subpart of an ill-formed sequence with U+FFFD
// (Unicode §3.9, "U+FFFD Substitution of Maximal Subparts").
func showable(text []byte) []byte {
	shown, _, err := transform.Bytes(unicode.UTF8.NewDecoder(), text)
	if err != nil { // the decoder replaces, it does not fail
		return bytes.ToValidUTF8(text, []byte("\uFFFD"))
	}
	return shown
}
