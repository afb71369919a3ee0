package langintel

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// progressTokens follows what a server says it is working on (LSP 3.17
// §workDoneProgress).
type progressTokens struct {
	session *session

	mu      sync.Mutex
	open    map[string]string // token → title
	last    map[string]run    // by token: its last time
	moved   chan struct{}     // closed when one begins or ends
	ended   time.Time         // when the last one ended
	begun   time.Time         // when the last one began
	heard   int64             // reports of any kind
	message string
	percent int
}

// run is when something began and ended last.
type run struct{ begun, ended time.Time }

const maxTokens = 1000

func (t *progressTokens) init(v *session) {
	t.session, t.open, t.last, t.moved = v, map[string]string{}, map[string]run{}, make(chan struct{})
}

// state returns the title of some open token that counts, whether one that counts
// has ended, and a channel that the next begin or end closes; nil counts all.
func (t *progressTokens) state(counts func(token string) bool) (open string, ended bool, moved <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for token, title := range t.open {
		if counts == nil || counts(token) {
			open = max(open, cmp.Or(title, "work"))
		}
	}
	for token, last := range t.last {
		ended = ended || !last.ended.IsZero() && (counts == nil || counts(token))
	}
	return open, ended, t.moved
}

// runs follows work that repeats: whether some that counts is open, whether any
// began and any ended after a moment.
func (t *progressTokens) runs(counts func(token string) bool, since time.Time) (open, began, ended bool, moved <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for token := range t.open {
		open = open || counts(token)
	}
	for token, last := range t.last {
		if counts(token) {
			began, ended = began || last.begun.After(since), ended || last.ended.After(since)
		}
	}
	return open, began, ended, t.moved
}

// signal wakes those who wait for a begin or an end; t.mu is held.
func (t *progressTokens) signal() {
	close(t.moved)
	t.moved = make(chan struct{})
}

func (t *progressTokens) take(params []byte) {
	var p progressParams
	if decodeJSON(params, &p) != nil {
		return
	}
	token := strings.Trim(string(p.Token), `"`)
	report := Progress{Server: t.session.spec.Name, Message: oneLine(p.Value.Message, 300), Percent: -1}
	if p.Value.Percentage != nil {
		report.Percent = *p.Value.Percentage
	}
	t.mu.Lock()
	t.heard++
	report.Title = t.open[token]
	switch p.Value.Kind {
	case "begin":
		t.begun = time.Now()
		if len(t.open) < maxTokens {
			t.open[token] = oneLine(p.Value.Title, 200)
			t.mark(token, run{begun: t.begun, ended: t.last[token].ended})
		}
		t.signal()
	case "end":
		delete(t.open, token)
		t.ended = time.Now()
		t.mark(token, run{begun: t.last[token].begun, ended: t.ended})
		report.Done = true
		t.signal()
	case "report":
	default:
		t.mu.Unlock()
		return // a partial result, or a value nobody asked for
	}
	if report.Title == "" {
		report.Title = oneLine(p.Value.Title, 200)
	}
	t.message, t.percent = report.Message, report.Percent
	t.mu.Unlock()
	t.session.client.progress(report)
}

// noted counts a sign of work that is not progress.
func (t *progressTokens) noted() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.heard++
}

// reports counts what the server has said about its work.
func (t *progressTokens) reports() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.heard
}

// mark remembers a token's last time; t.mu is held. Servers that make a new token
// for each piece of work are as many as may be remembered soon: those that ended
// longest ago go first.
func (t *progressTokens) mark(token string, last run) {
	if _, known := t.last[token]; !known && len(t.last) >= 2*maxTokens {
		t.forget()
	}
	t.last[token] = last
}

// forget leaves half of what is remembered; t.mu is held.
func (t *progressTokens) forget() {
	tokens := slices.SortedFunc(maps.Keys(t.last), func(a, b string) int {
		return t.last[a].ended.Compare(t.last[b].ended)
	})
	for _, token := range tokens {
		if _, open := t.open[token]; !open && len(t.last) > maxTokens {
			delete(t.last, token)
		}
	}
}

// begunSince reports whether the server began something after a moment.
func (t *progressTokens) begunSince(moment time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.begun.After(moment)
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

// lastEnd is when some work that counts ended last.
func (t *progressTokens) lastEnd(counts func(token string) bool) (ended time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for token, last := range t.last {
		if counts(token) && last.ended.After(ended) {
			ended = last.ended
		}
	}
	return ended
}
