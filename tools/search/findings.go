package search

import (
	"context"
	"math"
	"strings"
	"time"
)

// findings are the sink of a search.
type findings struct {
	result  Result
	limit   int // matching lines; files for OutputFiles
	maxScan int64
	kept    int // bytes of text
}

// fresh returns an empty sink with the same bounds.
func (f *findings) fresh() *findings {
	clone := *f
	clone.result.Matches = []Match{}
	return &clone
}

func (f *findings) take(d *dir, e *entry) string {
	if e.kind != kindFile {
		return ""
	}
	r := &f.result
	if e.skip != skipNone {
		r.Skipped.count(e.skip)
		return ""
	}
	if r.ScannedBytes+e.size > f.maxScan {
		return byScan
	}
	r.ScannedBytes += e.size
	r.ScannedFiles++
	if e.hits == nil {
		return ""
	}
	if r.OutputMode == OutputFiles {
		return f.takeFile(d.path(e), e.hits)
	}
	return f.takeLines(d.path(e), e.hits)
}

func (f *findings) takeFile(path string, found *hits) string {
	if len(f.result.Files) == f.limit {
		return byMatches
	}
	f.result.Files = append(f.result.Files, path)
	f.result.FileCount++
	f.result.MatchCount += found.count
	return ""
}

func (f *findings) takeLines(path string, found *hits) string {
	r := &f.result
	room := f.limit - r.MatchCount
	if room == 0 {
		return byMatches
	}
	r.FileCount++
	r.MatchCount += min(found.count, room)
	for _, match := range found.lines[:min(len(found.lines), room)] {
		if f.kept += match.size(); f.kept > keptText {
			return byBytes
		}
		match.Path = path
		r.Matches = append(r.Matches, match)
	}
	if found.count > room {
		return byMatches
	}
	return ""
}

func (m *Match) size() int {
	n := len(m.Text)
	for _, line := range m.Before {
		n += len(line)
	}
	for _, line := range m.After {
		n += len(line)
	}
	return n
}

func (k *Skipped) count(reason skip) {
	switch reason {
	case skipBinary:
		k.Binary++
	case skipOversize:
		k.Oversize++
	case skipUnreadable:
		k.Unreadable++
	}
}

// globs joins a query's include and exclude globs to a rule; nil when it has
// none.
func (s *Searcher) globs(query *Query) (func(path string, k kind) bool, error) {
	if len(query.Include) == 0 && len(query.Exclude) == 0 {
		return nil, nil
	}
	include, err := s.globSet(query.Include)
	if err != nil {
		return nil, err
	}
	exclude, err := s.globSet(query.Exclude)
	if err != nil {
		return nil, err
	}
	return func(path string, k kind) bool {
		if exclude.match(path) {
			return false
		}
		if k == kindDir {
			return len(include.globs) == 0 || include.mayHold(path)
		}
		return len(include.globs) == 0 || include.match(path)
	}, nil
}

func (s *Searcher) globSet(texts []string) (*pattern, error) {
	set := &pattern{names: true}
	for _, text := range texts {
		one, err := compileGlob(text, true, s.limits.PatternBytes)
		if err != nil {
			return nil, err
		}
		set.globs = append(set.globs, one.globs...)
		for i, glob := range one.globs {
			base := one.bases[i]
			if !strings.Contains(glob, "/") {
				base = ""
			}
			set.bases = append(set.bases, base)
		}
	}
	return set, nil
}

// ignoredTime bounds the second look, at ignored files: it answers a question
// that was not asked.
const ignoredTime = time.Second

// ignoredMatches counts the matching lines of what the rules ignored, under
// the same caps, which the files that were searched already use up in part.
func (s *scope) ignoredMatches(start *dir, scan *scanner) int {
	ctx, cancel := context.WithTimeout(s.ctx, ignoredTime)
	defer cancel()
	counting := *scan
	counting.keep, counting.stop = 0, math.MaxInt
	loose := *s.rules
	loose.includeIgnored = true
	w := &walk{rules: &loose, maxDepth: s.maxDepth, maxNames: int(entryLimit.Hard) + 1, search: counting.file}
	w.stack = w.unlock(start, start)
	sink := &findings{result: Result{OutputMode: OutputCount}, limit: math.MaxInt, maxScan: s.limits.ScanBytes}
	w.at = newCursor(start, sink, &s.limits)
	w.run(ctx, s.options.Threads)
	return sink.result.MatchCount
}

// unlock makes the ignored entries of a finished tree visible and returns the
// work on them.
func (w *walk) unlock(start, d *dir) []task {
	var list []task
	opened := map[*entry]bool{}
	for i := len(d.entries) - 1; i >= 0; i-- {
		e := &d.entries[i]
		if e.child != nil && e.fate == visible {
			list = append(list, w.unlock(start, e.child)...)
		}
		if e.fate == ignored && w.rules.judge(d, e) == visible {
			opened[e] = true
		}
	}
	if len(opened) == 0 || d.fd < 0 && !reopen(start, d) {
		return list
	}
	for e := range opened {
		e.fate = visible
	}
	d.names = nil
	own := w.tasks(d, func(e *entry) bool { return opened[e] })
	d.users += len(own)
	return append(list, own...)
}
