package builtin

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/prism-ls/prism-ls/diagnostics"
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/check"
	"github.com/prism-ls/prism-ls/tools/child"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// CheckDeps is what `coding_check` stands on. It owns none of it.
type CheckDeps struct {
	// Checks run; required. Where they tell their definitions (as *check.Runner
	// does), the policy sees the program and its arguments.
	Checks check.Checks
	// Content returns a file by its path, for the columns of diagnostics; nil leaves
	// columns in the units that the tools count in. See SourceOf.
	Content func(path string) ([]byte, bool)
	// SpillDir holds whole outputs that were truncated; see ShellOptions.
	SpillDir string
	// MaxLines and MaxBytes bound the text: PageLines and PageBytes.
	MaxLines, MaxBytes int64
}

// definitions is what tells what a check runs.
type definitions interface {
	Definition(name string) (check.Definition, error)
}

// SourceOf returns the files of a workspace as check.Options and CheckDeps take
// them: contained, regular, and of 8 MiB at most.
func SourceOf(ws *workspace.Workspace) func(path string) ([]byte, bool) {
	const most = 8 << 20
	return func(path string) ([]byte, bool) {
		at, err := ws.Parse("./" + path)
		if err != nil {
			return nil, false
		}
		content, err := ws.ReadFile(context.Background(), at, most)
		if err != nil {
			return nil, false
		}
		return content.Data, true
	}
}

type checkInput struct {
	Name string `json:"name" check:"nonempty"`
}

// CheckProblem is a diagnostic of a check, in the form of `lsp_diagnostics`.
type CheckProblem = LSPProblem

// CheckMetadata describes a check that has run.
type CheckMetadata struct {
	Name string `json:"name"`
	// ExitCode is nil when a signal, a timeout or the caller ended the check.
	ExitCode         *int       `json:"exitCode"`
	Signal           string     `json:"signal,omitempty"`
	Passed           bool       `json:"passed"`
	DurationMS       int64      `json:"durationMs"`
	Truncation       Truncation `json:"truncation"`
	TotalOutputBytes int64      `json:"totalOutputBytes"`
	FullOutputPath   string     `json:"fullOutputPath,omitempty"`
	// Diagnostics is there when the check has a parser, the worst first.
	Diagnostics *[]CheckProblem `json:"diagnostics,omitempty"`
	// ParseError says why the diagnostics are not all that there are.
	ParseError string              `json:"parseError,omitempty"`
	Sandbox    *child.Capabilities `json:"sandbox,omitempty"`
}

type checkTool struct{ CheckDeps }

// CodingCheck returns the tool `coding_check`, of the toolset "git", over a host's
// named checks. Its description names them.
func CodingCheck(deps *CheckDeps) ([]*tools.Tool, error) {
	if deps == nil || deps.Checks == nil {
		return nil, tools.Errorf(tools.CodeToolInput, "coding_check needs checks")
	}
	t := &checkTool{*deps}
	if err := settle(bound{&t.MaxLines, PageLines}, bound{&t.MaxBytes, PageBytes}); err != nil {
		return nil, err
	}
	spec := tools.Spec{
		Name: "coding_check", Title: "Run check", Toolset: "git", Kind: tools.KindExecute, Effect: tools.RunsAnything,
		Description: "Run a named check of this workspace to its end. " + t.declared(),
	}
	tool, err := tools.New(spec, t.plan, t.run)
	return []*tools.Tool{tool}, err
}

func (t *checkTool) declared() string {
	names := t.Checks.Names()
	if len(names) == 0 {
		return "None is declared."
	}
	return "Declared: " + strings.Join(names, ", ") + "."
}

func (t *checkTool) plan(_ context.Context, _ *tools.Call, in checkInput) (tools.Action, error) {
	action := tools.Action{Risk: tools.RiskMedium, Command: in.Name}
	if told, ok := t.Checks.(definitions); ok {
		d, err := told.Definition(in.Name)
		if err != nil {
			return action, err
		}
		action.Command, action.Args, action.Env = d.File, d.Args, d.Env
		if d.Dir != "" {
			action.Paths = []string{d.Dir}
		}
	}
	return action, nil
}

func (t *checkTool) run(ctx context.Context, call *tools.Call, in checkInput) (*tools.Outcome[CheckMetadata], error) {
	defer heartbeat(call, 0, "check "+in.Name+" runs")()
	result, err := t.Checks.Run(ctx, in.Name)
	if result == nil {
		return nil, err
	}
	return t.describe(result, err != nil), err
}

