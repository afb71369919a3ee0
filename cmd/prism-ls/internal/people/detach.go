package people

import (
	"bytes"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
)

// ParseDetachKeys reads the keys that detach, one after the other: "ctrl-]", or
// "ctrl-p,ctrl-q". A key is one letter, digit or sign, or ctrl- and one of @, a to
// z, [, \, ], ^ and _.
func ParseDetachKeys(text string) ([]byte, error) {
	var keys []byte
	for _, name := range strings.Split(text, ",") {
		key := strings.ToLower(strings.TrimSpace(name))
		rest, ctrl := strings.CutPrefix(key, "ctrl-")
		switch {
		case ctrl && len(rest) == 1 && (rest[0] >= 'a' && rest[0] <= 'z' || strings.Contains(`@[\]^_`, rest)):
			keys = append(keys, rest[0]&0x1f)
		case !ctrl && len(name) == 1 && name[0] > ' ' && name[0] <= '~':
			keys = append(keys, name[0])
		default:
			return nil, tools.Errorf(tools.CodeToolInput, "detach key %q must be one sign, or ctrl- and one of a to z @ [ \\ ] ^ _", name)
		}
	}
	return keys, nil
}

// detacher finds the keys in what a person types, in however many pieces.
type detacher struct {
	keys []byte
	seen int // how many of them came last
}

// take returns what goes to the program, and whether the keys came. Of an
// incomplete sequence nothing goes yet.
func (d *detacher) take(p []byte) (typed []byte, detached bool) {
	for _, c := range p {
		if len(d.keys) > 0 && c == d.keys[d.seen] {
			if d.seen++; d.seen == len(d.keys) {
				return typed, true
			}
			continue
		}
		// What came so far may end with the beginning of the keys.
		held := append(bytes.Clone(d.keys[:d.seen]), c)
		for d.seen = min(len(held)-1, len(d.keys)-1); d.seen > 0; d.seen-- {
			if bytes.HasPrefix(d.keys, held[len(held)-d.seen:]) {
				break
			}
		}
		d.seen = max(d.seen, 0)
		if d.seen == 0 && len(d.keys) > 0 && c == d.keys[0] {
			d.seen = 1
		}
		typed = append(typed, held[:len(held)-d.seen]...)
	}
	return typed, false
}
