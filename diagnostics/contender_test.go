package diagnostics_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/diagnostics"
)

// The names of the contenders that a goal is about.
const (
	tracked       = "tracked view"
	changedLines  = "changed-line filter"
	exactIdentity = "exact identity"
)

// contender says which problems of the head a change introduced.
type contender struct {
	name       string
	classic    bool // a classic tracker; the best of them counts
	introduced func(t testing.TB, c *seededCase) []diagnostics.Diagnostic
}

func contenders() []contender {
	return []contender{
		{tracked, false, byTracking},
		{changedLines, false, byChangedLines},
		{exactIdentity, false, func(_ testing.TB, c *seededCase) []diagnostics.Diagnostic {
			return diagnostics.Exact(c.base, c.head).Added
		}},
		{"classic tracker, line first", true, byPasses(lineAndMessage, hashAndMessage, messageOnly)},
		{"classic tracker, content first", true, byPasses(everything, hashAndMessage, lineAndMessage, messageOnly)},
		{"classic tracker, content only", true, byPasses(everything, hashAndMessage, lineAndMessage)},
		{"classic tracker, digits left out", true, byPasses(everything, hashAndMessage, digitless(hashAndMessage), lineAndMessage, digitless(lineAndMessage), digitless(messageOnly))},
	}
}

func (c *seededCase) fileMap(t testing.TB) *diagnostics.FileChanges {
	changes, err := diagnostics.ParseRawDiff(c.rawDiff)
	if err != nil {
		t.Fatal(err)
	}
	return diagnostics.RawFiles(changes)
}

// byTracking is ours; it is told nothing but the texts and git's file map.
func byTracking(t testing.TB, c *seededCase) []diagnostics.Diagnostic {
	delta := compare(t, c.base, c.head, &diagnostics.Options{Files: c.fileMap(t), Contents: c.text, MaxEntries: 10_000})
	if !delta.Complete() {
		t.Fatalf("the delta is not complete: %+v", delta.Counts)
	}
	return delta.Introduced
}

var (
	patchFile = regexp.MustCompile(`^\+\+\+ b/(.*)$`)
	patchHunk = regexp.MustCompile(`^@@ -\S+ \+(\d+)(?:,(\d+))? @@`)
)

// byChangedLines calls introduced what stands on a line that git says was added
// or changed, as tools do that filter a linter's output by a patch.
func byChangedLines(_ testing.TB, c *seededCase) []diagnostics.Diagnostic {
	added := map[string]map[int]bool{}
	file := ""
	for text := range strings.SplitSeq(string(c.patch), "\n") {
		if m := patchFile.FindStringSubmatch(text); m != nil {
			file = strings.TrimRight(m[1], "\t")
			added[file] = map[int]bool{}
		} else if m := patchHunk.FindStringSubmatch(text); m != nil {
			start, _ := strconv.Atoi(m[1])
			n := 1
			if m[2] != "" {
				n, _ = strconv.Atoi(m[2])
			}
			for i := range n {
				added[file][start-1+i] = true
			}
		}
	}
	var list []diagnostics.Diagnostic
	for _, d := range c.head.Diagnostics {
		if added[d.Path][d.Range.Start.Line] {
			list = append(list, d)
		}
	}
	return list
}

// trackerKey is what a pass of a classic tracker compares, beside the rule and the
// file.
type trackerKey func(d *diagnostics.Diagnostic, source string) string

func lineAndMessage(d *diagnostics.Diagnostic, _ string) string {
	return strconv.Itoa(d.Range.Start.Line) + "\x00" + d.Message
}

func hashAndMessage(d *diagnostics.Diagnostic, source string) string {
	return strings.Join(strings.Fields(source), "") + "\x00" + d.Message
}

func everything(d *diagnostics.Diagnostic, source string) string {
	return strconv.Itoa(d.Range.Start.Line) + "\x00" + hashAndMessage(d, source)
}

func messageOnly(d *diagnostics.Diagnostic, _ string) string { return d.Message }

// digitless compares messages without their numbers, as some trackers do.
func digitless(key trackerKey) trackerKey {
	return func(d *diagnostics.Diagnostic, source string) string {
		other := *d
		other.Message = digits.ReplaceAllString(d.Message, "")
		return key(&other, source)
	}
}

var digits = regexp.MustCompile(`[0-9]+`)

// byPasses is the tracker of well-known code quality servers: within a file, as
// git maps it, and a rule, what is equal in the first key is the same problem,
// then of the rest what is equal in the next.
func byPasses(keys ...trackerKey) func(testing.TB, *seededCase) []diagnostics.Diagnostic {
	return func(t testing.TB, c *seededCase) []diagnostics.Diagnostic {
		files := c.fileMap(t)
		base, head := c.base.Diagnostics, c.head.Diagnostics
		for _, key := range keys {
			waiting := map[string][]int{}
			for i := range base {
				if path, ok := files.ToHead(base[i].Path); ok {
					k := ruleKey(&base[i], path) + key(&base[i], c.line(diagnostics.Base, &base[i]))
					waiting[k] = append(waiting[k], i)
				}
			}
			matched := map[int]bool{}
			var rest []diagnostics.Diagnostic
			for i := range head {
				k := ruleKey(&head[i], head[i].Path) + key(&head[i], c.line(diagnostics.Head, &head[i]))
				if n := len(waiting[k]); n > 0 {
					matched[waiting[k][0]] = true
					waiting[k] = waiting[k][1:]
					continue
				}
				rest = append(rest, head[i])
			}
			var left []diagnostics.Diagnostic
			for i := range base {
				if !matched[i] {
					left = append(left, base[i])
				}
			}
			base, head = left, rest
		}
		return head
	}
}

func ruleKey(d *diagnostics.Diagnostic, path string) string {
	return path + "\x00" + d.Source + "\x00" + d.Code + "\x00"
}

func (c *seededCase) line(side diagnostics.Side, d *diagnostics.Diagnostic) string {
	text, _ := c.text.Content(side, d.Path)
	if c.split == nil {
		c.split = map[diagnostics.Side]map[string][]string{diagnostics.Base: {}, diagnostics.Head: {}}
	}
	lines, ok := c.split[side][d.Path]
	if !ok {
		lines = strings.Split(string(text), "\n")
		c.split[side][d.Path] = lines
	}
	return lines[d.Range.Start.Line]
}
