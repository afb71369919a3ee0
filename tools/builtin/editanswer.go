package builtin

import (
	"fmt"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/edit"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// EditedFile describes one edited file.
type EditedFile struct {
	Path             string `json:"path,omitempty"`
	Diff             string `json:"diff,omitempty"`
	Patch            string `json:"patch,omitempty"`
	FirstChangedLine int    `json:"firstChangedLine,omitempty"`
	Fuzzy            bool   `json:"fuzzy,omitempty"`
	SHA256           string `json:"sha256,omitempty"`
}

// EditMetadata describes an edit: one file's fields, or a list of several.
type EditMetadata struct {
	EditedFile
	Files    []EditedFile `json:"files,omitempty"`
	DryRun   bool         `json:"dryRun,omitempty"`
	UndoID   string       `json:"undoId,omitempty"`
	Degraded string       `json:"degraded,omitempty"`
}

// editedFile is a file between matching and answering.
type editedFile struct {
	name, path, real string
	before           *workspace.Content
	result           *edit.Result
	blocks           int
}

func (f *editedFile) metadata(hash string) EditedFile {
	if hash == "" {
		hash = hexHash(f.result.Data)
	}
	change := edit.Change{OldPath: f.real, NewPath: f.real, OldMode: f.before.Mode, NewMode: f.before.Mode, Old: f.before.Data, New: f.result.Data}
	return EditedFile{
		Path: f.path, FirstChangedLine: f.result.FirstChangedLine, Fuzzy: f.result.Fuzzy, SHA256: hash,
		Diff: edit.Display(change, f.result.Spans), Patch: edit.PatchSpans(change, f.result.Spans),
	}
}

// answer makes the result of an edit, written or not.
func answer(edited []editedFile, done *workspace.Committed, in *editInput) *tools.Outcome[EditMetadata] {
	m := EditMetadata{DryRun: in.DryRun}
	if done == nil {
		done = &workspace.Committed{}
	}
	m.UndoID, m.Degraded = done.UndoID, done.Degraded
	var text []string
	for i := range edited {
		file := edited[i].metadata(done.SHA256[edited[i].real])
		text = append(text, edited[i].line(in.DryRun))
		if in.DryRun {
			text = append(text, strings.TrimSuffix(clipDiff(file.Diff), "\n"))
		}
		if in.Files == nil {
			m.EditedFile = file
		} else {
			m.Files = append(m.Files, file)
		}
	}
	return tools.Answer(strings.Join(text, "\n"), m)
}

func (f *editedFile) line(dry bool) string {
	how := ""
	if f.result.Fuzzy {
		how = " (fuzzy match)"
	}
	if dry {
		return fmt.Sprintf("Would replace %d block(s) in %s%s. Nothing was written.", f.blocks, f.name, how)
	}
	return fmt.Sprintf("Successfully replaced %d block(s) in %s%s.", f.blocks, f.name, how)
}

// clipDiff bounds what a dry run shows; metadata has all of it.
func clipDiff(diff string) string {
	most := int(PageBytes.Default)
	if len(diff) <= most {
		return diff
	}
	cut := strings.LastIndexByte(diff[:most], '\n') + 1
	return diff[:cut] + "[truncated by bytes]"
}
