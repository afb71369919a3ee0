package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/prism-ls/prism-ls/tools"
)

// BlameLines bounds the lines of one answer.
var BlameLines = tools.Limit{Name: "lines", Default: 2000, Hard: 10_000}

// BlameOptions say which lines are asked about.
type BlameOptions struct {
	// Ref is the revision; "" is the work tree, whose content is Content.
	Ref string
	// Content is the file as it is in the work tree. It is the caller's to read, so
	// that git follows no link out of the workspace.
	Content []byte
	// Line and EndLine are the first and last line, from 1; zero is the first one and
	// the last one of the file.
	Line, EndLine int64
	// MaxLines is BlameLines.
	MaxLines int64
	// MaxOutput bounds what git prints, in bytes: 4 MiB, at most 64 MiB.
	MaxOutput int64
}

// Blame says for lines of a file which commit they come from.
type Blame struct {
	// Commit is the revision, empty for the work tree.
	Commit string
	Lines  []BlameLine
	// Next is the first line that was asked for and is not in Lines; 0 without one.
	Next int64
	// TruncatedBy is "lines" or "bytes" where there is a next one.
	TruncatedBy string
}

// BlameLine is one line of a file.
type BlameLine struct {
	Line int64
	// OID is the commit, empty for a line that is not committed; the fields of the
	// commit are empty then, too.
	OID                 string
	Author, AuthorEmail string
	// Date is the author's, as RFC 3339 has it.
	Date    string
	Summary string
	// OrigPath and OrigLine are where the line was in that commit; the path is from Top.
	OrigPath string
	OrigLine int64
	// Text is the line without its end.
	Text string
}

// Blame asks where the lines of a file come from. CodeGitRef: there is no such revision,
// or no commit yet. CodeNotFound: it has no such path. CodeOutOfRange: lines past the
// end. CodeBinary is not among its errors: git blames binary files, too.
func (g *Repository) Blame(ctx context.Context, file string, opts *BlameOptions) (*Blame, error) {
	most, err := BlameLines.Option(opts.MaxLines)
	if err != nil {
		return nil, err
	}
	if opts.Line < 0 || opts.EndLine < 0 || opts.EndLine > 0 && opts.EndLine < opts.Line {
		return nil, tools.Errorf(tools.CodeToolInput, "lines %d to %d: lines count from 1, and the end does not come before the start", opts.Line, opts.EndLine)
	}
	specs, err := g.pathspecs([]string{file})
	if err != nil {
		return nil, err
	}
	b := &Blame{}
	content := opts.Content
	if opts.Ref != "" {
		blob, err := g.Show(ctx, opts.Ref, file)
		if err != nil {
			return nil, err
		}
		b.Commit, content = blob.Commit, blob.Data
	}
	args := []string{"blame", "--porcelain", "--encoding=UTF-8", "--no-progress"}
	run := &RunOptions{MaxOutput: opts.MaxOutput, Partial: true, Config: append(diffConfig(), mailmap()...)}
	if err := g.ignoredRevisions(ctx); err != nil {
		return nil, err
	}
	first, last, err := blameRange(opts, content)
	if err != nil || last == 0 {
		return b, err
	}
	end := min(last, first+most-1)
	args = append(args, fmt.Sprintf("-L%d,%d", first, end))
	if opts.Ref == "" {
		args = append(args, "--contents", "-")
		run.Stdin = content
	} else {
		args = append(args, b.Commit)
	}
	out, err := g.run(ctx, append(args, specs...), run)
	if err != nil {
		return nil, g.whyNot(ctx, file, err)
	}
	if b.Lines, err = parseBlame(out.Stdout, out.Truncated); err != nil {
		return nil, err
	}
	if next := first + int64(len(b.Lines)); next <= last {
		b.Next, b.TruncatedBy = next, "lines"
		if out.Truncated {
			b.TruncatedBy = "bytes"
		}
	}
	return b, nil
}

// ignoredRevisions refuses when the repository's list of commits to look through
// (git-config(1), blame.ignoreRevsFile) is not one of its own files: no option makes
// git not read it, and what it cannot read as a list it quotes.
func (g *Repository) ignoredRevisions(ctx context.Context) error {
	out, err := g.run(ctx, []string{"config", "-z", "--get-all", "blame.ignoreRevsFile"}, &RunOptions{OKCodes: []int{1}})
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out.Stdout), "\x00"), "\x00") {
		if name == "" {
			continue
		}
		real, err := filepath.EvalSymlinks(filepath.Join(g.top, name))
		if !filepath.IsLocal(name) || err == nil && !within(g.top, real) {
			return tools.Errorf(tools.CodeGitFailed, "the repository's blame.ignoreRevsFile names %q, which is not one of its files; git blame is not run with it", name)
		}
	}
	return nil
}

