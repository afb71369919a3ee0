package builtin

import (
	"bytes"
	"unicode/utf8"

	"github.com/prism-ls/prism-ls/tools"
)

// output takes a command's bytes in bounded memory: it keeps the end of the
// text for showing and, once that is not all, every byte in a file.
type output struct {
	maxLines, maxBytes, maxTotal int64
	total                        int64
	exceeded                     bool  // more than maxTotal came
	storage                      error // the spill could not be written

	plain plainer
	tail  []byte // the end of the plain text
	bytes int64  // of plain text in all
	lines int64  // ended ones
	open  bool   // the last line has not ended

	raw   []byte // everything so far, while there is no spill
	dir   string
	spill *spill
}

func newOutput(maxLines, maxBytes, maxTotal int64, dir string) *output {
	return &output{maxLines: maxLines, maxBytes: maxBytes, maxTotal: maxTotal, dir: dir}
}

// Write takes output as it comes. An error means that the command must end:
// CodeLimit for too much, else what the spill's file system said.
func (o *output) Write(p []byte) (int, error) {
	size := len(p)
	if left := o.maxTotal - o.total; int64(len(p)) > left {
		p, o.exceeded = p[:left], true
	}
	o.total += int64(len(p))
	o.show(p)
	if err := o.store(p); err != nil {
		o.storage = err
		return 0, tools.Errorf(tools.AsError(err).Code, "the command was killed, because its output could not be kept: %w", err)
	}
	if o.exceeded {
		return 0, tools.Errorf(tools.CodeLimit, "the command was killed, because its output is over %d bytes; redirect it to a file", o.maxTotal)
	}
	return size, nil
}

// show adds to the tail, and lets go of what can no longer be shown. Twice the
// page stays, so that no later cut sees a character that this one split.
func (o *output) show(p []byte) {
	start := len(o.tail)
	o.tail = o.plain.append(o.tail, p)
	fresh := o.tail[start:]
	if len(fresh) > 0 {
		o.bytes += int64(len(fresh))
		o.lines += int64(bytes.Count(fresh, []byte{'\n'}))
		o.open = fresh[len(fresh)-1] != '\n'
	}
	if keep := int(2 * o.maxBytes); len(o.tail) > 2*keep {
		o.tail = append(o.tail[:0], o.tail[len(o.tail)-keep:]...)
	}
}

// whole reports whether everything so far can be shown.
func (o *output) whole() bool { return o.bytes <= o.maxBytes && o.totalLines() <= o.maxLines }

func (o *output) totalLines() int64 {
	if o.open {
		return o.lines + 1
	}
	return o.lines
}

func (o *output) store(p []byte) error {
	if o.spill == nil {
		o.raw = append(o.raw, p...)
		if o.whole() && int64(len(o.raw)) <= 4*o.maxBytes {
			return nil
		}
		var err error
		if o.spill, err = openSpill(o.dir); err != nil {
			return err
		}
		p, o.raw = o.raw, nil
	}
	return o.spill.write(p)
}

// render returns the text to show. Whole lines are cut off its start, unless
// the last line alone is too long: then its end is shown.
func (o *output) render() (string, Truncation) {
	text := o.tail
	if !utf8.Valid(text) {
		text = showable(text)
	}
	total := o.totalLines()
	t := Truncation{MaxLines: o.maxLines, MaxBytes: o.maxBytes, TotalLines: &total, TotalBytes: &o.bytes}
	from := len(text) - int(o.maxBytes)
	if from > 0 {
		t.TruncatedBy = byBytes
		for from < len(text) && !utf8.RuneStart(text[from]) {
			from++
		}
		if end := bytes.IndexByte(text[from:], '\n'); text[from-1] != '\n' && end >= 0 && from+end+1 < len(text) {
			from += end + 1
		}
	}
	from = max(from, 0)
	if first := lastLines(text, int(o.maxLines)); first > from {
		from, t.TruncatedBy = first, byLines
	}
	text = text[from:]
	t.Truncated = t.TruncatedBy != ""
	t.OutputBytes, t.OutputLines = int64(len(text)), int64(bytes.Count(text, []byte{'\n'}))
	if len(text) > 0 && text[len(text)-1] != '\n' {
		t.OutputLines++
	}
	return string(text), t
}

// lastLines returns where the last n lines of text begin.
func lastLines(text []byte, n int) int {
	end := len(text)
	if end > 0 && text[end-1] == '\n' {
		end--
	}
	for range n {
		if end = bytes.LastIndexByte(text[:end], '\n'); end < 0 {
			return 0
		}
	}
	return end + 1
}

// keep gives the spill to the host if it is needed to see everything, and
// returns its path. Output that only grew too long by what stands for its
// invalid bytes has none so far.
func (o *output) keep(truncated bool) string {
	if !truncated {
		o.discard()
		return ""
	}
	if o.spill == nil {
		var err error
		if o.spill, err = openSpill(o.dir); err == nil {
			err = o.spill.write(o.raw)
		}
		if err != nil {
			o.storage = err
			o.discard()
			return ""
		}
	}
	path, err := o.spill.keep()
	if err != nil {
		o.storage = err
		o.discard()
		return ""
	}
	return path
}

// discard removes the spill.
func (o *output) discard() {
	if o.spill != nil {
		o.spill.discard()
		o.spill = nil
	}
}
