package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
)

// LogCount bounds the commits of one page.
var LogCount = tools.Limit{Name: "maxCount", Default: 100, Hard: 1000}

// logSkip bounds how far a cursor goes.
var logSkip = tools.Limit{Name: "cursor", Hard: 1 << 40, ZeroOK: true}

// LogOptions say which commits are listed. Nil is the zero value: from HEAD on.
type LogOptions struct {
	// Ref is the revision to begin with; "" is HEAD.
	Ref string
	// Without, if not empty, is a revision whose commits are left out.
	Without string
	// Paths keep it to commits that changed one of them, simplified as git does it. Where
	// a directory below the top was opened, without paths that is the directory.
	Paths []string
	// MaxCount is LogCount.
	MaxCount int64
	// Cursor continues a log where an earlier page ended, whatever has become of the
	// ref since. Ref and Without have to be as they were, or empty.
	Cursor string
	// MaxOutput bounds what git prints, in bytes: 4 MiB, at most 64 MiB.
	MaxOutput int64

	whole bool // also commits that changed nothing in the opened directory
}

// Log is a page of commits, newest first.
type Log struct {
	Commits []LogEntry
	// Next is the cursor of the next page, "" where this is the last.
	Next string
	// TruncatedBy is "results" or "bytes" where there is a next page.
	TruncatedBy string
}

// LogEntry is one commit of a Log. Texts are as the commit has them, re-coded to UTF-8 where it
// says in what they are; names are those that the repository's .mailmap gives.
type LogEntry struct {
	OID, Tree string
	Parents   []string
	// Author and Committer are names, AuthorDate and CommitDate in the form of RFC
	// 3339 with the offset of their author.
	Author, AuthorEmail, AuthorDate       string
	Committer, CommitterEmail, CommitDate string
	Subject                               string
	// Body is the message behind the subject, "" where there is none.
	Body string
}

// logFields are what one commit is printed as, each with a NUL behind it.
func logFields() []string {
	return []string{"%H", "%T", "%P", "%aN", "%aE", "%aI", "%cN", "%cE", "%cI", "%s", "%b"}
}

// mailmap are the settings that keep git to the .mailmap of the work tree.
func mailmap() []string { return []string{"mailmap.file=/dev/null", "mailmap.blob="} }

// Log lists commits. From a HEAD that has no commit yet, and only from there, the list
// is empty. CodeGitRef: a revision that is not there. CodeLimit: a single commit is over
// MaxOutput.
func (g *Repository) Log(ctx context.Context, opts *LogOptions) (*Log, error) {
	if opts == nil {
		opts = &LogOptions{}
	}
	count, err := LogCount.Option(opts.MaxCount)
	if err != nil {
		return nil, err
	}
	from, err := g.logStart(ctx, opts)
	if err != nil || from.tip == "" {
		return &Log{}, err
	}
	specs, err := g.pathspecs(opts.Paths)
	if err != nil {
		return nil, err
	}
	if specs == nil || opts.whole {
		specs = []string{"--"}
	}
	args := []string{
		"log", "-z", "--format=tformat:" + strings.Join(logFields(), "%x00"), "--encoding=UTF-8", "--no-patch", "--no-color", "--no-notes",
		"--no-decorate", "--no-follow", "--mailmap", "--no-show-signature", fmt.Sprintf("--max-count=%d", count+1), fmt.Sprintf("--skip=%d", from.skip), from.tip,
	}
	if from.without != "" {
		args = append(args, "^"+from.without)
	}
	out, err := g.run(ctx, append(args, specs...), &RunOptions{MaxOutput: opts.MaxOutput, Partial: true, Config: mailmap()})
	if err != nil {
		return nil, err
	}
	return from.page(out, int(count))
}

// logPlace is where a page of a log begins.
type logPlace struct {
	tip, without string
	skip         int64
}

func (p logPlace) String() string {
	return strings.Join([]string{p.tip, p.without, strconv.FormatInt(p.skip, 10)}, ".")
}

