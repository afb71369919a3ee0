package builtin_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/builtin"
)

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func readMetadata(t testing.TB, result *tools.Result) builtin.ReadMetadata {
	t.Helper()
	var m builtin.ReadMetadata
	if err := json.Unmarshal(result.Metadata, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// linesOf is the line model in its simplest form: lines end at \n, at \r only
// in a text without \n, and there is no empty last one.
func linesOf(text string) []string {
	sep := "\n"
	if !strings.Contains(text, sep) {
		sep = "\r"
	}
	lines := strings.SplitAfter(text, sep)
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// TestReadAgainstModel compares pages of random texts with a page that is cut
// from all lines at once.
func TestReadAgainstModel(t *testing.T) {
	h := newHost(t, func(d *builtin.Deps, _ *tools.RegistryOptions) { d.Read.MaxLines, d.Read.MaxBytes = 20, 200 })
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		text := randomText(random)
		h.write("f", text)
		lines := linesOf(text)
		offset, limit := 1+random.IntN(len(lines)+2), 1+random.IntN(25)
		result := h.call("read", args{"path": "f", "offset": offset, "limit": limit})
		if offset > max(1, len(lines)) {
			if result.Err == nil || result.Err.Code != tools.CodeOutOfRange {
				t.Fatalf("%q offset %d: %v", text, offset, result.Err)
			}
			continue
		}
		if result.Err != nil {
			t.Fatalf("%q offset %d: %v", text, offset, result.Err)
		}
		want, next := modelPage(lines, offset, min(limit, 20), 200)
		got := textOf(result)
		m := readMetadata(t, result)
		if !strings.HasPrefix(got, want) || m.Truncation.OutputBytes != int64(len(want)) {
			t.Fatalf("%q offset %d limit %d:\ngot  %q\nwant %q", text, offset, limit, got, want)
		}
		if rest := len(lines) - next + 1; rest > 0 && want != "" {
			if notice := fmt.Sprintf("[%d more lines in file. Use offset=%d to continue.]", rest, next); !strings.HasSuffix(got, notice) || m.Truncation.NextOffset != int64(next) {
				t.Fatalf("%q offset %d limit %d: got %q, want %s", text, offset, limit, got, notice)
			}
		} else if rest <= 0 && (got != want || m.Truncation.Truncated || *m.Truncation.TotalLines != int64(len(lines))) {
			t.Fatalf("%q offset %d limit %d: got %q, %+v", text, offset, limit, got, m.Truncation)
		}
		if whole := offset == 1 && next > len(lines); (m.SHA256 == hashOf(text)) != whole || (m.SHA256 != "") != whole {
			t.Fatalf("%q: sha256 %q", text, m.SHA256)
		}
	}
}

func randomText(random *rand.Rand) string {
	ends := [][]string{{"\n"}, {"\r\n"}, {"\r"}, {"\n", "\r\n", "\r"}}[random.IntN(4)]
	var b strings.Builder
	for range random.IntN(40) {
		b.WriteString(strings.Repeat("é", random.IntN(12)))
		b.WriteString(ends[random.IntN(len(ends))])
	}
	b.WriteString(strings.Repeat("z", random.IntN(3)))
	return b.String()
}

func modelPage(lines []string, offset, limit, most int) (page string, next int) {
	next = offset
	for next <= len(lines) && next-offset < limit && len(page)+len(lines[next-1]) <= most {
		page += lines[next-1]
		next++
	}
	return page, next
}

// TestReadLongLine goes through a line that no page can hold, in pieces.
func TestReadLongLine(t *testing.T) {
	h := newHost(t, func(d *builtin.Deps, _ *tools.RegistryOptions) { d.Read.MaxBytes = 100 })
	long := strings.Repeat("日本語 ", 60) // 600 bytes
	h.write("f", "first\n"+long+"\nlast\n")
	result := h.call("read", args{"path": "f", "offset": 2})
	if text := textOf(result); text != "[Line 2 has 601 bytes, more than the 100 of a page. Use offset=2 and byteOffset=0 to read it in pieces.]" {
		t.Errorf("got %q", text)
	}
	if m := readMetadata(t, result); !m.Truncation.FirstLineExceedsLimit || m.Truncation.OutputLines != 0 {
		t.Errorf("truncation: %+v", m.Truncation)
	}
	var got strings.Builder
	at := int64(0)
	for range 100 {
		result := h.call("read", args{"path": "f", "offset": 2, "byteOffset": at, "limit": 1})
		m := readMetadata(t, result)
		text := textOf(result)
		if result.Err != nil || m.Truncation.OutputBytes == 0 || m.Truncation.OutputBytes > 100 {
			t.Fatalf("at %d: %v %+v", at, result.Err, m.Truncation)
		}
		got.WriteString(text[:m.Truncation.OutputBytes])
		if at = m.Truncation.NextByteOffset; at == 0 {
			break
		}
		if notice := fmt.Sprintf("\n[Line 2 goes on. Use offset=2 and byteOffset=%d to continue.]", at); text[m.Truncation.OutputBytes:] != notice {
			t.Fatalf("notice %q", text[m.Truncation.OutputBytes:])
		}
	}
	if got.String() != long+"\n" {
		t.Errorf("pieces together: %q", got.String())
	}
	h.fails("read", args{"path": "f", "offset": 1, "byteOffset": 6}, tools.CodeOutOfRange)
}

func TestReadEncodings(t *testing.T) {
	h := newHost(t, nil)
	utf16Of := func(order binary.ByteOrder, text string) string {
		var b []byte
		for _, unit := range utf16.Encode([]rune("\ufeff" + text)) {
			b = binary.NativeEndian.AppendUint16(b, 0)
			order.PutUint16(b[len(b)-2:], unit)
		}
		return string(b)
	}
	for _, c := range []struct {
		name, content, text, encoding string
		bom                           bool
	}{
		{"plain", "héllo\n", "héllo\n", "utf-8", false},
		{"BOM", "\ufeffhéllo\n", "héllo\n", "utf-8", true},
		{"UTF-16 LE", utf16Of(binary.LittleEndian, "日本\n🌍\n"), "日本\n🌍\n", "utf-16le", true},
		{"UTF-16 BE", utf16Of(binary.BigEndian, "日本\n🌍\n"), "日本\n🌍\n", "utf-16be", true},
		{"Latin-1", "caf\xe9\n", "caf\ufffd\n", "unknown-8bit", false},
		// One for each maximal subpart (Unicode §3.9, table 3-8), not one for all.
		{"ill-formed", "a\xf1\x80\x80\xe1\x80\xc2b\n", "a\ufffd\ufffd\ufffdb\n", "unknown-8bit", false},
	} {
		h.write("f", c.content)
		result := h.call("read", args{"path": "f"})
		m := readMetadata(t, result)
		if textOf(result) != c.text || m.Encoding != c.encoding || m.BOM != c.bom || m.SHA256 != hashOf(c.content) {
			t.Errorf("%s: %v %q %+v", c.name, result.Err, textOf(result), m)
		}
	}
	h.write("f", utf16Of(binary.LittleEndian, "one\ntwo Needle\nthree\n"))
	if text := h.ok("read", args{"path": "f", "findText": "needle", "findMode": "case-insensitive", "limit": 1}, nil); !strings.HasPrefix(text, "two Needle\n[1 more") {
		t.Errorf("find in UTF-16: %q", text)
	}
}

func TestReadBinary(t *testing.T) {
	h := newHost(t, nil)
	h.write("f", "\x7fELF\x02\x01\x01\x00"+strings.Repeat("\x00", 100))
	result := h.fails("read", args{"path": "f"}, tools.CodeBinary)
	if !strings.Contains(result.Err.Message, "108 bytes of application/octet-stream") {
		t.Errorf("message: %s", result.Err.Message)
	}
	h.write("f", strings.Repeat("text\n", 2000)+"\x00")
	h.ok("read", args{"path": "f"}, nil)
}

func TestReadFind(t *testing.T) {
	h := newHost(t, nil)
	// Over the border of blocks, and with variants of several lengths.
	pad := strings.Repeat("filler text\n", 262_144/12)
	pad += strings.Repeat("x", 262_144-len(pad)-3) // the match straddles 256 KiB
	h.write("f", pad+"STRA\u017f\u017fe \u212aelvin\nrest\n")
	for _, c := range []struct {
		find, mode string
		found      bool
	}{
		{"STRA\u017f\u017fe", "exact", true}, {"strasse", "exact", false}, {"strasse", "case-insensitive", true},
		{"KELVIN", "case-insensitive", true}, {"rest\n", "exact", true}, {"elvin\nrest", "exact", true}, {"absent", "case-insensitive", false},
	} {
		result := h.call("read", args{"path": "f", "findText": c.find, "findMode": c.mode})
		if c.found != (result.Err == nil) {
			t.Errorf("%s %s: %v", c.mode, c.find, result.Err)
		}
		if result.Err != nil && result.Err.Code != tools.CodeNoMatch {
			t.Errorf("%s %s: %v", c.mode, c.find, result.Err)
		}
	}
	// A random model: the first line, from offset on, that holds the text.
	random := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		text := randomText(random) + "zz\n"
		h.write("g", text)
		lines := linesOf(text)
		offset := 1 + random.IntN(len(lines))
		find := strings.Repeat("é", 1+random.IntN(11))
		want := slices.IndexFunc(lines[offset-1:], func(line string) bool { return strings.Contains(line, find) })
		result := h.call("read", args{"path": "g", "findText": find, "offset": offset})
		switch {
		case want < 0 && (result.Err == nil || result.Err.Code != tools.CodeNoMatch):
			t.Fatalf("%q in %q: %v %q", find, text, result.Err, textOf(result))
		case want >= 0 && (result.Err != nil || textOf(result) != strings.Join(lines[offset-1+want:], "")):
			t.Fatalf("%q from %d in %q: %v %q", find, offset, text, result.Err, textOf(result))
		}
	}
}

func TestReadScanCap(t *testing.T) {
	h := newHost(t, func(d *builtin.Deps, _ *tools.RegistryOptions) { d.Read.MaxScanBytes = 1 << 20 })
	h.write("f", strings.Repeat("0123456789abcde\n", 100_000))
	var m builtin.ReadMetadata
	text := h.ok("read", args{"path": "f", "offset": 90_000}, &m)
	if text != "[truncated by scan. Use offset=90000 to continue.]" || m.Truncation.TruncatedBy != "scan" || m.ScannedBytes != 1<<20 {
		t.Errorf("%q %+v %d", text, m.Truncation, m.ScannedBytes)
	}
	h.fails("read", args{"path": "f", "findText": "absent"}, tools.CodeLimit)
	text = h.ok("read", args{"path": "f", "limit": 1}, &m)
	if text != "0123456789abcde\n[truncated by lines. Use offset=2 to continue.]" || m.ScannedBytes > 1<<20 {
		t.Errorf("%q %d", text, m.ScannedBytes)
	}
	h.ok("read", args{"path": "f", "findText": "e", "offset": 60_000, "limit": 1}, &m)
	if m.ScannedBytes < 60_000*15 || m.ScannedBytes > 1<<20 {
		t.Errorf("finding scanned %d", m.ScannedBytes)
	}
}

func TestReadRanges(t *testing.T) {
	h := newHost(t, nil)
	var lines []string
	for i := range 100 {
		lines = append(lines, fmt.Sprintf("line %d", i+1))
	}
	h.write("f", strings.Join(lines, "\n")+"\n")
	var m builtin.ReadMetadata
	text := h.ok("read", args{"path": "f", "lineNumbers": true, "ranges": []args{{"offset": 10, "limit": 2}, {"offset": 50, "limit": 1}, {"offset": 3, "limit": 1}, {"offset": 99}}}, &m)
	want := "[lines 10-11]\n10\tline 10\n11\tline 11\n\n[lines 50-50]\n50\tline 50\n\n[lines 3-3]\n3\tline 3\n\n[lines 99-100]\n99\tline 99\n100\tline 100\n"
	if text != want || len(m.Ranges) != 4 || m.Truncation.OutputLines != 6 {
		t.Errorf("got %q %+v", text, m)
	}
	h.fails("read", args{"path": "f", "ranges": []args{{"offset": 10}, {"offset": 101}}}, tools.CodeOutOfRange)
	h.fails("read", args{"path": "f", "ranges": []args{{"offset": 10}}, "limit": 3}, tools.CodeToolInput)
	h.fails("read", args{"path": "f", "ranges": []args{}}, tools.CodeToolInput)
	h.fails("read", args{"path": "f", "ranges": slices.Repeat([]args{{"offset": 1}}, 21)}, tools.CodeToolInput)
	h.fails("read", args{"path": "f", "findMode": "exact"}, tools.CodeToolInput)
	h.fails("read", args{"path": "f", "findText": "x", "byteOffset": 3}, tools.CodeToolInput)
}

// TestReadRangesShareAPage: a range that comes when the room is used up says how
// to go on, and not that its line is too long.
func TestReadRangesShareAPage(t *testing.T) {
	h := newHost(t, nil)
	h.write("f", strings.Repeat(strings.Repeat("x", 99)+"\n", 2000)+strings.Repeat("y", 60_000)+"\n")
	result := h.call("read", args{"path": "f", "ranges": []args{{"offset": 1, "limit": 512}, {"offset": 600, "limit": 5}, {"offset": 2001}}})
	m := readMetadata(t, result)
	for i, want := range []string{"", "[no lines from 600]\n[truncated by bytes. Use offset=600 to continue.]", "[no lines from 2001]\n[Line 2001 has 60001 bytes, more than the 51200 of a page. Use offset=2001 and byteOffset=0 to read it in pieces.]"} {
		if got := result.Content[i].Text; i > 0 && got != want {
			t.Errorf("range %d: %q, want %q", i, got, want)
		}
		if got := m.Ranges[i].FirstLineExceedsLimit; got != (i == 2) {
			t.Errorf("range %d: firstLineExceedsLimit is %v", i, got)
		}
	}
}

func TestReadMacNames(t *testing.T) {
	h := newHost(t, nil)
	for _, c := range []struct{ there, given string }{
		{"Shot at 9.41.00\u202fAM.txt", "Shot at 9.41.00 AM.txt"},
		{"Zoe\u0308\u2019s notes.txt", "Zoë's notes.txt"},
		{"cafe\u0301.txt", "café.txt"},
	} {
		h.write(c.there, "found")
		if text := h.ok("read", args{"path": c.given}, nil); text != "found" {
			t.Errorf("%s: %q", c.given, text)
		}
		h.fails("edit", args{"path": c.given, "edits": []args{{"oldText": "found", "newText": "x"}}}, tools.CodeNotFound)
		h.write(c.given, "as given") // from now on it comes first
		if text := h.ok("read", args{"path": c.given}, nil); text != "as given" {
			t.Errorf("%s: %q", c.given, text)
		}
	}
}

func TestReadImages(t *testing.T) {
	chunk := func(kind string, data string) string {
		return string(binary.BigEndian.AppendUint32(nil, uint32(len(data)))) + kind + data + "CRC!"
	}
	png := "\x89PNG\r\n\x1a\n" + chunk("IHDR", strings.Repeat("\x00", 13))
	bmp := "BM\x00\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00\x28\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x01\x00\x18\x00" + strings.Repeat("\x00", 30)
	h := newHost(t, func(d *builtin.Deps, _ *tools.RegistryOptions) { d.Read.MaxImageBytes = 1000 })
	for _, c := range []struct{ name, content, mime string }{
		{"png", png + chunk("IDAT", "x"), "image/png"},
		{"animated png", png + chunk("acTL", "12345678") + chunk("IDAT", "x"), ""},
		{"jpeg", "\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x04ab", "image/jpeg"},
		{"jpeg-ls", "\xff\xd8\xff\xe0\x00\x04ab\xff\xf7\x00\x04ab\x00", ""},
		{"gif", "GIF89a\x00\x00", "image/gif"},
		{"webp", "RIFF\x00\x00\x00\x00WEBPVP8 ", "image/webp"},
		{"bmp", bmp, "image/bmp"},
		{"text that begins with BM", "BM is what this begins with, and then it goes on", "text"},
	} {
		h.write("image.txt", c.content)
		result := h.call("read", args{"path": "image.txt"})
		got := "text"
		switch {
		case result.Err != nil:
			got = ""
		case len(result.Content) == 2:
			got = result.Content[1].MIMEType
		}
		if got != c.mime {
			t.Errorf("%s: got %q, want %q (%v)", c.name, got, c.mime, result.Err)
		}
	}
	h.write("text.png", "no image")
	if text := h.ok("read", args{"path": "text.png"}, nil); text != "no image" {
		t.Errorf("an extension decided: %q", text)
	}
	h.write("big.png", png+strings.Repeat("x", 1000))
	h.fails("read", args{"path": "big.png"}, tools.CodeLimit)
}

func TestReadTransforms(t *testing.T) {
	smaller := func(_ context.Context, data []byte, mime string) ([]byte, error) {
		return []byte("\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x04ab"), nil
	}
	h := newHost(t, func(d *builtin.Deps, _ *tools.RegistryOptions) {
		d.Read.TransformImage = smaller
		d.Read.Documents = documents{}
	})
	h.write("a.gif", "GIF89a\x00\x00")
	var m builtin.ReadMetadata
	h.ok("read", args{"path": "a.gif"}, &m)
	if *m.Image != (builtin.ImageMetadata{MIMEType: "image/jpeg", Resized: true, Bytes: 14}) {
		t.Errorf("%+v", m.Image)
	}
	h.write("a.bin", "%PDF-1.7\n\x00\x00")
	m = builtin.ReadMetadata{}
	text := h.ok("read", args{"path": "a.bin", "offset": 2, "limit": 1}, &m)
	if text != "page 2\n[1 more lines in file. Use offset=3 to continue.]" || m.Document == nil || *m.Document != (builtin.DocumentInfo{Format: "pdf", Pages: 3}) {
		t.Errorf("%q %+v", text, m)
	}
}

// documents is a DocumentReader of three lines.
type documents struct{}

func (documents) ReadDocument(_ context.Context, document builtin.Document) (*builtin.DocumentText, error) {
	start := make([]byte, 5)
	if _, err := document.Data.ReadAt(start, 0); err != nil || !bytes.Equal(start, []byte("%PDF-")) {
		return nil, err
	}
	return &builtin.DocumentText{Text: "page 1\npage 2\npage 3\n", Pages: 3}, nil
}

// TestReadBounded: a page of a huge file takes no more memory than a small one.
func TestReadBounded(t *testing.T) {
	h := newHost(t, nil)
	file, err := os.Create(h.path("sparse"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString("head\n"); err != nil {
		t.Fatal(err)
	}
	// 60 MB without a line end: the line is measured, not kept.
	for range 60 {
		if _, err := file.Write(bytes.Repeat([]byte("x"), 1e6)); err != nil {
			t.Fatal(err)
		}
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	used := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			h.ok("read", args{"path": "sparse", "offset": 2}, nil)
		}
	}).AllocedBytesPerOp()
	if used > 2<<20 {
		t.Errorf("a page allocates %d bytes", used)
	}
	t.Logf("%d bytes allocated", used)
}
