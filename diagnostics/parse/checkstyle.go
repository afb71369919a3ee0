package parse

import (
	"bytes"
	"encoding/xml"
	"strings"
)

type checkstyleReport struct {
	XMLName xml.Name         `xml:"checkstyle"`
	Files   []checkstyleFile `xml:"file"`
}

type checkstyleFile struct {
	Name   string            `xml:"name,attr"`
	Errors []checkstyleError `xml:"error"`
}

type checkstyleError struct {
	Line     string `xml:"line,attr"`
	Column   string `xml:"column,attr"`
	Severity string `xml:"severity,attr"`
	Message  string `xml:"message,attr"`
	Source   string `xml:"source,attr"`
}

// parseCheckstyle reads the XML report of Checkstyle, which many linters write.
func parseCheckstyle(in *Input) (*Result, error) {
	c, err := newCollector(in)
	if err != nil {
		return nil, err
	}
	err = documents(in.Output, "<", func(text []byte) (int, error) {
		var report checkstyleReport
		decoder := xml.NewDecoder(bytes.NewReader(text))
		if err := decoder.Decode(&report); err != nil {
			return 0, err
		}
		for i := range report.Files {
			for j := range report.Files[i].Errors {
				if e := &report.Files[i].Errors[j]; e.Severity != "ignore" {
					c.add(e.problem(report.Files[i].Name))
				}
			}
		}
		return int(decoder.InputOffset()), nil
	})
	return c.finish(), err
}

func (e *checkstyleError) problem(file string) *problem {
	p := &problem{file: file, unit: unitRune, severity: severityOf(e.Severity), code: e.Source, message: e.Message}
	p.line, _, _ = number(e.Line)
	p.column, _, _ = number(e.Column)
	switch {
	case strings.HasPrefix(e.Source, "eslint."):
		p.source, p.code, p.unit = "eslint", strings.TrimPrefix(e.Source, "eslint.rules."), unitUTF16
	case strings.HasPrefix(e.Source, "com.puppycrawl.tools.checkstyle"):
		// It counts a tab up to the next multiple of its option tabWidth, which is 8.
		p.source, p.unit = "checkstyle", unitTabs
		_, p.code, _ = cutLast(e.Source, ".")
	}
	return p
}