func parseLogPlace(cursor string) (p logPlace, err error) {
	fields := strings.Split(cursor, ".")
	if len(fields) == 3 && IsID(fields[0]) && (fields[1] == "" || IsID(fields[1])) {
		p.tip, p.without = fields[0], fields[1]
		if p.skip, err = strconv.ParseInt(fields[2], 10, 64); err == nil {
			if p.skip, err = logSkip.Of(&p.skip); err == nil {
				return p, nil
			}
		}
	}
	return p, tools.Errorf(tools.CodeToolInput, "cursor %q is not one that an earlier page gave", cursor)
}

// logStart finds where to begin; tip is empty where HEAD has no commit.
func (g *Repository) logStart(ctx context.Context, opts *LogOptions) (logPlace, error) {
	if opts.Cursor == "" {
		return g.logRefs(ctx, opts)
	}
	p, err := parseLogPlace(opts.Cursor)
	if err != nil {
		return p, err
	}
	if _, err := g.Resolve(ctx, p.tip); err != nil {
		return p, tools.Errorf(tools.CodeGitRef, "the commit that the cursor %q goes on from is gone; begin anew without a cursor", opts.Cursor)
	}
	return p, nil
}

func (g *Repository) logRefs(ctx context.Context, opts *LogOptions) (p logPlace, err error) {
	ref := opts.Ref
	if ref == "" {
		ref = "HEAD"
	}
	p.tip, err = g.Resolve(ctx, ref)
	if opts.Ref == "" && errors.Is(err, tools.CodeGitRef) {
		unborn, other := g.unborn(ctx)
		if other != nil || unborn {
			return logPlace{}, other
		}
	}
	if err != nil || opts.Without == "" {
		return p, err
	}
	p.without, err = g.Resolve(ctx, opts.Without)
	return p, err
}

// unborn reports that HEAD names a branch that has no commit yet.
func (g *Repository) unborn(ctx context.Context) (bool, error) {
	head, err := g.run(ctx, []string{"symbolic-ref", "--quiet", "HEAD"}, &RunOptions{OKCodes: []int{1}})
	if err != nil || head.ExitCode != 0 {
		return false, err
	}
	ref := string(bytes.TrimSuffix(head.Stdout, []byte("\n")))
	out, err := g.run(ctx, []string{"show-ref", "--verify", "--quiet", ref}, &RunOptions{OKCodes: []int{1}})
	return err == nil && out.ExitCode == 1, err
}

// page reads the commits, and where to go on.
func (p logPlace) page(out *Output, count int) (*Log, error) {
	size := len(logFields())
	fields := strings.Split(string(out.Stdout), "\x00")
	fields = fields[:len(fields)-1] // behind the last NUL is nothing, or a part of a field
	log := &Log{}
	for record := range slices.Chunk(fields, size) {
		if len(record) < size {
			break
		}
		if !IsID(record[0]) {
			return nil, tools.Errorf(tools.CodeGitFailed, "git log printed %q where a commit's ID belongs", record[0])
		}
		log.Commits = append(log.Commits, LogEntry{
			OID: record[0], Tree: record[1], Parents: strings.Fields(record[2]),
			Author: record[3], AuthorEmail: record[4], AuthorDate: record[5], Committer: record[6], CommitterEmail: record[7], CommitDate: record[8],
			Subject: record[9], Body: strings.TrimRight(record[10], "\n"),
		})
	}
	if len(log.Commits) > count {
		log.Commits, log.TruncatedBy = log.Commits[:count], "results"
	} else if out.Truncated {
		log.TruncatedBy = "bytes"
		if len(log.Commits) == 0 {
			return nil, tools.Errorf(tools.CodeLimit, "the next commit is larger than the %d bytes that a log may have", len(out.Stdout))
		}
	}
	if log.TruncatedBy != "" {
		p.skip += int64(len(log.Commits))
		log.Next = p.String()
	}
	return log, nil
}
