package policy

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"testing"
)

const secret = `gh p_0123/456+789"é?tail`

func TestRedactForms(t *testing.T) {
	r := NewRedactor([]string{secret, "short"})
	quoted, err := json.Marshal(secret)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{
		"plain": "a " + secret + " b",
		"query": url.QueryEscape(secret),
		"path":  url.PathEscape(secret),
		"json":  string(quoted),
	}
	for alignment := range 3 {
		before := strings.Repeat("x", alignment)
		texts["base64+"+before] = base64.StdEncoding.EncodeToString([]byte(before + secret + "after"))
		texts["base64url+"+before] = base64.URLEncoding.EncodeToString([]byte(before + secret + "after"))
	}
	for name, text := range texts {
		if got := string(r.Redact([]byte(text))); !strings.Contains(got, Mask) {
			t.Errorf("%s: %q was not redacted", name, text)
		}
	}
	if got := string(r.Redact([]byte("a short text"))); got != "a short text" {
		t.Errorf("a short secret was redacted: %q", got)
	}
}

func TestRedactAcrossChunks(t *testing.T) {
	r := NewRedactor([]string{secret})
	text := "before " + secret + secret[:5] + " between " + secret + " after"
	want := strings.ReplaceAll(text, secret, Mask)
	for size := 1; size < len(text); size++ {
		var out bytes.Buffer
		w := r.Writer(&out)
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			if _, err := w.Write([]byte(rest[:n])); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if out.String() != want {
			t.Fatalf("chunks of %d: %q", size, out.String())
		}
	}
}
