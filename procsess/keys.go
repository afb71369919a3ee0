package procsess

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/prism-ls/prism-ls/tools"
)

// modifiers are the keys held down with another one, as the bits that xterm adds
// to 1 in its sequences (ctlseqs, "PC-Style Function Keys").
type modifiers int

const (
	shift modifiers = 1 << iota
	alt
	control
)

// functionKey is a key that sends an escape sequence.
type functionKey struct {
	// final is the last byte; with number it is "CSI number final".
	final  byte
	number int
	// cursor: the sequence begins with SS3 in application cursor mode (DECCKM).
	// ss3: it always does, without modifiers.
	cursor, ss3 bool
}

// functionKeys are xterm's sequences. F13 to F20 are the VT220's.
var functionKeys = map[string]functionKey{
	"up": {final: 'A', cursor: true}, "down": {final: 'B', cursor: true},
	"right": {final: 'C', cursor: true}, "left": {final: 'D', cursor: true},
	"home": {final: 'H', cursor: true}, "end": {final: 'F', cursor: true},
	"insert": {final: '~', number: 2}, "delete": {final: '~', number: 3},
	"pageup": {final: '~', number: 5}, "pagedown": {final: '~', number: 6},
	"f1": {final: 'P', ss3: true}, "f2": {final: 'Q', ss3: true},
	"f3": {final: 'R', ss3: true}, "f4": {final: 'S', ss3: true},
	"f5": {final: '~', number: 15}, "f6": {final: '~', number: 17},
	"f7": {final: '~', number: 18}, "f8": {final: '~', number: 19},
	"f9": {final: '~', number: 20}, "f10": {final: '~', number: 21},
	"f11": {final: '~', number: 23}, "f12": {final: '~', number: 24},
	"f13": {final: '~', number: 25}, "f14": {final: '~', number: 26},
	"f15": {final: '~', number: 28}, "f16": {final: '~', number: 29},
	"f17": {final: '~', number: 31}, "f18": {final: '~', number: 32},
	"f19": {final: '~', number: 33}, "f20": {final: '~', number: 34},
}

// controlKeys are the keys that send one control character.
var controlKeys = map[string]string{
	"enter": "\r", "tab": "\t", "escape": "\x1b", "backspace": "\x7f", "space": " ",
}

// keyAliases are other names in use for the same keys.
var keyAliases = map[string]string{
	"return": "enter", "ret": "enter", "cr": "enter", "esc": "escape", "del": "delete", "ins": "insert",
	"pgup": "pageup", "pgdn": "pagedown", "pgdown": "pagedown", "prior": "pageup", "next": "pagedown",
	"bs": "backspace", "bspace": "backspace", "spc": "space", "spacebar": "space", "shifttab": "backtab", "btab": "backtab",
	"arrowup": "up", "arrowdown": "down", "arrowleft": "left", "arrowright": "right",
	"uparrow": "up", "downarrow": "down", "leftarrow": "left", "rightarrow": "right",
}

// modifierNames are what may stand before a key and "-" or "+".
var modifierNames = map[string]modifiers{
	"ctrl": control, "control": control, "c": control,
	"alt": alt, "meta": alt, "m": alt, "option": alt, "opt": alt, "a": alt,
	"shift": shift, "s": shift,
}

// encodeKeys returns the bytes that xterm sends for keys. A key is a name, with
// modifiers before it, in any case ("enter", "Ctrl-C", "shift+tab", "M-x", "^D"),
// or one printable character. In application cursor mode (DECCKM) arrows, home and
// end are sent differently. CodeToolInput: no key is called that, or a terminal
// has no bytes for it; the error names the key and the nearest known one.
func encodeKeys(keys []string, applicationCursor bool) ([]byte, error) {
	var out []byte
	for _, name := range keys {
		held, key := parseKey(name)
		sequence, reason := keySequence(held, key, applicationCursor)
		if reason != "" {
			return nil, tools.Errorf(tools.CodeToolInput, "key %s: %s", quoteKey(name), reason)
		}
		out = append(out, sequence...)
	}
	return out, nil
}

// quoteKey shows a name that may be anything.
func quoteKey(name string) string {
	const most = 40
	if utf8.RuneCountInString(name) > most {
		name = string([]rune(name)[:most]) + "…"
	}
	return strconv.Quote(name)
}

