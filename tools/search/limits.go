package search

import (
	"time"

	"github.com/prism-ls/prism-ls/tools"
)

// The limits of the package: the default and the hard cap of each option.
var (
	DepthLimit   = tools.Limit{Name: "maxDepth", Default: 32, Hard: 128}
	ResultLimit  = tools.Limit{Name: "maxResults", Default: 1_000, Hard: 10_000}
	MatchLimit   = tools.Limit{Name: "maxMatches", Default: 1_000, Hard: 10_000}
	ContextLimit = tools.Limit{Name: "context", Default: 5, Hard: 20, ZeroOK: true}
	OffsetLimit  = tools.Limit{Name: "offset", Default: 0, Hard: 1 << 40, ZeroOK: true}

	entryLimit   = tools.Limit{Name: "MaxEntries", Default: 10_000, Hard: 100_000}
	fileLimit    = tools.Limit{Name: "MaxFiles", Default: 10_000, Hard: 100_000}
	scanLimit    = tools.Limit{Name: "MaxScanBytes", Default: 64 << 20, Hard: 1 << 30}
	fileLenLimit = tools.Limit{Name: "MaxFileBytes", Default: 8 << 20, Hard: 64 << 20}
	patternLimit = tools.Limit{Name: "MaxPatternBytes", Default: 512, Hard: 4 << 10}
	lineLimit    = tools.Limit{Name: "MaxLineBytes", Default: 50 << 10, Hard: 1 << 20}
	timeLimit    = tools.Limit{Name: "MaxTime", Default: 30, Hard: 300}
	namesLimit   = tools.Limit{Name: "MaxGitOutput", Default: 8 << 20, Hard: 64 << 20}
)

// Limits are a host's caps for every call; a zero field is its default. Values
// above the hard cap are refused by [New].
type Limits struct {
	// Entries bounds the directory entries looked at: 10 000, at most 100 000.
	Entries int64
	// Files bounds the files among them: 10 000, at most 100 000.
	Files int64
	// ScanBytes bounds the text a search reads in all: 64 MiB, at most 1 GiB.
	ScanBytes int64
	// FileBytes bounds one searched file: 8 MiB, at most 64 MiB.
	FileBytes int64
	// PatternBytes bounds a query or glob pattern: 512, at most 4 096.
	PatternBytes int64
	// LineBytes bounds what is kept of one line: 50 KiB, at most 1 MiB.
	// Of a line above 1 KiB only a window around the match is kept.
	LineBytes int64
	// Time bounds a call: 30 s, at most 300 s, in whole seconds.
	Time time.Duration
	// GitOutput bounds what each git process may print: 8 MiB, at most 64 MiB.
	GitOutput int64
}

func (l Limits) resolved() (Limits, error) {
	seconds := int64(l.Time / time.Second)
	if l.Time != 0 && l.Time < time.Second {
		return l, tools.Errorf(tools.CodeToolInput, "MaxTime is %v, must be 1 s to 300 s", l.Time)
	}
	for _, field := range []struct {
		value *int64
		limit tools.Limit
	}{
		{&l.Entries, entryLimit}, {&l.Files, fileLimit}, {&l.ScanBytes, scanLimit}, {&l.FileBytes, fileLenLimit},
		{&l.PatternBytes, patternLimit}, {&l.LineBytes, lineLimit}, {&seconds, timeLimit}, {&l.GitOutput, namesLimit},
	} {
		value, err := field.limit.Option(*field.value)
		if err != nil {
			return l, err
		}
		*field.value = value
	}
	l.Time = time.Duration(seconds) * time.Second
	return l, nil
}
