package policy

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/url"
	"slices"
	"strings"
)

// minSecret is the shortest secret that is looked for: anything shorter stands
// in ordinary text by chance.
const minSecret = 8

// Mask stands where a secret was.
const Mask = "[redacted]"

// Redactor takes known secrets out of text: as they are, in base64 at each of
// its three alignments (RFC 4648 §4 and §5), and as URLs and JSON spell them.
// It matches exactly, so it protects against slips, not against a program that
// sets out to disguise a secret.
type Redactor struct {
	needles [][]byte // longest first
	longest int
}

// NewRedactor makes a redactor of those secrets; those shorter than eight
// bytes are left out.
func NewRedactor(secrets []string) *Redactor {
	r := &Redactor{}
	seen := map[string]bool{}
	add := func(needle string) {
		if len(needle) >= minSecret && !seen[needle] {
			seen[needle] = true
			r.needles = append(r.needles, []byte(needle))
			r.longest = max(r.longest, len(needle))
		}
	}
	for _, secret := range secrets {
		secret = strings.TrimSpace(secret)
		if len(secret) < minSecret {
			continue
		}
		add(secret)
		add(url.QueryEscape(secret))
		add(url.PathEscape(secret))
		if text, err := json.Marshal(secret); err == nil {
			add(string(text[1 : len(text)-1]))
		}
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			for alignment := range 3 {
				add(aligned(encoding, secret, alignment))
			}
		}
	}
	slices.SortFunc(r.needles, func(a, b []byte) int { return len(b) - len(a) })
	return r
}

// aligned returns the characters of base64 text that depend on nothing but the
// secret, when the secret starts alignment bytes after a group of three.
func aligned(encoding *base64.Encoding, secret string, alignment int) string {
	text := encoding.EncodeToString(append(make([]byte, alignment), secret...))
	first := (alignment*8 + 5) / 6
	last := (alignment + len(secret)) * 8 / 6
	return text[first:last]
}

// Redact returns the text with Mask in place of secrets.
func (r *Redactor) Redact(text []byte) []byte {
	for _, needle := range r.needles {
		if bytes.Contains(text, needle) {
			text = bytes.ReplaceAll(text, needle, []byte(Mask))
		}
	}
	return text
}

// Writer returns a writer that redacts what passes through, secrets that are
// split over several writes included. Close writes what was held back, and
// does not close w.
func (r *Redactor) Writer(w io.Writer) io.WriteCloser { return &redactingWriter{r: r, w: w} }

type redactingWriter struct {
	r    *Redactor
	w    io.Writer
	held []byte
}

func (rw *redactingWriter) Write(p []byte) (int, error) {
	rw.held = rw.r.Redact(append(rw.held, p...))
	keep := rw.r.partial(rw.held)
	if _, err := rw.w.Write(rw.held[:len(rw.held)-keep]); err != nil {
		return 0, err
	}
	rw.held = append([]byte(nil), rw.held[len(rw.held)-keep:]...)
	return len(p), nil
}

// partial returns the length of the longest end of text that a secret could
// start with.
func (r *Redactor) partial(text []byte) int {
	for n := min(r.longest-1, len(text)); n > 0; n-- {
		end := text[len(text)-n:]
		for _, needle := range r.needles {
			if bytes.HasPrefix(needle, end) {
				return n
			}
		}
	}
	return 0
}

func (rw *redactingWriter) Close() error {
	_, err := rw.w.Write(rw.held)
	rw.held = nil
	return err
}
