package edit

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"strings"
)

// writeBinary writes a change as git's binary patch: for each direction a
// deflated literal or delta in base 85. The object names let git check that it
// applies to the right content; SHA-1 is what names objects in a repository
// of the default format, not a safeguard.
func writeBinary(b *strings.Builder, c *Change, regions []region) {
	const none = "0000000000000000000000000000000000000000"
	oldName, newName := none, none
	if c.OldPath != "" {
		oldName = blobName(c.Old)
	}
	if c.NewPath != "" {
		newName = blobName(c.New)
	}
	fmt.Fprintf(b, "index %s..%s", oldName, newName)
	if c.OldPath != "" && c.NewPath != "" && gitMode(c.OldMode) == gitMode(c.NewMode) {
		b.WriteString(" " + gitMode(c.NewMode))
	}
	b.WriteString("\nGIT binary patch\n")
	if len(c.Old) == 0 || len(c.New) == 0 {
		writeDeflated(b, "literal", c.New)
		writeDeflated(b, "literal", c.Old)
		return
	}
	back := make([]region, len(regions))
	for i, r := range regions {
		back[i] = region{oldFrom: r.newFrom, oldTo: r.newTo, newFrom: r.oldFrom, newTo: r.oldTo}
	}
	writeDeflated(b, "delta", delta(c.Old, c.New, regions))
	writeDeflated(b, "delta", delta(c.New, c.Old, back))
}

// blobName returns the object name of a file's content (gitformat-pack(5)).
func blobName(data []byte) string {
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", len(data))
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}

// delta encodes new as copies from old and insertions (gitformat-pack(5),
// "Deltified representation").
func delta(old, new []byte, regions []region) []byte {
	out := appendSize(appendSize(nil, len(old)), len(new))
	at := 0
	for _, r := range regions {
		out = appendCopy(out, at, r.oldFrom)
		for text := new[r.newFrom:r.newTo]; len(text) > 0; {
			n := min(len(text), 127)
			out = append(append(out, byte(n)), text[:n]...)
			text = text[n:]
		}
		at = r.oldTo
	}
	return appendCopy(out, at, len(old))
}

// appendSize writes a number seven bits at a time, lowest first.
func appendSize(out []byte, n int) []byte {
	for ; n >= 0x80; n >>= 7 {
		out = append(out, byte(n)|0x80)
	}
	return append(out, byte(n))
}

// appendCopy writes instructions that copy bytes from to to of the old text.
func appendCopy(out []byte, from, to int) []byte {
	const most = 0xffff // fits two size bytes, and is not the special 0x10000
	for from < to {
		n := min(to-from, most)
		op := len(out)
		out = append(out, 0x80)
		for i := range 4 {
			if v := byte(from >> (8 * i)); v != 0 {
				out[op] |= 1 << i
				out = append(out, v)
			}
		}
		for i := range 2 {
			if v := byte(n >> (8 * i)); v != 0 {
				out[op] |= 0x10 << i
				out = append(out, v)
			}
		}
		from += n
	}
	return out
}

// writeDeflated writes one direction: its kind and inflated size, then lines of
// up to 52 bytes, each with its length as a letter (A to Z for 1 to 26, a to z
// for 27 to 52), then an empty line.
func writeDeflated(b *strings.Builder, kind string, data []byte) {
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	w.Write(data) // a bytes.Buffer takes all
	w.Close()
	fmt.Fprintf(b, "%s %d\n", kind, len(data))
	for packed := z.Bytes(); len(packed) > 0; {
		line := packed[:min(len(packed), 52)]
		packed = packed[len(line):]
		if n := len(line); n <= 26 {
			b.WriteByte('A' + byte(n) - 1)
		} else {
			b.WriteByte('a' + byte(n) - 27)
		}
		for len(line) > 0 {
			writeBase85(b, line[:min(len(line), 4)])
			line = line[min(len(line), 4):]
		}
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
}

// writeBase85 writes up to four bytes as five digits, highest first.
func writeBase85(b *strings.Builder, chunk []byte) {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
	n := uint32(0)
	for i := range 4 {
		n <<= 8
		if i < len(chunk) {
			n |= uint32(chunk[i])
		}
	}
	var out [5]byte
	for i := 4; i >= 0; i-- {
		out[i] = digits[n%85]
		n /= 85
	}
	b.Write(out[:])
}
