package diagnostics

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// RawChange is one record of `git diff-tree -r -z --raw -M50%` (git-diff-tree(1),
// "Raw output format").
type RawChange struct {
	Status  byte // A added, C copied, D deleted, M modified, R renamed, T type changed, U unmerged
	Score   int  // similarity of C and R, in percent
	OldMode string
	NewMode string
	OldID   string // 40 or 64 hexadecimal digits; zeros where there is no blob
	NewID   string
	Old     string // path; empty for A
	New     string // path; empty for D
}

// ParseRawDiff reads the output of `git diff-tree -r -z --raw -M50%` on two trees
// or one commit. It refuses combined diffs (-c, --cc), abbreviated object ids and
// whatever else does not have the form.
func ParseRawDiff(output []byte) ([]RawChange, error) {
	fields := strings.Split(string(output), "\x00")
	if last := len(fields) - 1; fields[last] != "" {
		return nil, fmt.Errorf("diagnostics: the raw diff ends within %q; it must end with a NUL, as -z makes it", fields[last])
	}
	fields = fields[:len(fields)-1]
	if len(fields) > 0 && isObjectID(fields[0]) {
		fields = fields[1:] // one commit was asked about: git says which
	}
	var changes []RawChange
	for len(fields) > 0 {
		c, err := parseRawHeader(fields[0])
		if err != nil {
			return nil, err
		}
		paths := 1
		if c.Status == 'C' || c.Status == 'R' {
			paths = 2
		}
		if len(fields) <= paths || slices.Contains(fields[1:1+paths], "") {
			return nil, fmt.Errorf("diagnostics: the raw diff has no path behind %q", fields[0])
		}
		c.Old, c.New = fields[1], fields[paths]
		switch c.Status {
		case 'A':
			c.Old = ""
		case 'D':
			c.New = ""
		}
		changes = append(changes, c)
		fields = fields[1+paths:]
	}
	return changes, nil
}

// parseRawHeader reads ":100644 100644 <id> <id> R086".
func parseRawHeader(text string) (RawChange, error) {
	wrong := fmt.Errorf("diagnostics: %q is not the header of a raw diff record; use --raw -z with full object ids, and not -c", text)
	rest, ok := strings.CutPrefix(text, ":")
	parts := strings.Split(rest, " ")
	if !ok || len(parts) != 5 || !isMode(parts[0]) || !isMode(parts[1]) ||
		!isObjectID(parts[2]) || !isObjectID(parts[3]) || parts[4] == "" {
		return RawChange{}, wrong
	}
	c := RawChange{OldMode: parts[0], NewMode: parts[1], OldID: parts[2], NewID: parts[3], Status: parts[4][0]}
	switch c.Status {
	case 'A', 'D', 'T', 'U', 'M', 'C', 'R': // M may have a score, of a rewrite (-B)
	default:
		return RawChange{}, wrong
	}
	if score := parts[4][1:]; score != "" {
		var err error
		if c.Score, err = strconv.Atoi(score); err != nil || !allDigits(score) || c.Score > 100 {
			return RawChange{}, wrong
		}
	}
	return c, nil
}

func isMode(text string) bool { return len(text) == 6 && allDigits(text) }

func isObjectID(text string) bool {
	if len(text) != 40 && len(text) != 64 {
		return false
	}
	return len(bytes.TrimLeft([]byte(text), "0123456789abcdef")) == 0
}

// RawFiles makes the file map of a raw diff that lists every difference of the
// two trees: files keep their names but for what it says, and what it does not
// mention is equal on both sides. Where a name is claimed twice, equal content
// comes before similar, and the more similar before the less. A copy is a new
// file.
func RawFiles(changes []RawChange) *FileChanges {
	ordered := slices.Clone(changes)
	slices.SortStableFunc(ordered, func(a, b RawChange) int {
		return cmp.Or(cmp.Compare(boolInt(b.OldID == b.NewID), boolInt(a.OldID == a.NewID)),
			cmp.Compare(b.Score, a.Score), cmp.Compare(a.New, b.New), cmp.Compare(a.Old, b.Old))
	})
	var list []FileChange
	differs := map[string]bool{}
	for _, c := range ordered {
		switch c.Status {
		case 'C':
			list = append(list, FileChange{New: c.New})
		case 'A', 'D', 'R':
			list = append(list, FileChange{Old: c.Old, New: c.New})
		}
		if c.Old != "" && c.Status != 'C' && c.OldID != c.NewID {
			differs[c.Old] = true
		}
	}
	m := NewFileChanges(list...)
	m.differs = differs
	return m
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