// describe makes the result of a check. One that was ended keeps no whole output.
func (t *checkTool) describe(result *check.Result, failed bool) *tools.Outcome[CheckMetadata] {
	m := CheckMetadata{
		Name: result.Name, Signal: result.Signal, DurationMS: result.Duration.Milliseconds(), TotalOutputBytes: result.TotalBytes,
		ParseError: plainText(result.ParseError), Sandbox: result.Sandbox,
	}
	if !failed && result.Signal == "" {
		m.ExitCode, m.Passed = &result.ExitCode, result.Passed()
	}
	var parts []string
	lines, size := t.MaxLines, t.MaxBytes
	if result.Diagnostics != nil {
		problems := t.problems(result.Diagnostics)
		m.Diagnostics = &problems
		if text := problemPage(problems); text != "" {
			parts = append(parts, text)
			lines, size = min(lines, besideProblems.lines), min(size, besideProblems.bytes)
		}
	}
	out := newOutput(lines, size, PageBytes.Hard+result.TotalBytes, t.SpillDir)
	_, _ = out.Write([]byte(result.Output)) // what cannot be kept whole is still shown
	text, truncation := out.render()
	if result.Truncated && !truncation.Truncated {
		truncation.Truncated, truncation.TruncatedBy = true, byBytes
	}
	m.Truncation = truncation
	switch {
	case result.Document && result.Diagnostics != nil && m.ParseError == "":
		if len(parts) == 0 {
			parts = append(parts, "(no problems)")
		}
		truncation.Truncated = false // the document is nothing to read
	case len(parts) > 0 && text != "":
		parts = append(parts, "", "[The end of the output:]", strings.TrimSuffix(text, "\n"))
	case text != "":
		parts = append(parts, strings.TrimSuffix(text, "\n"))
	case len(parts) == 0:
		parts = append(parts, "(no output)")
	}
	if truncation.Truncated {
		parts = append(parts, fmt.Sprintf("[truncated by %s]", truncation.TruncatedBy))
	}
	if failed {
		out.discard()
	} else if m.FullOutputPath = out.keep(truncation.Truncated); m.FullOutputPath != "" {
		parts = append(parts, fmt.Sprintf("[Full output: %s]", m.FullOutputPath))
	}
	return tools.Answer(strings.Join(append(parts, verdict(&m)...), "\n"), m)
}

// besideProblems is how much output is shown when its problems are.
var besideProblems = struct{ lines, bytes int64 }{40, 4 << 10}

// verdict is how it ended, in lines.
func verdict(m *CheckMetadata) []string {
	var lines []string
	if m.ParseError != "" {
		lines = append(lines, "[Not all problems are listed: "+m.ParseError+"]")
	}
	switch {
	case m.Passed:
		lines = append(lines, fmt.Sprintf("[Check %s passed in %.1f s]", m.Name, float64(m.DurationMS)/1000))
	case m.Signal != "":
		lines = append(lines, fmt.Sprintf("[Command killed by signal: %s]", m.Signal))
	case m.ExitCode != nil:
		lines = append(lines, fmt.Sprintf("[Command exited with code %d]", *m.ExitCode))
	}
	return lines
}

// problems puts diagnostics into the form of the wire: lines and columns from 1,
// columns in code points.
func (t *checkTool) problems(list []diagnostics.Diagnostic) []CheckProblem {
	files := map[string][][]byte{}
	line := func(path string, n int) []byte {
		lines, ok := files[path]
		if !ok && t.Content != nil {
			if text, found := t.Content(path); found {
				lines = bytes.Split(text, []byte{'\n'})
			}
			files[path] = lines
		}
		if n < 0 || n >= len(lines) {
			return nil
		}
		return lines[n]
	}
	out := make([]CheckProblem, 0, len(list))
	for i := range list {
		d := &list[i]
		start, end := d.Range.Start, d.Range.End
		out = append(out, CheckProblem{
			Path: d.Path, Line: start.Line + 1, Column: start.Column(line(d.Path, start.Line)),
			EndLine: end.Line + 1, EndColumn: end.Column(line(d.Path, end.Line)),
			Severity: d.Severity.String(), Source: d.Source, Code: d.Code, Message: d.Message,
		})
	}
	return out
}

// The bounds of the problems that a text shows; metadata has all.
const (
	pageProblems = 100
	problemBytes = 20 << 10
)

// problemPage lists problems, a line each, and says how many more there are.
func problemPage(list []CheckProblem) string {
	shown := list[:min(len(list), pageProblems)]
	text := problemLines(shown)
	for len(text) > problemBytes && len(shown) > 1 {
		shown = shown[:len(shown)/2]
		text = problemLines(shown)
	}
	if left := len(list) - len(shown); left > 0 {
		text += fmt.Sprintf("\n[%d more problems]", left)
	}
	return text
}
