package diagnostics

import (
	"cmp"
	"crypto/sha1"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
)

// fingerprintName is the key of our id in partialFingerprints: a versioned
// hierarchical string (SARIF 2.1.0 §3.5.4.2), with the version of [IDs].
const fingerprintName = "prismProblem/" + idVersion

// SARIF is the delta as a log of SARIF 2.1.0 (OASIS Standard, 27 March 2020), one
// run for each producer that base or head has. Introduced problems have the
// baselineState "new", fixed ones "absent" and the others "unchanged", or
// "updated" when more than their place changed; problems of the head that cannot
// be judged have none. Of those of the base that cannot be judged, of producers
// that did not end well, and of lists that were cut, the run's notifications
// speak. partialFingerprints holds the ids of [IDs]. contents, which may be nil,
// gives the columns of producers that only know bytes, and makes the ids finer.
func (d *Delta) SARIF(base, head *Snapshot, contents Contents) ([]byte, error) {
	w := &sarifWriter{delta: d, base: base, head: head, cache: newLineCache(contents), runs: map[string]*sarifRun{}}
	log := sarifLog{
		Schema:  "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
		Version: "2.1.0",
		Runs:    []*sarifRun{},
	}
	for _, s := range []*Snapshot{head, base} {
		for i := range s.Producers {
			if id := s.Producers[i].ID; w.runs[id] == nil {
				w.runs[id] = w.run(id)
				log.Runs = append(log.Runs, w.runs[id])
			}
		}
	}
	slices.SortFunc(log.Runs, func(a, b *sarifRun) int { return cmp.Compare(a.Automation.ID, b.Automation.ID) })
	if err := w.results(contents); err != nil {
		return nil, err
	}
	return json.MarshalIndent(log, "", "  ")
}

// sarifWriter fills the runs.
type sarifWriter struct {
	delta      *Delta
	base, head *Snapshot
	cache      *lineCache
	runs       map[string]*sarifRun
}

// run begins the run of a producer.
func (w *sarifWriter) run(id string) *sarifRun {
	before, now := w.base.producers()[id], w.head.producers()[id]
	shown := now
	if shown == nil {
		shown = before
	}
	run := &sarifRun{
		Tool:       sarifTool{sarifDriver{Name: shown.Tool, Version: shown.Version, Language: "en-US"}},
		Columns:    "utf16CodeUnits",
		Newlines:   []string{"\r\n", "\n", "\r"}, // as LSP 3.17 §textDocuments counts lines
		Language:   "en-US",
		Automation: sarifAutomation{ID: "prism-ls/" + id + "/", GUID: runGUID(id, w.head)},
		Baseline:   runGUID(id, w.base),
		Results:    []sarifResult{},
	}
	if run.Tool.Driver.Name == "" {
		run.Tool.Driver.Name = id // the format demands one
	}
	invocation := sarifInvocation{Successful: now != nil && now.Status == StatusOK}
	for _, one := range []struct {
		side string
		p    *Producer
	}{{"base", before}, {"head", now}} {
		switch {
		case one.p == nil:
			invocation.note("warning", "the "+one.side+" was not looked at")
		case !one.p.usable():
			invocation.note("warning", fmt.Sprintf("the run over the %s ended with status %s and %d problems left out", one.side, one.p.Status, one.p.Dropped))
		}
	}
	if w.delta.Truncated {
		invocation.note("warning", fmt.Sprintf("the results of all runs are %d of %d", w.delta.held(), w.delta.Counts.entries()))
	}
	run.Invocations = []sarifInvocation{invocation}
	return run
}

