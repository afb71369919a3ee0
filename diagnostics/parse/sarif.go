package parse

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
	"strings"

	"github.com/prism-ls/prism-ls/diagnostics"
)

// parseSARIF reads a log of SARIF 2.1.0 (OASIS standard, sections as noted).
func parseSARIF(in *Input) (*Result, error) {
	c, err := newCollector(in)
	if err != nil {
		return nil, err
	}
	err = documents(in.Output, "{", func(text []byte) (int, error) {
		var log sarifLog
		decoder := json.NewDecoder(bytes.NewReader(text))
		if err := decoder.Decode(&log); err != nil {
			return 0, err
		}
		if !strings.HasPrefix(log.Version, "2.") {
			return 0, errors.New("it says of itself that it has version " + strconv.Quote(log.Version) + ", must be 2.1.0")
		}
		for i := range log.Runs {
			run := &log.Runs[i]
			for j := range run.Results {
				if result := &run.Results[j]; result.stands() {
					c.add(run.problem(result))
				}
			}
		}
		return int(decoder.InputOffset()), nil
	})
	return c.finish(), err
}

type sarifLog struct {
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool struct {
		Driver struct {
			Name  string      `json:"name"`
			Rules []sarifRule `json:"rules"`
		} `json:"driver"`
	} `json:"tool"`
	Columns   string                   `json:"columnKind"`
	Bases     map[string]sarifArtifact `json:"originalUriBaseIds"`
	Artifacts []struct {
		Location sarifArtifact `json:"location"`
	} `json:"artifacts"`
	Results []sarifResult `json:"results"`
}

type sarifRule struct {
	ID       string                  `json:"id"`
	Messages map[string]sarifMessage `json:"messageStrings"`
	Default  struct {
		Level string `json:"level"`
	} `json:"defaultConfiguration"`
}

type sarifResult struct {
	RuleID       string                    `json:"ruleId"`
	RuleIndex    *int                      `json:"ruleIndex"`
	Rule         struct{ ID string }       `json:"rule"`
	Kind         string                    `json:"kind"`
	Level        string                    `json:"level"`
	State        string                    `json:"baselineState"`
	Message      sarifMessage              `json:"message"`
	Locations    []sarifLocation           `json:"locations"`
	Related      []sarifLocation           `json:"relatedLocations"`
	Suppressions []struct{ Status string } `json:"suppressions"`
}

type sarifMessage struct {
	Text      string   `json:"text"`
	Markdown  string   `json:"markdown"`
	ID        string   `json:"id"`
	Arguments []string `json:"arguments"`
}

type sarifLocation struct {
	Message  sarifMessage `json:"message"`
	Physical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   struct {
			StartLine   int `json:"startLine"`
			StartColumn int `json:"startColumn"`
			EndLine     int `json:"endLine"`
			EndColumn   int `json:"endColumn"`
		} `json:"region"`
	} `json:"physicalLocation"`
}

type sarifArtifact struct {
	URI   string `json:"uri"`
	Base  string `json:"uriBaseId"`
	Index *int   `json:"index"`
}

// stands reports whether a result is a problem: not what passed (§3.27.9), not what
// is gone (§3.27.24), and not what a person has accepted (§3.35).
func (r *sarifResult) stands() bool {
	if r.Kind != "" && r.Kind != "fail" && r.Kind != "open" && r.Kind != "review" || r.State == "absent" {
		return false
	}
	for _, s := range r.Suppressions {
		if s.Status == "" || s.Status == "accepted" {
			return false
		}
	}
	return true
}

func (run *sarifRun) problem(result *sarifResult) *problem {
	rule := run.rule(result)
	p := &problem{}
	if len(result.Locations) > 0 {
		*p = run.place(&result.Locations[0])
	}
	p.source, p.code, p.message = run.Tool.Driver.Name, rule.ID, result.Message.text(&rule)
	level := result.Level
	if level == "" {
		level = rule.Default.Level
	}
	switch level { // §3.27.10: warning when nothing is said
	case "error":
		p.severity = diagnostics.Error
	case "note", "none":
		p.severity = diagnostics.Information
	default:
		p.severity = diagnostics.Warning
	}
	for i := range result.Related {
		related := run.place(&result.Related[i])
		related.message = result.Related[i].Message.text(&rule)
		p.related = append(p.related, related)
	}
	return p
}

// rule returns the rule of a result, of which at least the id is known.
func (run *sarifRun) rule(result *sarifResult) sarifRule {
	id := result.RuleID
	if id == "" {
		id = result.Rule.ID
	}
	rules := run.Tool.Driver.Rules
	if at := result.RuleIndex; at != nil && *at >= 0 && *at < len(rules) && (id == "" || id == rules[*at].ID || strings.HasPrefix(id, rules[*at].ID+"/")) {
		rule := rules[*at]
		if id != "" {
			rule.ID = id // it may say more than its rule does (§3.27.5)
		}
		return rule
	}
	for i := range rules {
		if id != "" && rules[i].ID == id {
			return rules[i]
		}
	}
	return sarifRule{ID: id}
}

// place reads a location. Columns are characters unless the run says otherwise
// (§3.14.17).
func (run *sarifRun) place(l *sarifLocation) problem {
	region := &l.Physical.Region
	p := problem{
		file: run.file(l.Physical.Artifact), line: region.StartLine, column: region.StartColumn,
		endLine: region.EndLine, endColumn: region.EndColumn, unit: unitRune,
	}
	switch {
	case run.Columns == "utf16CodeUnits":
		p.unit = unitUTF16
	case run.Columns == "" && run.Tool.Driver.Name == "Staticcheck":
		p.unit = unitByte // as all of Go's tools
	}
	return p
}

// maxBases bounds how long a chain of base URIs is followed.
const maxBases = 8

// file resolves where an artifact is (§3.4): an absolute path, or one relative to
// where the tool ran, which is also what a base without a URI is taken for.
func (run *sarifRun) file(a sarifArtifact) string {
	if a.URI == "" && a.Index != nil && *a.Index >= 0 && *a.Index < len(run.Artifacts) {
		a = run.Artifacts[*a.Index].Location
	}
	name, base := a.URI, a.Base
	for range maxBases {
		from, ok := run.Bases[base]
		if base == "" || !ok || hasScheme(name) || strings.HasPrefix(name, "/") {
			break
		}
		name, base = from.URI+name, from.Base
	}
	return uriPath(name)
}

func hasScheme(uri string) bool {
	parsed, err := url.Parse(uri)
	return err == nil && len(parsed.Scheme) > 1 // one letter is a drive
}

// uriPath returns the path that a URI reference names, or "" where it names no
// file. What is no URI is a path as it stands.
func uriPath(uri string) string {
	parsed, err := url.Parse(uri)
	switch {
	case err != nil, len(parsed.Scheme) == 1:
		return uri
	case parsed.Scheme == "file" || parsed.Scheme == "":
		return parsed.Path
	}
	return ""
}

// text is a message in words (§3.11): its own, or those of its rule with the
// arguments put in.
func (m *sarifMessage) text(rule *sarifRule) string {
	text := m.Text
	if text == "" && m.ID != "" {
		known := rule.Messages[m.ID]
		if text = known.Text; text == "" {
			text = known.Markdown
		}
	}
	if text == "" {
		text = m.Markdown
	}
	if len(m.Arguments) == 0 {
		return text
	}
	pairs := make([]string, 0, 2*len(m.Arguments))
	for i, argument := range m.Arguments {
		pairs = append(pairs, "{"+strconv.Itoa(i)+"}", argument)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
