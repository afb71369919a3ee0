package procsess

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/tools"
)

func TestKeys(t *testing.T) {
	for names, want := range map[string]string{
		"enter": "\r", "Return": "\r", "tab": "\t", "backtab": "\x1b[Z", "shift-tab": "\x1b[Z", "S-Tab": "\x1b[Z",
		"escape": "\x1b", "ESC": "\x1b", "backspace": "\x7f", "ctrl-backspace": "\b", "alt-backspace": "\x1b\x7f",
		"delete": "\x1b[3~", "DEL": "\x1b[3~", "insert": "\x1b[2~", "space": " ", " ": " ",
		"home": "\x1b[H", "end": "\x1b[F", "pageup": "\x1b[5~", "pgup": "\x1b[5~", "Page-Up": "\x1b[5~", "page_down": "\x1b[6~", "PgDn": "\x1b[6~",
		"up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C", "left": "\x1b[D", "ArrowLeft": "\x1b[D",
		"shift-up": "\x1b[1;2A", "alt-down": "\x1b[1;3B", "alt-shift-left": "\x1b[1;4D", "ctrl-right": "\x1b[1;5C", "Ctrl+Left": "\x1b[1;5D",
		"ctrl-shift-home": "\x1b[1;6H", "ctrl-alt-end": "\x1b[1;7F", "ctrl-alt-shift-up": "\x1b[1;8A",
		"ctrl-delete": "\x1b[3;5~", "shift-pageup": "\x1b[5;2~",
		"f1": "\x1bOP", "f2": "\x1bOQ", "f3": "\x1bOR", "F4": "\x1bOS", "f5": "\x1b[15~", "f6": "\x1b[17~", "f10": "\x1b[21~",
		"f11": "\x1b[23~", "f12": "\x1b[24~", "f13": "\x1b[25~", "f15": "\x1b[28~", "f16": "\x1b[29~", "f17": "\x1b[31~", "f20": "\x1b[34~",
		"shift-f1": "\x1b[1;2P", "ctrl-f5": "\x1b[15;5~",
		"ctrl-a": "\x01", "Ctrl-C": "\x03", "C-c": "\x03", "^C": "\x03", "^c": "\x03", "control-z": "\x1a", "ctrl-d": "\x04",
		"ctrl-space": "\x00", "ctrl-@": "\x00", "ctrl-[": "\x1b", "ctrl-\\": "\x1c", `^\`: "\x1c", "ctrl-]": "\x1d", "ctrl-^": "\x1e", "ctrl-_": "\x1f",
		"ctrl-/": "\x1f", "ctrl-?": "\x7f", "^?": "\x7f",
		"alt-x": "\x1bx", "alt-X": "\x1bX", "M-x": "\x1bx", "Meta+x": "\x1bx", "alt-enter": "\x1b\r", "alt-escape": "\x1b\x1b", "ctrl-alt-x": "\x1b\x18",
		"alt--": "\x1b-", "alt-ä": "\x1bä", "shift-a": "A", "alt-shift-a": "\x1bA",
		"a": "a", "Z": "Z", "-": "-", "+": "+", "^": "^", "ä": "ä", "字": "字", "7": "7",
	} {
		got, err := encodeKeys([]string{names}, false)
		if err != nil || string(got) != want {
			t.Errorf("%s is %q (%v), want %q", names, got, err, want)
		}
	}
	got, err := encodeKeys([]string{"up", "home", "end", "ctrl-left", "delete", "f1", "enter"}, true)
	if want := "\x1bOA\x1bOH\x1bOF\x1b[1;5D\x1b[3~\x1bOP\r"; err != nil || string(got) != want {
		t.Errorf("in application cursor mode %q (%v), want %q", got, err, want)
	}
	for c := 'a'; c <= 'z'; c++ {
		if got, err := encodeKeys([]string{fmt.Sprintf("ctrl-%c", c)}, false); err != nil || string(got) != string(c-'a'+1) {
			t.Errorf("ctrl-%c is %q (%v)", c, got, err)
		}
	}
}

func TestUnknownKeys(t *testing.T) {
	for name, hint := range map[string]string{
		"entr": `"enter"`, "pageupp": `"pageup"`, "ctrl-entr": `"enter"`, "f21": `"f1"`, "": "there is no such key",
		"shift-enter": "only for enter itself", "ctrl-1": "ctrl-a to ctrl-z", "shift-1": "the character itself", "ctrl-shift-c": "without shift",
		"\x00": "there is no such key", "\xff": "there is no such key", "ctrl-": "there is no such key", "hello": "there is no such key",
		strings.Repeat("x", 5000): "xxx…",
	} {
		got, err := encodeKeys([]string{"a", name}, false)
		if !errors.Is(err, tools.CodeToolInput) || got != nil {
			t.Errorf("%q gave %q, %v", name, got, err)
			continue
		}
		if !strings.Contains(err.Error(), hint) || len(err.Error()) > 250 {
			t.Errorf("%q: %v, want a word of %s", name, err, hint)
		}
	}
}
