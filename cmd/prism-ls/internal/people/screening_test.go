package people

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestScreening: a person's terminal is never asked anything, and shows the rest.
func TestScreening(t *testing.T) {
	for _, c := range []struct{ name, from, want string }{
		{"text", "plain €\r\n", "plain €\r\n"},
		{"colour", "\x1b[1;31mred\x1b[0m", "\x1b[1;31mred\x1b[0m"},
		{"no-break space", "a\u00a0b", "a\u00a0b"},
		{"cursor position", "a\x1b[6nb\x1b[?6nc\x1b[5nd", "abcd"},
		{"attributes", "a\x1b[cb\x1b[0cc\x1b[>cd\x1b[=ce\x1bZf", "abcdef"},
		{"version and modes", "a\x1b[>qb\x1b[>0qc\x1b[?2026$pd\x1b[4$pe", "abcde"},
		{"cursor shape is no version", "\x1b[5 q", "\x1b[5 q"},
		{"window reports", "a\x1b[18tb\x1b[14;2tc\x1b[21td\x1b[8;40;120te", "abcd\x1b[8;40;120te"},
		{"clipboard", "a\x1b]52;c;cm0gLXJmCg==\x07b\x1b]52;c;?\x1b\\c", "abc"},
		{"colours asked", "a\x1b]11;?\x07b\x1b]4;1;?\x1b\\c\x1b]10;#fff\x07", "abc\x1b]10;#fff\x07"},
		{"title", "\x1b]0;what? now\x07x", "\x1b]0;what? now\x07x"},
		{"capabilities", "a\x1bP+q544e\x1b\\b\x1bP$qm\x1b\\c", "abc"},
		{"keyboard", "a\x1b[>1ub\x1b[?uc\x1b[>4;2md\x1b[ue", "abcd\x1b[ue"},
		{"as one character", "a\u009b6nb\u009d52;c;eA==\u009cc\u009b1mz", "abc\x1b[1mz"},
		{"a sequence in a sequence", "a\x1b[1\x1b[6nb", "a\x1b[1b"},
		{"a query that breaks a string off", "\x1b]0;title\x1b[6nx\x1b[1my", "\x1b]0;titlex\x1b[1my"},
		{"a query behind a long string", "\x1bPq" + strings.Repeat("~", 9000) + "\x1b[6nx", "\x1bPq" + strings.Repeat("~", 9000) + "x"},
		{"ended by CAN", "\x1b[12\x18x", "\x1b[12\x18x"},
		{"a picture", "\x1bPq" + strings.Repeat("#0~~", 9000) + "\x1b\\x", "\x1bPq" + strings.Repeat("#0~~", 9000) + "\x1b\\x"},
		{"a huge clipboard", "a\x1b]52;c;" + strings.Repeat("A", 30000) + "\x07b", "ab"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := string(new(screening).pass(nil, []byte(c.from))); got != c.want {
				t.Errorf("%.200q became %.200q, want %.200q", c.from, got, c.want)
			}
			for range 20 { // in any pieces
				var s screening
				var got []byte
				for rest := []byte(c.from); len(rest) > 0; {
					n := min(len(rest), 1+rand.IntN(5))
					got, rest = s.pass(got, slices.Clone(rest[:n])), rest[n:]
				}
				if string(got) != c.want {
					t.Fatalf("in pieces %.200q became %.200q, want %.200q", c.from, got, c.want)
				}
			}
		})
	}
}

func TestScreeningReset(t *testing.T) {
	var s screening
	s.pass(nil, []byte("\x1b[?1049;1000h\x1b[?25l\x1b[?2004h\x1b[?2004l\x1b[?7h\x1b[31m"))
	got := string(s.reset())
	for _, want := range []string{"\x1b[?1049l", "\x1b[?1000l", "\x1b[?25h", "\x1b[m"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
	if strings.Contains(got, "2004") || strings.Contains(got, "?7") {
		t.Errorf("%q takes back what is as it should be", got)
	}
	if got := new(screening).reset(); len(got) != 0 {
		t.Errorf("nothing happened, and %q is reset", got)
	}
}

func FuzzScreening(f *testing.F) {
	f.Add([]byte("a\x1b[6n\x1b]52;c;eA==\x07\u009b6n"), uint8(3))
	f.Fuzz(func(t *testing.T, p []byte, size uint8) {
		var s screening
		var got []byte
		for rest := slices.Clone(p); len(rest) > 0; {
			n := min(len(rest), int(size)+1)
			got, rest = s.pass(got, rest[:n]), rest[n:]
		}
		for _, query := range []string{"\x1b[6n", "\x1b[c", "\x1b[>c", "\x1b]52;"} {
			if strings.Contains(string(got), query) {
				t.Errorf("%q lets %q through", p, query)
			}
		}
	})
}

func TestDetachKeys(t *testing.T) {
	for text, want := range map[string]string{"ctrl-]": "\x1d", "ctrl-p,ctrl-q": "\x10\x11", "ctrl-@": "\x00", "q": "q", "Ctrl-A, d": "\x01d"} {
		if text == "Ctrl-A, d" { // a sign stands alone, so a space before it is refused
			if _, err := ParseDetachKeys(text); err == nil {
				t.Errorf("%q was taken", text)
			}
			continue
		}
		if got, err := ParseDetachKeys(text); err != nil || string(got) != want {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "ctrl-", "ctrl-1", "esc", "ctrl-p,", "é"} {
		if got, err := ParseDetachKeys(text); err == nil {
			t.Errorf("%q gave %q", text, got)
		}
	}
	for _, c := range []struct {
		keys, typed, want string
		detached          bool
	}{
		{"\x1d", "ls\r", "ls\r", false},
		{"\x1d", "ls\x1dx", "ls", true},
		{"\x10\x11", "a\x10b", "a\x10b", false},
		{"\x10\x11", "a\x10\x10\x11b", "a\x10", true},
		{"aab", "aaab", "a", true},
		{"aab", "aac", "aac", false},
		{"aab", "abaab", "ab", true},
		{"", "abc", "abc", false},
	} {
		for size := 1; size <= len(c.typed); size++ {
			d, got, detached := detacher{keys: []byte(c.keys)}, "", false
			for rest := c.typed; len(rest) > 0 && !detached; {
				n := min(size, len(rest))
				var typed []byte
				typed, detached = d.take([]byte(rest[:n]))
				got, rest = got+string(typed), rest[n:]
			}
			if got != c.want || detached != c.detached {
				t.Errorf("%q typed into %q, %d at a time: %q, %v; want %q, %v", c.typed, c.keys, size, got, detached, c.want, c.detached)
			}
		}
	}
}
