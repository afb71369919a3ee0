package builtin

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/prism-ls/prism-ls/tools"
)

// view shows pages of one text and collects what is to be said about them.
type view struct {
	text     *textFile
	window   window
	size     int64
	metadata ReadMetadata
	searched int64 // bytes that findText took, which the page then reads again
}

// single shows one page, which findText may have moved.
func (v *view) single(ctx context.Context, in readInput) ([]tools.Block, error) {
	w := v.window
	whole := w.offset == 1 && in.FindText == nil && w.byteOffset == nil
	r := v.text.openLines(ctx, whole)
	if in.FindText != nil {
		var err error
		if r, w.offset, err = v.seek(ctx, r, in); err != nil {
			return nil, err
		}
	}
	p, err := readPage(r, w)
	if err != nil {
		return nil, err
	}
	v.note(p)
	truncation := p.truncation(w, v.size)
	v.metadata.Truncation = &truncation
	if whole && p.by == "" {
		v.metadata.SHA256 = hex.EncodeToString(v.text.scan.hash.Sum(nil))
	}
	return []tools.Block{tools.Text(withNotice(string(p.text), p.notice(w.maxBytes)))}, nil
}

func (v *view) note(p *page) {
	if p.invalid {
		v.metadata.Encoding = encodingUnknown
	}
}

// seek finds the first line that holds findText and returns a reader at it.
func (v *view) seek(ctx context.Context, r *lineReader, in readInput) (*lineReader, int64, error) {
	from := v.window.offset
	err := r.skipTo(from)
	if errors.Is(err, io.EOF) && from > 1 {
		return nil, 0, pastEnd("offset", from, r.lines())
	}
	var line, start int64
	if err == nil {
		line, start, err = find(r, newNeedle(*in.FindText, in.FindMode))
	}
	switch {
	case errors.Is(err, io.EOF):
		return nil, 0, tools.Errorf(tools.CodeNoMatch, "findText is on no line from %d to the end of the file", from)
	case errors.Is(err, errScanCap):
		return nil, 0, tools.Errorf(tools.CodeLimit, "findText was not found in the first %d bytes of the file, and a read scans no more", v.text.scan.most)
	case err != nil:
		return nil, 0, err
	}
	// The page is a second pass over bytes that are on the account already.
	v.searched = v.text.scan.most - v.text.scan.left
	v.text.scan.left = max(v.text.scan.left, 2*v.window.maxBytes+lookAhead)
	if v.text.utf16() {
		v.text.scan.left = v.text.scan.most
		return v.text.openLines(ctx, false), line, nil
	}
	at := newLineReader(ctx, v.text.from(start, false), v.text.sep, v.size)
	at.line = line
	return at, line, nil
}

// several shows the ranges, each as a block of its own under a line that says
// which lines it has. Lines and bytes are bounded over all of them.
func (v *view) several(ctx context.Context, ranges []ReadRange) ([]tools.Block, error) {
	total := Truncation{MaxLines: v.window.maxLines, MaxBytes: v.window.maxBytes, TotalBytes: &v.size}
	var blocks []tools.Block
	var r *lineReader
	for i, part := range ranges {
		w := v.window
		w.field, w.offset, w.ahead = fmt.Sprintf("ranges[%d].offset", i), part.Offset, 0
		w.maxLines, w.maxBytes = w.maxLines-total.OutputLines, w.maxBytes-total.OutputBytes
		if part.Limit != nil {
			w.limit = *part.Limit
		}
		if r == nil || r.line > w.offset {
			r = v.text.openLines(ctx, false)
		}
		p, err := readPage(r, w)
		if err != nil {
			return nil, err
		}
		if p.tooLong <= v.window.maxBytes {
			p.tooLong = 0 // a page of its own would hold the line: the ranges before it took the room
		}
		v.note(p)
		own := p.truncation(w, v.size)
		v.metadata.Ranges = append(v.metadata.Ranges, own)
		total.OutputLines += p.lines
		total.OutputBytes += int64(len(p.text))
		notice := ""
		if p.by != "" && (w.limit == 0 || p.lines < w.limit) {
			notice = p.notice(v.window.maxBytes)
			total.Truncated, total.TruncatedBy = true, p.by
		}
		head := fmt.Sprintf("[lines %d-%d]\n", w.offset, p.next-1)
		if p.lines == 0 {
			head = fmt.Sprintf("[no lines from %d]\n", w.offset)
		}
		blocks = append(blocks, tools.Text(withNotice(head+string(p.text), notice)))
	}
	v.metadata.Truncation = &total
	return blocks, nil
}
