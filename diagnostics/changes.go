package diagnostics

import "slices"

// Side is one of the two states that are compared.
type Side int

// The sides.
const (
	Base Side = iota
	Head
)

// FileMap says which file of the head is which file of the base. It is one to
// one; a copy is a new file.
type FileMap interface {
	// ToHead gives the head's name of the base's file; false: it is gone.
	ToHead(base string) (head string, ok bool)
	// ToBase gives the base's name of the head's file; false: it is new.
	ToBase(head string) (base string, ok bool)
}

// FileChange is one file whose name is not the same on both sides. Old is empty
// for a created file, New for a deleted one.
type FileChange struct {
	Old string
	New string
}

// FileChanges is a FileMap: the files it was made from, and every other file
// under its own name.
type FileChanges struct {
	toHead  map[string]string
	toBase  map[string]string
	differs map[string]bool // base names whose content changed; nil: not known
}

// NewFileChanges makes a FileMap. Two files that swapped names are two changes.
// A name that an earlier change claimed keeps its partner there; the later
// change's other file is then a new or a deleted one.
func NewFileChanges(changes ...FileChange) *FileChanges {
	m := &FileChanges{toHead: map[string]string{}, toBase: map[string]string{}}
	for _, c := range changes {
		if _, taken := m.toHead[c.Old]; taken {
			c.Old = ""
		}
		if _, taken := m.toBase[c.New]; taken {
			c.New = ""
		}
		if c.Old != "" {
			m.toHead[c.Old] = c.New
		}
		if c.New != "" {
			m.toBase[c.New] = c.Old
		}
	}
	return m
}

// Identical implements [Identities].
func (m *FileChanges) Identical(base string) bool { return m.differs != nil && !m.differs[base] }

// Identities is what a FileMap may know beside names: that a file's content is
// the same on both sides, so that it need not be read.
type Identities interface {
	Identical(base string) bool
}

// ToHead implements FileMap.
func (m *FileChanges) ToHead(base string) (string, bool) { return follow(base, m.toHead, m.toBase) }

// ToBase implements FileMap.
func (m *FileChanges) ToBase(head string) (string, bool) { return follow(head, m.toBase, m.toHead) }

// follow maps a name; a name that only stands on the other side has no partner
// here, since something else took it or it moved away.
func follow(name string, there, back map[string]string) (string, bool) {
	if to, ok := there[name]; ok {
		return to, to != ""
	}
	if _, taken := back[name]; taken {
		return "", false
	}
	return name, true
}

// Hunk is one block of lines that another took the place of: OldLines lines from
// OldStart in the base became NewLines lines from NewStart in the head. Lines are
// 0-based; a pure insertion has OldLines 0 and stands before line OldStart.
type Hunk struct {
	OldStart int
	OldLines int
	NewStart int
	NewLines int
}

// LineMap says which lines of a file changed, where the caller knows it exactly.
// Without one, [Compare] works it out from the [Contents].
type LineMap interface {
	// Hunks gives the changed blocks of the file that the base calls base, in
	// ascending order and without overlap. None: its lines are the same.
	Hunks(base string) []Hunk
}

// Hunks is a LineMap: hunks by the base's path.
type Hunks map[string][]Hunk

// Hunks implements LineMap.
func (h Hunks) Hunks(base string) []Hunk { return h[base] }

// Contents gives the text of files: to find out which lines changed, to pair
// lines inside a changed block, to follow moved blocks, and for the source line
// below a diagnostic.
type Contents interface {
	// Content returns the whole file, or false when it is not at hand.
	Content(side Side, path string) ([]byte, bool)
}

// SymbolRename is a name that was replaced by another everywhere it stood for
// the same symbol. Both are bare identifiers as they stand in the source, without
// package or type.
type SymbolRename struct {
	Old string
	New string
}

// lineMap maps the line numbers of one file.
type lineMap struct{ hunks []Hunk }

// toHead gives the head's number of a line that did not change, or the hunk that
// took it.
func (m lineMap) toHead(line int) (mapped int, hunk int) {
	// The first hunk that ends after line.
	i, _ := slices.BinarySearchFunc(m.hunks, line, func(h Hunk, line int) int {
		if h.OldStart+h.OldLines <= line {
			return -1
		}
		return 1
	})
	if i < len(m.hunks) && m.hunks[i].OldStart <= line {
		return -1, i
	}
	if i == 0 {
		return line, -1
	}
	before := m.hunks[i-1]
	return line - (before.OldStart + before.OldLines) + before.NewStart + before.NewLines, -1
}

// invert maps the other way.
func (m lineMap) invert() lineMap {
	inverse := make([]Hunk, len(m.hunks))
	for i, h := range m.hunks {
		inverse[i] = Hunk{OldStart: h.NewStart, OldLines: h.NewLines, NewStart: h.OldStart, NewLines: h.OldLines}
	}
	return lineMap{inverse}
}

// validate reports whether the hunks are ascending, apart and finite.
func (m lineMap) validate() bool {
	oldEnd, newEnd := 0, 0
	for _, h := range m.hunks {
		if h.OldLines < 0 || h.NewLines < 0 || h.OldStart < oldEnd || h.NewStart < newEnd {
			return false
		}
		// Unchanged runs between hunks have one length on both sides.
		if h.OldStart-oldEnd != h.NewStart-newEnd {
			return false
		}
		oldEnd, newEnd = h.OldStart+h.OldLines, h.NewStart+h.NewLines
	}
	return true
}
