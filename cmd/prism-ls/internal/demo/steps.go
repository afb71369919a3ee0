package demo

import (
	"strings"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/builtin"
)

// suffix makes the new name from the old one.
const suffix = "Renamed"

// place is a request of a language tool.
type place struct {
	Path     string `json:"path"`
	Line     int    `json:"line,omitempty"`
	Symbol   string `json:"symbol,omitempty"`
	NewName  string `json:"newName,omitempty"`
	Severity string `json:"severity,omitempty"`
}

// tries is how many candidates are looked at: text alone does not tell who uses
// a symbol.
const tries = 12

// find looks for the first candidate that several files use, and shows it.
func (s *show) find() (candidate, error) {
	candidates, err := pick(s.Scratch)
	if err != nil {
		return candidate{}, err
	}
	for _, c := range candidates[:min(len(candidates), tries)] {
		where := place{Path: c.file, Line: c.line, Symbol: c.name}
		var uses builtin.LSPLocations
		listed, listing, err := s.call("lsp_references", where, &uses)
		if err != nil {
			return candidate{}, err
		}
		for _, file := range uses.Files {
			if file != c.file {
				c.user = file
			}
		}
		if c.user == "" {
			continue
		}
		var found builtin.LSPHover
		_, asking, err := s.call("lsp_hover", where, &found)
		if err != nil {
			return candidate{}, err
		}
		s.title("find "+c.name, "lsp_hover", asking)
		s.printf("     %s:%d  %s\n", c.file, c.line, firstLine(found.Signature))
		s.title("its references", "lsp_references", listing)
		s.indent(listed.Content[0].Text, 14)
		if uses.Status != "complete" {
			return candidate{}, tools.Errorf(tools.CodeLSPServer, "the references are %s: %s", uses.Status, uses.Reason)
		}
		return c, nil
	}
	return candidate{}, tools.Errorf(tools.CodeNotFound, "there is no exported Go function or type here that %d to %d files use; name another repository: prism-ls demo DIR", fewest, most)
}

func (s *show) rename(c candidate) (undoID string, err error) {
	var done builtin.LSPChange
	_, err = s.step("rename it to "+c.name+suffix, "lsp_rename", place{Path: c.file, Line: c.line, Symbol: c.name, NewName: c.name + suffix}, &done)
	if err != nil {
		return "", err
	}
	s.printf("     %d edits in %d files\n", done.Edits, len(done.Files))
	s.indent(done.Patch, 16)
	s.printf("     problems (%s): %d introduced, %d fixed, %d unchanged, %d unknown\n",
		done.Delta.Status, len(done.Delta.Introduced), len(done.Delta.Fixed), done.Delta.Unchanged, done.Delta.Unknown)
	for _, problem := range done.Delta.Introduced { // a warning is worth seeing: a server does not rename everything
		s.printf("     %s:%d:%d: %s: %s\n", problem.Path, problem.Line, problem.Column, problem.Severity, firstLine(problem.Message))
		if problem.Severity == "error" {
			return "", tools.Errorf(tools.CodeLSPServer, "the rename introduced an error: %s", problem.Message)
		}
	}
	return done.UndoID, nil
}

// build compiles the copy with a command that an agent would run. Paths are
// trimmed, so that the compiler's cache serves every later run.
func (s *show) build() error {
	const command = "go build -trimpath ./..."
	var done builtin.ShellMetadata
	result, err := s.step(command, "shell", map[string]string{"command": command}, &done)
	if err != nil {
		return err
	}
	if done.ExitCode == nil || *done.ExitCode != 0 {
		s.indent(result.Content[0].Text, 20)
		return tools.Errorf(tools.CodeLSPServer, "the renamed code does not build")
	}
	contained := "without a sandbox"
	if done.Sandbox != nil && done.Sandbox.FilesystemIsolated {
		contained = "in a sandbox: writes stay in the copy"
		if done.Sandbox.NetworkIsolated {
			contained += ", no network"
		}
	}
	s.printf("     exit 0, %s\n", contained)
	return nil
}

// mistake renames the declaration alone, as a text edit would, sees the server
// say what that broke, and takes it back.
func (s *show) mistake(c candidate) error {
	type edit struct {
		OldText string `json:"oldText"`
		NewText string `json:"newText"`
	}
	var edited builtin.EditMetadata
	_, err := s.step("now the same by hand, in one file", "edit", struct {
		Path  string `json:"path"`
		Edits []edit `json:"edits"`
	}{c.file, []edit{{c.text + suffix, c.text}}}, &edited)
	if err != nil {
		return err
	}
	s.indent(edited.Diff, 6)
	var seen builtin.LSPDiagnostics
	result, err := s.step("what the server says to that", "lsp_diagnostics", place{Path: c.user, Severity: "error"}, &seen)
	if err != nil {
		return err
	}
	if len(seen.Diagnostics) == 0 {
		return tools.Errorf(tools.CodeLSPServer, "%s should have errors now, and has none", c.user)
	}
	s.indent(result.Content[0].Text, 4)
	return s.undo("take that back", edited.UndoID)
}

func (s *show) undo(title, id string) error {
	var done builtin.UndoMetadata
	if _, err := s.step(title, "undo", map[string]string{"undoId": id}, &done); err != nil {
		return err
	}
	s.printf("     %s\n", strings.Join(done.Files, ", "))
	return nil
}

// indent prints the first lines of a text.
func (s *show) indent(text string, most int) {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for _, line := range lines[:min(len(lines), most)] {
		s.printf("     %s\n", line)
	}
	if len(lines) > most {
		s.printf("     … %d more lines\n", len(lines)-most)
	}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
