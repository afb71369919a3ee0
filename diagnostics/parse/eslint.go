package parse

import (
	"bytes"
	"encoding/json"

	"github.com/prism-ls/prism-ls/diagnostics"
)

// eslintFile is one file of what eslint -f json writes, as far as it is read.
type eslintFile struct {
	Path     string          `json:"filePath"`
	Messages []eslintMessage `json:"messages"`
}

type eslintMessage struct {
	Rule      *string `json:"ruleId"` // null for what is no rule's, such as a syntax error
	Severity  int     `json:"severity"`
	Text      string  `json:"message"`
	Line      int     `json:"line"`
	Column    int     `json:"column"`
	EndLine   int     `json:"endLine"`
	EndColumn int     `json:"endColumn"`
}

// parseESLint reads the array that eslint -f json writes.
func parseESLint(in *Input) (*Result, error) {
	c, err := newCollector(in)
	if err != nil {
		return nil, err
	}
	err = documents(in.Output, "[", func(text []byte) (int, error) {
		var files []eslintFile
		decoder := json.NewDecoder(bytes.NewReader(text))
		if err := decoder.Decode(&files); err != nil {
			return 0, err
		}
		for i := range files {
			for j := range files[i].Messages {
				c.add(files[i].Messages[j].problem(files[i].Path))
			}
		}
		return int(decoder.InputOffset()), nil
	})
	return c.finish(), err
}

func (m *eslintMessage) problem(file string) *problem {
	p := &problem{
		file: file, line: m.Line, column: m.Column, endLine: m.EndLine, endColumn: m.EndColumn, unit: unitUTF16,
		severity: diagnostics.Error, source: "eslint", message: m.Text,
	}
	if m.Severity == 1 {
		p.severity = diagnostics.Warning
	}
	if m.Rule != nil {
		p.code = *m.Rule
	}
	return p
}
