package git

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
)

// rawDiff reads what git prints for --raw --numstat -p -z: the records of the files,
// their line counts in the same order, a NUL, the patch (git-diff(1), "Raw output
// format", "Other diff formats").
type rawDiff struct {
	diff     *Diff
	g        *Repository
	unmerged []string // relative to the top
	rest     []byte
	cut      bool
}

// parse reads all of it. cut says that the output ends somewhere in the middle.
func (r *rawDiff) parse(text []byte, cut bool) error {
	r.rest, r.cut = text, cut
	for len(r.rest) > 0 && r.rest[0] == ':' {
		ok, err := r.record()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
	}
	counted := len(r.diff.Files)
	for i := len(r.unmerged); i < counted && r.count(&r.diff.Files[i]); i++ {
	}
	for i := range r.diff.Files {
		if f := &r.diff.Files[i]; f.Additions != nil {
			r.diff.Additions += *f.Additions
			r.diff.Deletions += *f.Deletions
		}
	}
	r.diff.Total = counted
	switch {
	case len(r.rest) == 0:
	case r.rest[0] == 0:
		r.diff.Patch = wholeLines(r.rest[1:], cut)
	case !cut:
		return r.malformed()
	}
	return nil
}

func (r *rawDiff) malformed() error {
	return tools.Errorf(tools.CodeGitFailed, "git diff printed %q, which is not its raw format", r.rest[:min(len(r.rest), 80)])
}

// field takes the text up to the next NUL; ok is false where there is none.
func (r *rawDiff) field() (text string, ok bool) {
	end := bytes.IndexByte(r.rest, 0)
	if end < 0 {
		r.rest = nil
		return "", false
	}
	text, r.rest = string(r.rest[:end]), r.rest[end+1:]
	return text, true
}

// record reads ":oldmode newmode oldid newid status" and the path or two of it, or the
// record with two colons that a file with a conflict has.
func (r *rawDiff) record() (ok bool, err error) {
	head, ok := r.field()
	path, ok2 := r.field()
	if !ok || !ok2 {
		return false, r.ifWhole()
	}
	if strings.HasPrefix(head, "::") {
		r.unmerged = append(r.unmerged, path)
		if rel, inside := r.g.Inside(path); inside {
			path = rel
		}
		r.diff.Files = append(r.diff.Files, FileChange{Path: path, Status: ChangeUnmerged})
		return true, nil
	}
	fields := strings.Fields(head[1:])
	if len(fields) != 5 {
		return false, r.malformed()
	}
	f := FileChange{Path: path, OldMode: mode(fields[0]), NewMode: mode(fields[1])}
	if f.Status, ok = changeStatus(fields[4][0]); !ok {
		return false, tools.Errorf(tools.CodeGitFailed, "git diff printed the status %q, which is not one of its own", fields[4])
	}
	if f.Status == ChangeRenamed || f.Status == ChangeCopied {
		f.OrigPath = path
		if f.Path, ok = r.field(); !ok {
			return false, r.ifWhole()
		}
	}
	r.diff.Files = append(r.diff.Files, f)
	return true, nil
}

func (r *rawDiff) ifWhole() error {
	if r.cut {
		return nil
	}
	return r.malformed()
}

// count reads "additions TAB deletions TAB path", or with two paths behind for what was
// renamed. Counts are "-" for a binary file.
func (r *rawDiff) count(f *FileChange) (ok bool) {
	line, ok := r.field()
	fields := strings.SplitN(line, "\t", 3)
	if !ok || len(fields) != 3 {
		return false
	}
	if fields[2] == "" {
		if _, ok = r.field(); ok {
			_, ok = r.field()
		}
	}
	if f.Status == ChangeUnmerged {
		return ok
	}
	added, errA := strconv.Atoi(fields[0])
	deleted, errD := strconv.Atoi(fields[1])
	if f.Binary = errA != nil || errD != nil; !f.Binary {
		f.Additions, f.Deletions = &added, &deleted
	}
	return ok
}

// withheld is a patch without the parts of the files that withhold names.
func withheld(patch []byte, withhold func(path string) bool) []byte {
	var kept []byte
	for len(patch) > 0 {
		end := nextSection(patch)
		section := patch[:end]
		patch = patch[end:]
		hide := false
		for _, name := range sectionNames(section) {
			hide = hide || withhold(name)
		}
		if !hide {
			kept = append(kept, section...)
		}
	}
	return kept
}

// sectionHeads begin the part of one file. Lines of content begin with a space or one
// of "+-\@", so that nothing in a file can look like one; only a binary patch has
// other lines, and in those no space.
func sectionHeads() [][]byte {
	return [][]byte{[]byte("diff --git "), []byte("diff --cc "), []byte("diff --combined "), []byte("* Unmerged path ")}
}

func startsSection(line []byte) bool {
	for _, head := range sectionHeads() {
		if bytes.HasPrefix(line, head) {
			return true
		}
	}
	return false
}

// nextSection is where the second part of a patch begins, or its length.
func nextSection(patch []byte) int {
	for at := 0; ; {
		end := bytes.IndexByte(patch[at:], '\n')
		if end < 0 {
			return len(patch)
		}
		at += end + 1
		if startsSection(patch[at:]) {
			return at
		}
	}
}

// sectionNames are the paths that the head of a file's part names.
func sectionNames(section []byte) []string {
	var names []string
	add := func(name, prefix string) {
		name = strings.TrimSuffix(name, "\t")
		if plain, ok := unquotePath(name); ok {
			name = plain
		}
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			names = append(names, rest)
		}
	}
	first, rest, _ := strings.Cut(string(section), "\n")
	for line := range strings.Lines(rest) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "@@") {
			break
		}
		for _, head := range [][2]string{{"--- ", "a/"}, {"+++ ", "b/"}, {"rename from ", ""}, {"rename to ", ""}, {"copy from ", ""}, {"copy to ", ""}} {
			if name, ok := strings.CutPrefix(line, head[0]); ok {
				add(name, head[1])
			}
		}
	}
	for _, head := range sectionHeads()[1:] {
		if name, ok := strings.CutPrefix(first, string(head)); ok {
			add(name, "")
		}
	}
	// Without those lines both names are the same: "a/NAME b/NAME", or both quoted.
	if both, ok := strings.CutPrefix(first, "diff --git "); ok && len(names) == 0 && len(both)%2 == 1 {
		add(both[:len(both)/2], "a/")
	}
	return names
}