// whyNot finds out, when git has refused, whether it does not know the file at all.
func (g *Repository) whyNot(ctx context.Context, file string, err error) error {
	if !errors.Is(err, tools.CodeGitFailed) {
		return err
	}
	if _, missing := g.Show(ctx, "HEAD", file); errors.Is(missing, tools.CodeNotFound) || errors.Is(missing, tools.CodeGitRef) || errors.Is(missing, tools.CodeNotFile) {
		return missing
	}
	return err
}

// blameRange is the lines that were asked for, last 0 for an empty file.
func blameRange(opts *BlameOptions, content []byte) (first, last int64, err error) {
	count := int64(bytes.Count(content, []byte{'\n'}))
	if len(content) > 0 && content[len(content)-1] != '\n' {
		count++
	}
	first, last = max(opts.Line, 1), opts.EndLine
	if last == 0 {
		last = count
	}
	if count == 0 && opts.Line <= 1 && opts.EndLine <= 1 {
		return 1, 0, nil
	}
	if first > count || last > count {
		return 0, 0, tools.Errorf(tools.CodeOutOfRange, "lines %d to %d were asked for, the file has %d", first, max(first, last), count)
	}
	return first, last, nil
}

// parseBlame reads git's porcelain format (git-blame(1)): for each line a header, what
// is known of its commit when it is named first, and the line behind a tab.
func parseBlame(text []byte, cut bool) ([]BlameLine, error) {
	commits := map[string]*BlameLine{}
	var lines []BlameLine
	var at *BlameLine // the commit that the present header names
	var line, orig int64
	var zone string
	for row := range bytes.Lines(wholeLines(text, cut)) {
		row = bytes.TrimSuffix(row, []byte("\n"))
		if at == nil {
			fields := strings.Fields(string(row))
			if len(fields) < 3 || !IsID(fields[0]) {
				return nil, tools.Errorf(tools.CodeGitFailed, "git blame printed %q where a line's commit belongs", row)
			}
			if at = commits[fields[0]]; at == nil {
				at = &BlameLine{OID: fields[0]}
				commits[fields[0]] = at
			}
			orig, _ = strconv.ParseInt(fields[1], 10, 64)
			line, _ = strconv.ParseInt(fields[2], 10, 64)
			continue
		}
		if content, ok := bytes.CutPrefix(row, []byte("\t")); ok {
			one := *at
			one.Line, one.OrigLine, one.Text = line, orig, string(content)
			lines = append(lines, one.committed())
			at = nil
			continue
		}
		key, value, _ := strings.Cut(string(row), " ")
		at.note(key, value, &zone)
	}
	return lines, nil
}

// note keeps one fact of a commit.
func (l *BlameLine) note(key, value string, zone *string) {
	switch key {
	case "author":
		l.Author = value
	case "author-mail":
		l.AuthorEmail = strings.TrimSuffix(strings.TrimPrefix(value, "<"), ">")
	case "author-time":
		*zone = value
	case "author-tz":
		l.Date = date(*zone, value)
	case "summary":
		l.Summary = value
	case "filename":
		l.OrigPath = value
		if plain, ok := unquotePath(value); ok {
			l.OrigPath = plain
		}
	}
}

// committed empties what git makes up for a line that is in no commit: the ID of
// zeros, and an author of that name.
func (l BlameLine) committed() BlameLine {
	if strings.Trim(l.OID, "0") != "" {
		return l
	}
	return BlameLine{Line: l.Line, OrigLine: l.OrigLine, OrigPath: l.OrigPath, Text: l.Text}
}

// date turns seconds since 1970 and "+hhmm" into RFC 3339; "" for what is no date.
func date(seconds, offset string) string {
	at, err := strconv.ParseInt(seconds, 10, 64)
	zone, err2 := strconv.Atoi(offset)
	if err != nil || err2 != nil {
		return ""
	}
	east := (zone/100*60 + zone%100) * 60
	return time.Unix(at, 0).In(time.FixedZone("", east)).Format("2006-01-02T15:04:05-07:00")
}
