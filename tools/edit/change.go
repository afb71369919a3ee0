package edit

import (
	"bytes"
	"io/fs"
	"strings"
	"unicode/utf8"
)

// Change is one file before and after.
type Change struct {
	// OldPath and NewPath are slash-separated and relative to the root. An
	// empty OldPath means that the file is new, an empty NewPath that it is
	// gone; two different paths are a rename.
	OldPath, NewPath string
	// OldMode and NewMode are the file's modes; 0 stands for 0644. Of the
	// permission bits git knows only the owner's execute bit.
	OldMode, NewMode fs.FileMode
	// Old and New are the contents, for a symbolic link its target.
	Old, New []byte
}

// gitMode returns a mode as git writes it.
func gitMode(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return "120000"
	case mode&0o100 != 0:
		return "100755"
	}
	return "100644"
}

// sameType reports whether git can express the change of mode within one file.
func (c *Change) sameType() bool {
	return c.OldMode&fs.ModeSymlink == c.NewMode&fs.ModeSymlink
}

// header writes what stands before the contents of c, and reports whether
// there is anything to say about the contents.
func (c *Change) header(b *strings.Builder) bool {
	oldPath, newPath := c.OldPath, c.NewPath
	if oldPath == "" {
		oldPath = newPath
	}
	if newPath == "" {
		newPath = oldPath
	}
	differs := !bytes.Equal(c.Old, c.New)
	oldMode, newMode := gitMode(c.OldMode), gitMode(c.NewMode)
	var extended string
	switch {
	case c.OldPath == "":
		extended = "new file mode " + newMode + "\n"
	case c.NewPath == "":
		extended = "deleted file mode " + oldMode + "\n"
	default:
		if oldMode != newMode {
			extended = "old mode " + oldMode + "\nnew mode " + newMode + "\n"
		}
		if oldPath != newPath {
			if !differs {
				extended += "similarity index 100%\n"
			}
			extended += "rename from " + quote("", oldPath) + "\nrename to " + quote("", newPath) + "\n"
		}
		if extended == "" && !differs {
			return false
		}
	}
	b.WriteString("diff --git " + quote("a/", oldPath) + " " + quote("b/", newPath) + "\n" + extended)
	return differs
}

// names writes the --- and +++ lines.
func (c *Change) names(b *strings.Builder) {
	b.WriteString("--- " + c.name("a/", c.OldPath) + "\n+++ " + c.name("b/", c.NewPath) + "\n")
}

func (c *Change) name(prefix, path string) string {
	if path == "" {
		return "/dev/null"
	}
	name := quote(prefix, path)
	if strings.Contains(name, " ") {
		name += "\t" // else what follows a space may be taken for a date
	}
	return name
}

// quote writes a path as git does: plain, or between double quotes with C
// escapes if it holds control characters, quotes or backslashes (git-config(1),
// core.quotePath). Bytes that are not UTF-8 are escaped, so that a patch stays
// text; other non-ASCII is not.
func quote(prefix, path string) string {
	const escapes = "abtnvfr" // of 0x07 to 0x0d
	var b strings.Builder
	quoted := false
	for i := 0; i < len(path); {
		r, size := utf8.DecodeRuneInString(path[i:])
		c := path[i]
		switch {
		case c == '"' || c == '\\':
			quoted = true
			b.WriteByte('\\')
			b.WriteByte(c)
		case c >= 7 && c <= 13:
			quoted = true
			b.WriteByte('\\')
			b.WriteByte(escapes[c-7])
		case c < ' ' || c == 0x7f || r == utf8.RuneError && size == 1:
			quoted = true
			b.WriteByte('\\')
			b.WriteByte('0' + c>>6)
			b.WriteByte('0' + c>>3&7)
			b.WriteByte('0' + c&7)
		default:
			b.WriteString(path[i : i+size])
		}
		i += size
	}
	if quoted {
		return `"` + prefix + b.String() + `"`
	}
	return prefix + path
}
