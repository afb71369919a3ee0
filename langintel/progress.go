package langintel

import (
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// progressTokens follows what a server says it is working on (LSP 3.17
// §workDoneProgress).
type progressTokens struct {
	session *session

	mu      sync.Mutex
	open    map[string]string // token → title
	ended   time.Time         // when the last one ended
	message string
	percent int
}

const maxTokens = 1000

func (t *progressTokens) init(v *session) {
	t.session, t.open = v, map[string]string{}
}

func (t *progressTokens) take(params []byte) {
	var p progressParams
	if decodeJSON(params, &p) != nil {
		return
	}
	token := string(p.Token)
	report := Progress{Server: t.session.spec.Name, Message: oneLine(p.Value.Message, 300), Percent: -1}
	if p.Value.Percentage != nil {
		report.Percent = *p.Value.Percentage
	}
	t.mu.Lock()
	switch p.Value.Kind {
	case "begin":
		if len(t.open) < maxTokens {
			t.open[token] = oneLine(p.Value.Title, 200)
		}
	case "end":
		delete(t.open, token)
		t.ended = time.Now()
		report.Done = true
	case "report":
	default:
		t.mu.Unlock()
		return // a partial result, or a value nobody asked for
	}
	report.Title = t.open[token]
	if report.Title == "" {
		report.Title = oneLine(p.Value.Title, 200)
	}
	t.message, t.percent = report.Message, report.Percent
	t.mu.Unlock()
	t.session.client.progress(report)
}

// endedSince reports whether something that the server worked on ended after a
// moment: what it answered before may have been less than it knows now.
func (t *progressTokens) endedSince(moment time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ended.After(moment)
}

// current describes the open work for status; "" when there is none.
func (t *progressTokens) current() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, title := range t.open {
		if t.message != "" {
			return title + ": " + t.message
		}
		return title
	}
	return ""
}

// settings answers one workspace/configuration item: the part of the spec's
// settings that its section names, or null (LSP 3.17 §workspace_configuration).
func (v *session) settings(section string) jsontext.Value {
	null := jsontext.Value("null")
	current := v.spec.Settings
	if len(current) == 0 {
		return null
	}
	if section == "" || section == v.spec.Section {
		return current
	}
	rest, ok := cutSection(section, v.spec.Section)
	if !ok {
		return null
	}
	for _, name := range rest {
		var object map[string]jsontext.Value
		if decodeJSON(current, &object) != nil {
			return null
		}
		if current, ok = object[name]; !ok {
			return null
		}
	}
	return current
}
