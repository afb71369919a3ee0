package git

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/prism-ls/prism-ls/tools"
)

func TestPathForms(t *testing.T) {
	for path, want := range map[string]string{
		"a b":        "a b",
		"it's":       "it's",
		`say "hi".c`: `say "hi".c`,
		`"a".txt`:    `"a".txt`,
		`"`:          `"`,
		"-x":         "-x",
		"a\tb":       "a\tb",
		"🙂":          "🙂",
		"\uFFFD":     "\uFFFD",
		`"a"`:        `"\"a\""`,
		"a\nb":       `"a\nb"`,
		"caf\xe9":    `"caf\351"`,
		"é\xff\\":    `"é\377\\"`,
		"~root":      `"~root"`,
		"file:/x":    `"file:/x"`,
	} {
		if got := FormatPath(path); got != want {
			t.Errorf("%q is written %s, want %s", path, got, want)
		}
	}
	if got := DisplayPath("a\tb\x1b[1m\u202e"); got != `"a\tb\033[1m\342\200\256"` {
		t.Errorf("shown as %s", got)
	}
	for _, bad := range []string{"a\nb", `"\000"`} {
		if _, _, err := ParsePath(bad); !errors.Is(err, tools.CodeToolInput) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func FuzzPathForm(f *testing.F) {
	for _, seed := range []string{"a", `"`, `"\`, "\xff", "a\"b\\", `"\"a\""`, "~", "\a\v\u0085", "\xf0\x9f\x99"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		if strings.IndexByte(path, 0) >= 0 {
			return
		}
		for _, form := range []string{FormatPath(path), DisplayPath(path)} {
			if !utf8.ValidString(form) {
				t.Fatalf("%q is written as %q, which JSON cannot hold", path, form)
			}
			text, err := json.Marshal(form)
			must(t, err)
			var through string
			must(t, json.Unmarshal(text, &through))
			if back, _, err := ParsePath(through); err != nil || back != path {
				t.Fatalf("%q became %s and came back as %q, %v", path, form, back, err)
			}
		}
	})
}