// parseKey takes modifiers off a name and returns what is left as the tables have
// it. The case of a single character is kept: alt-X is not alt-x.
func parseKey(name string) (modifiers, string) {
	var held modifiers
	if runes := []rune(name); len(runes) == 2 && runes[0] == '^' {
		held, name = control, string(runes[1])
	}
	for {
		at := strings.IndexAny(name, "-+")
		if at <= 0 || at == len(name)-1 {
			break
		}
		modifier, ok := modifierNames[strings.ToLower(name[:at])]
		if !ok {
			break
		}
		held |= modifier
		name = name[at+1:]
	}
	if utf8.RuneCountInString(name) == 1 {
		if name == " " {
			name = "space"
		}
		return held, name
	}
	name = strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(name))
	if known, ok := keyAliases[name]; ok {
		name = known
	}
	if name == "backtab" {
		return held | shift, "tab"
	}
	return held, name
}

// keySequence returns what a key sends, or why there is nothing to send.
func keySequence(held modifiers, key string, applicationCursor bool) (sequence, reason string) {
	if function, ok := functionKeys[key]; ok {
		return function.sequence(held, applicationCursor), ""
	}
	if plain, ok := controlKeys[key]; ok {
		sequence, reason = controlSequence(held&^alt, key, plain)
	} else {
		sequence, reason = characterSequence(held&^alt, key)
	}
	if held&alt != 0 && reason == "" {
		sequence = "\x1b" + sequence
	}
	return sequence, reason
}

func (k functionKey) sequence(held modifiers, applicationCursor bool) string {
	switch {
	case held == 0 && (k.ss3 || k.cursor && applicationCursor):
		return "\x1bO" + string(k.final)
	case held == 0 && k.number == 0:
		return "\x1b[" + string(k.final)
	case held == 0:
		return "\x1b[" + strconv.Itoa(k.number) + string(k.final)
	}
	return "\x1b[" + strconv.Itoa(max(k.number, 1)) + ";" + strconv.Itoa(1+int(held)) + string(k.final)
}

// controlSequence is for keys whose modifiers mostly cannot be told apart by what
// is sent: rather than send something else, it refuses.
func controlSequence(held modifiers, key, plain string) (sequence, reason string) {
	switch {
	case held == 0:
		return plain, ""
	case key == "tab" && held == shift:
		return "\x1b[Z", ""
	case key == "space" && held == control:
		return "\x00", ""
	case key == "backspace" && held == control:
		return "\b", ""
	}
	return "", "a terminal has no bytes for it with these modifiers, only for " + key + " itself or with alt"
}

// characterSequence is for single printable characters.
func characterSequence(held modifiers, key string) (sequence, reason string) {
	r, size := utf8.DecodeRuneInString(key)
	if size == 0 || size != len(key) || r == utf8.RuneError || !unicode.IsGraphic(r) {
		return "", "there is no such key" + nearestKey(key)
	}
	switch held {
	case 0:
		return key, ""
	case shift:
		if upper := unicode.ToUpper(r); upper != r || unicode.IsUpper(r) {
			return string(upper), ""
		}
		return "", "what shift makes of it depends on the keyboard, give the character itself"
	case control:
		if code, ok := controlCode(r); ok {
			return string(code), ""
		}
		return "", "only ctrl-a to ctrl-z and ctrl with one of @ [ \\ ] ^ _ ? / or space have a control character"
	}
	return "", "a terminal does not tell it from the same without shift"
}

// controlCode is the control character of a key (ECMA-48 §5.2, and xterm's "/").
func controlCode(r rune) (rune, bool) {
	switch r = unicode.ToUpper(r); {
	case r >= '@' && r <= '_':
		return r - '@', true
	case r == '?':
		return 0x7f, true
	case r == '/':
		return 0x1f, true
	}
	return 0, false
}

// nearestKey suggests a name for one that is not known.
func nearestKey(name string) string {
	known := []string{"backtab"}
	for key := range functionKeys {
		known = append(known, key)
	}
	for key := range controlKeys {
		known = append(known, key)
	}
	const longest = 40 // a longer name is no mistyped one
	if len(name) <= longest {
		if near := tools.Nearest(name, known); near != "" {
			return near
		}
	}
	return "; keys are enter, tab, escape, backspace, arrows (up), home, pageup, f1 to f20, ctrl-a, alt-x or one character"
}
