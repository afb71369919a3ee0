package builtin

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/git"
)

// GitArtifact is a patch that is kept beside a result, every byte of it. Path is a file
// that `read` can show; Stored reports that the host's artifact store has it under its
// hash.
type GitArtifact struct {
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
	Path   string `json:"path,omitempty"`
	Stored bool   `json:"stored,omitempty"`
}

// keepPatch keeps a patch as an artifact: in a file, for a while. lasting asks for the
// artifact store as well, which keeps it until somebody removes it; without a directory
// for files the store is taken anyway. An artifact is a convenience to a result that
// stands without it, and where none can be had, nil.
func (g *gitTools) keepPatch(ctx context.Context, call *tools.Call, patch []byte, lasting bool) *GitArtifact {
	sum := sha256.Sum256(patch)
	kept := &GitArtifact{SHA256: hex.EncodeToString(sum[:]), Bytes: int64(len(patch))}
	if g.Artifacts != nil && (lasting || g.OutputDir == "") {
		_, err := g.Artifacts.Put(ctx, stateOwner(call), bytes.NewReader(patch))
		kept.Stored = err == nil
	}
	if g.OutputDir != "" || !kept.Stored {
		kept.Path = patchFile(g.OutputDir, patch)
	}
	if kept.Path == "" && !kept.Stored {
		return nil
	}
	return kept
}

// patchFile writes a file, mode 0600, in dir or where temporary files go; "" where that
// cannot be.
func patchFile(dir string, patch []byte) string {
	file, err := os.CreateTemp(dir, "prism-git-*.patch")
	if err != nil {
		return ""
	}
	_, err = file.Write(patch)
	if errors.Join(err, file.Close()) != nil {
		_ = os.Remove(file.Name()) // a part of a patch is worse than none
		return ""
	}
	return file.Name()
}

// hidden reports files that usually hold credentials, unless the call names them, which
// is what a policy has decided on then.
func hidden(named []string) func(path string) bool {
	return func(path string) bool {
		if !tools.IsSecretPath(path) {
			return false
		}
		for _, one := range named {
			if tools.IsSecretPath(one) && (path == one || strings.HasPrefix(path, one+"/")) {
				return false
			}
		}
		return true
	}
}

// lineTotal is how many lines a text has, the last one with or without its end.
func lineTotal(text []byte) int64 {
	n := int64(bytes.Count(text, []byte{'\n'}))
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

// firstLines cuts a text behind a line, so that neither bound is passed.
func firstLines(text []byte, lines, size int64) (head []byte, by truncatedBy) {
	end := 0
	for count := int64(0); end < len(text); count++ {
		if count == lines {
			return text[:end], byLines
		}
		next := bytes.IndexByte(text[end:], '\n') + 1
		if next == 0 {
			next = len(text) - end
		}
		if int64(end+next) > size {
			return text[:end], byBytes
		}
		end += next
	}
	return text, ""
}

// patchPage is the part of a patch that a model is shown, and what is said about the
// rest.
func patchPage(patch []byte, cut bool, kept *GitArtifact) string {
	head, by := firstLines(patch, PageLines.Default, PageBytes.Default)
	text := escapeControls(showable(head))
	if by == "" && cut {
		by = byBytes
	}
	if by == "" {
		return strings.TrimSuffix(text, "\n")
	}
	notice := fmt.Sprintf("[truncated by %s", by)
	switch {
	case kept != nil && kept.Path != "":
		notice += fmt.Sprintf(". The whole patch has %d lines: %s", lineTotal(patch), kept.Path)
	case cut:
		notice += ". The patch is too large to be kept; name paths to see less of it at once"
	}
	return withNotice(text, notice+"]")
}

// escapeControls writes control characters, but for line ends and tabs, as \xNN: a
// patch shows them and does not let them act.
func escapeControls(text []byte) string {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\r' && i+1 < len(text) && text[i+1] == '\n':
			// a line end as some systems write it
			out.WriteByte(c)
		case c < ' ' && c != '\n' && c != '\t' || c == 0x7f:
			fmt.Fprintf(&out, `\x%02x`, c)
		case c == 0xc2 && i+1 < len(text) && text[i+1] < 0xa0: // U+0080 to U+009F
			i++
			fmt.Fprintf(&out, `\x%02x`, text[i])
		default:
			out.WriteByte(c)
		}
	}
	return out.String()
}

// GitFile is a changed file of a comparison. Counts are left out for what is binary or
// unmerged. Withheld: it may hold credentials, and the patch leaves it out.
type GitFile struct {
	Path      string `json:"path"`
	OrigPath  string `json:"origPath,omitempty"`
	Status    string `json:"status"`
	Additions *int   `json:"additions,omitempty"`
	Deletions *int   `json:"deletions,omitempty"`
	Binary    bool   `json:"binary"`
	Withheld  bool   `json:"withheld,omitempty"`
}

func gitFiles(list []git.FileChange) []GitFile {
	out := make([]GitFile, 0, len(list))
	for _, f := range list {
		out = append(out, GitFile{
			Path: git.FormatPath(f.Path), OrigPath: git.FormatPath(f.OrigPath), Status: string(f.Status),
			Additions: f.Additions, Deletions: f.Deletions, Binary: f.Binary, Withheld: f.Withheld,
		})
	}
	return out
}

// fileLine is a changed file in a text.
func fileLine(f *git.FileChange) string {
	line := string(f.Status) + " " + git.DisplayPath(f.Path)
	if f.OrigPath != "" {
		line += " from " + git.DisplayPath(f.OrigPath)
	}
	if f.Additions != nil {
		line += fmt.Sprintf(" +%d -%d", *f.Additions, *f.Deletions)
	}
	return line
}