// runGUID names the run of a producer over one state of the code; without an id
// of that state there is none.
func runGUID(producer string, s *Snapshot) string {
	if s.Revision == "" && s.Tree == "" {
		return ""
	}
	// RFC 9562 §5.5, version 5: the format's schema knows none of the later ones.
	// The name space is the RFC's for URLs.
	space := "\x6b\xa7\xb8\x11\x9d\xad\x11\xd1\x80\xb4\x00\xc0\x4f\xd4\x30\xc8"
	sum := sha1.Sum([]byte(space + "https://github.com/prism-ls/prism-ls#" + producer + "/" + s.Revision + "/" + s.Tree))
	sum[6], sum[8] = sum[6]&0x0f|0x50, sum[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

// entry of the log: a diagnostic and what is known of it.
type sarifEntry struct {
	d     Diagnostic
	side  Side
	state string
	known *sarifKnown
}

// results puts every diagnostic into the run of its producer.
func (w *sarifWriter) results(contents Contents) error {
	var now, gone []sarifEntry
	for _, one := range w.delta.Introduced {
		now = append(now, sarifEntry{one, Head, "new", nil})
	}
	for _, one := range w.delta.Generated {
		now = append(now, sarifEntry{one, Head, "new", &sarifKnown{Generated: true}})
	}
	for _, m := range w.delta.Unchanged {
		state := "unchanged"
		if m.Updated {
			state = "updated"
		}
		now = append(now, sarifEntry{m.Head, Head, state, &sarifKnown{Via: m.Via, Sure: m.Sure, Moved: m.Moved}})
	}
	unjudged := map[string]int{}
	for _, u := range w.delta.Unknown {
		if u.Side == Head {
			now = append(now, sarifEntry{u.Diagnostic, Head, "", &sarifKnown{Unknown: u.Reason}})
			continue
		}
		unjudged[u.Producer]++
	}
	for _, one := range w.delta.Fixed {
		gone = append(gone, sarifEntry{one, Base, "absent", nil})
	}
	for id, run := range w.runs {
		if n := unjudged[id]; n > 0 {
			run.Invocations[0].note("note", fmt.Sprintf("of %d problems of the base it is not known whether they are still there", n))
		}
	}
	for _, list := range [][]sarifEntry{now, gone} {
		if err := w.add(list, contents); err != nil {
			return err
		}
	}
	return nil
}

// add makes results of entries of one side.
func (w *sarifWriter) add(list []sarifEntry, contents Contents) error {
	plain := make([]Diagnostic, len(list))
	for i := range list {
		plain[i] = list[i].d
	}
	var ids []string
	if len(list) > 0 {
		ids = IDs(plain, list[0].side, contents)
	}
	for i := range list {
		e := &list[i]
		run := w.runs[e.d.Producer]
		if run == nil {
			return fmt.Errorf("diagnostics: a problem of the delta is by %q, of which neither snapshot has a run; give the snapshots that were compared", e.d.Producer)
		}
		result := sarifResult{
			RuleID: ruleOf(&e.d), Level: levelOf(e.d.Severity), Message: sarifText{e.d.Message},
			Locations:    []sarifLocation{w.location(e.d.Path, e.d.Range, e.side)},
			Fingerprints: map[string]string{fingerprintName: ids[i]},
			State:        e.state, Properties: e.known,
		}
		for n, r := range e.d.Related {
			at := w.location(r.Path, r.Range, e.side)
			at.ID, at.Message = &n, &sarifText{r.Message}
			result.Related = append(result.Related, at)
		}
		result.RuleIndex = run.rule(result.RuleID)
		run.Results = append(run.Results, result)
	}
	return nil
}

// ruleOf is the kind of a problem; a code means something only to its source.
func ruleOf(d *Diagnostic) string {
	switch {
	case d.Code == "" && d.Source == "":
		return "problem"
	case d.Code == "":
		return d.Source
	case d.Source == "":
		return d.Code
	default:
		return d.Source + "/" + d.Code
	}
}

func levelOf(s Severity) string {
	switch s {
	case Error:
		return "error"
	case Warning:
		return "warning"
	default:
		return "note"
	}
}

// location is a place with 1-based numbers; columns are left out where they are
// not known in UTF-16 units.
func (w *sarifWriter) location(path string, r Range, side Side) sarifLocation {
	region := sarifRegion{StartLine: r.Start.Line + 1, EndLine: r.End.Line + 1}
	start, okStart := w.units(side, path, r.Start)
	end, okEnd := w.units(side, path, r.End)
	if okStart && okEnd {
		region.StartColumn, region.EndColumn = start+1, end+1
	}
	return sarifLocation{Physical: sarifPhysical{
		Artifact: sarifArtifact{URI: (&url.URL{Path: path}).String(), Base: "%SRCROOT%"}, Region: region,
	}}
}

// units is the UTF-16 column of a position.
func (w *sarifWriter) units(side Side, path string, p Position) (int, bool) {
	if p.UTF16 >= 0 {
		return p.UTF16, true
	}
	line := w.cache.line(side, path, p.Line)
	if p.Byte > len(line) {
		return 0, p.Byte == 0
	}
	units := 0
	for _, r := range string(line[:p.Byte]) {
		units++
		if r > 0xffff {
			units++
		}
	}
	return units, true
}
