package builtin

import (
	"context"
	"fmt"
	"strings"

	"github.com/prism-ls/prism-ls/diagnostics"
	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/tools"
)

type lspSeverity string

// Values lists the severities, worst first.
func (lspSeverity) Values() []string { return []string{"error", "warning", "information", "hint"} }

func (s lspSeverity) level() diagnostics.Severity {
	for level := diagnostics.Error; level <= diagnostics.Hint; level++ {
		if level.String() == string(s) {
			return level
		}
	}
	return 0
}

type lspDiagnosticsInput struct {
	Path     string      `json:"path,omitempty" jsonschema:"none: all open and changed files"`
	Severity lspSeverity `json:"severity,omitempty" jsonschema:"the mildest to show"`
}

// LSPProblem is a diagnostic at a place.
type LSPProblem struct {
	Path      string `json:"path"`
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	EndLine   int    `json:"endLine"`
	EndColumn int    `json:"endColumn"`
	Severity  string `json:"severity"`
	Source    string `json:"source"`
	Code      string `json:"code"`
	Message   string `json:"message"`
}

// LSPProducer is one run of something that found problems, or none.
type LSPProducer struct {
	ID      string `json:"id"`
	Tool    string `json:"tool"`
	Version string `json:"version,omitempty"`
	Status  string `json:"status"`
	Dropped int    `json:"dropped,omitempty"`
}

// LSPDiagnostics is the metadata of `lsp_diagnostics`.
type LSPDiagnostics struct {
	LSPAnswer
	Diagnostics []LSPProblem  `json:"diagnostics"`
	Producers   []LSPProducer `json:"producers"`
	Truncated   bool          `json:"truncated"`
	TruncatedBy string        `json:"truncatedBy,omitempty"`
}

func (l *language) diagnostics() (*tools.Tool, error) {
	spec := lspSpec("lsp_diagnostics", "Diagnostics", "Errors and warnings in a file, as it is now.")
	spec.Kind = tools.KindRead
	return lspTool(l, spec, func(ctx context.Context, _ *tools.Call, in lspDiagnosticsInput) (*tools.Outcome[LSPDiagnostics], error) {
		found, err := l.client.Diagnostics(ctx, langintel.DiagnosticsQuery{Path: in.Path, Severity: in.Severity.level()})
		if err != nil {
			return nil, err
		}
		metadata := LSPDiagnostics{LSPAnswer: lspAnswer(found.Answer), Diagnostics: lspProblems(found.Problems), Producers: []LSPProducer{}}
		if found.Snapshot != nil {
			for _, p := range found.Snapshot.Producers {
				metadata.Producers = append(metadata.Producers, LSPProducer{p.ID, p.Tool, p.Version, string(p.Status), p.Dropped})
				metadata.Truncated = metadata.Truncated || p.Dropped > 0
			}
		}
		if metadata.Truncated {
			metadata.TruncatedBy = "results"
		}
		text := problemLines(metadata.Diagnostics)
		if text == "" {
			text = "(no matches)"
		}
		return tools.Answer(metadata.caveat()+text, metadata), nil
	})
}

func lspProblems(list []langintel.Problem) []LSPProblem {
	out := make([]LSPProblem, 0, len(list))
	for _, p := range list {
		out = append(out, LSPProblem{
			Path: p.Path, Line: p.Line, Column: p.Column, EndLine: p.EndLine, EndColumn: p.EndColumn,
			Severity: p.Severity, Source: p.Source, Code: p.Code, Message: p.Message,
		})
	}
	return out
}

// problemLines writes a line a problem, in the form that compilers use.
func problemLines(list []LSPProblem) string {
	lines := make([]string, 0, len(list))
	for _, p := range list {
		line := fmt.Sprintf("%s:%d:%d: %s: %s", p.Path, p.Line, p.Column, p.Severity, strings.ReplaceAll(p.Message, "\n", " "))
		if p.Code != "" {
			line += " (" + p.Code + ")"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
