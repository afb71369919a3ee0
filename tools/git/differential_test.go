package git

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// comparison is one question with git's own answer, in a form that our answer can be
// brought into.
type comparison struct {
	name string
	want string
	got  func() string
}

// comparisons asks git, in its own words and with the repository's plain configuration.
type comparisons struct {
	t    testing.TB
	g    *Repository
	list []comparison
}

func (c *comparisons) add(name, want string, got func() string) {
	c.list = append(c.list, comparison{name, want, got})
}

// check asks us.
func (c *comparisons) check(label string) {
	c.t.Helper()
	bad := 0
	for _, one := range c.list {
		if got := one.got(); got != one.want && bad < 3 {
			bad++
			c.t.Errorf("%s, %s: differs\n%s", label, one.name, firstDifference(got, one.want))
		}
	}
}

func firstDifference(got, want string) string {
	at := 0
	for at < len(got) && at < len(want) && got[at] == want[at] {
		at++
	}
	from := max(0, at-200)
	return fmt.Sprintf("at byte %d of %d and %d\ngot  %q\nwant %q", at, len(got), len(want), got[from:min(len(got), at+200)], want[from:min(len(want), at+200)])
}

// said is what git prints on its standard output, without any of our settings.
func said(t testing.TB, dir string, args ...string) string {
	t.Helper()
	command := exec.Command("git", args...)
	command.Dir = dir
	command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	out, err := command.Output()
	if err != nil {
		t.Fatalf("git %v: %v", args, err)
	}
	return string(out)
}

func (c *comparisons) status() {
	for name, opts := range map[string]StatusOptions{"status": {}, "status -uall": {AllUntracked: true}, "status --ignored": {AllUntracked: true, Ignored: true}} {
		args := []string{"status", "--porcelain=v2", "-z", "--branch", "--ignore-submodules=dirty", "--untracked-files=normal"}
		if opts.AllUntracked {
			args[len(args)-1] = "--untracked-files=all"
		}
		if opts.Ignored {
			args = append(args, "--ignored=matching")
		}
		opts.MaxEntries = ChangedFiles.Hard
		c.add(name, said(c.t, c.g.Top(), args...), func() string {
			status, err := c.g.Status(c.t.Context(), &opts)
			must(c.t, err)
			return porcelain(status)
		})
	}
}

// diff compares patches and lists of one comparison.
func (c *comparisons) diff(opts DiffOptions, sides ...string) {
	opts.MaxFiles, opts.MaxBytes = ChangedFiles.Hard, PatchBytes.Hard
	run := func(flags ...string) string {
		args := append([]string{"--literal-pathspecs", "-c", "core.abbrev=10", "diff", "--ignore-submodules=dirty"}, flags...)
		args = append(append(args, sides...), "--")
		return said(c.t, c.g.Top(), append(args, opts.Paths...)...)
	}
	ours := func() *Diff {
		d, err := c.g.Diff(c.t.Context(), &opts)
		must(c.t, err)
		if d.Cut || d.Total != len(d.Files) {
			c.t.Errorf("diff %v is cut: %d of %d files", sides, len(d.Files), d.Total)
		}
		return d
	}
	name := fmt.Sprintf("diff %v %q", sides, opts.Paths)
	c.add(name, run(), func() string { return string(ours().Patch) })
	if opts.Base != "" || opts.Staged { // else conflicts are listed twice
		c.add(name+" --name-status", scores.ReplaceAllString(run("--name-status", "-z"), "$1$2\x00"), func() string { return nameStatus(ours()) })
		c.add(name+" --numstat", counts(run("--numstat")), func() string { return numstat(ours()) })
	}
}

var scores = regexp.MustCompile(`(^|\x00)([RC])\d+\x00`)

func nameStatus(d *Diff) string {
	letters := map[ChangeStatus]string{ChangeAdded: "A", ChangeDeleted: "D", ChangeModified: "M", ChangeRenamed: "R", ChangeCopied: "C", ChangeType: "T", ChangeUnmerged: "U"}
	var out strings.Builder
	for _, f := range d.Files {
		out.WriteString(letters[f.Status] + "\x00")
		if f.OrigPath != "" {
			out.WriteString(f.OrigPath + "\x00")
		}
		out.WriteString(f.Path + "\x00")
	}
	return out.String()
}

func counts(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		fields := strings.SplitN(line, "\t", 3)
		out.WriteString(fields[0] + "\t" + fields[1] + "\n")
	}
	return out.String()
}

// numstat is only compared in its counts: git writes renamed paths in braces.
func numstat(d *Diff) string {
	var out strings.Builder
	for _, f := range d.Files {
		switch {
		case f.Binary:
			out.WriteString("-\t-\n")
		case f.Additions == nil:
			out.WriteString("0\t0\n")
		default:
			fmt.Fprintf(&out, "%d\t%d\n", *f.Additions, *f.Deletions)
		}
	}
	return out.String()
}

func (c *comparisons) log(paths ...string) {
	args := append([]string{"--literal-pathspecs", "log", "--format=fuller", "--date=iso-strict", "--no-decorate", "--no-abbrev", "HEAD", "--"}, paths...)
	c.add(fmt.Sprintf("log %q", paths), said(c.t, c.g.Top(), args...), func() string {
		var all []LogEntry
		for cursor := ""; ; {
			page, err := c.g.Log(c.t.Context(), &LogOptions{Paths: paths, MaxCount: 7, Cursor: cursor})
			must(c.t, err)
			all = append(all, page.Commits...)
			if cursor = page.Next; cursor == "" {
				return fuller(all)
			}
		}
	})
}

// fuller writes commits as git log --format=fuller does.
func fuller(commits []LogEntry) string {
	var out strings.Builder
	for i, c := range commits {
		if i > 0 {
			out.WriteString("\n")
		}
		out.WriteString("commit " + c.OID + "\n")
		if len(c.Parents) > 1 {
			out.WriteString("Merge: " + strings.Join(c.Parents, " ") + "\n")
		}
		fmt.Fprintf(&out, "Author:     %s <%s>\nAuthorDate: %s\nCommit:     %s <%s>\nCommitDate: %s\n\n", c.Author, c.AuthorEmail, c.AuthorDate, c.Committer, c.CommitterEmail, c.CommitDate)
		message := c.Subject
		if c.Body != "" {
			message += "\n\n" + c.Body
		}
		for line := range strings.SplitSeq(message, "\n") {
			out.WriteString("    " + line + "\n")
		}
	}
	return out.String()
}

// blame compares with the program's form for programs, read independently: everything
// of a commit on every line.
func (c *comparisons) blame(file, ref string) {
	args := []string{"blame", "--line-porcelain"}
	if ref != "" {
		args = append(args, ref)
	}
	c.add("blame "+ref+" "+file, linePorcelain(said(c.t, c.g.Top(), append(args, "--", file)...)), func() string {
		opts := &BlameOptions{Ref: ref, MaxLines: BlameLines.Hard}
		if ref == "" {
			text, err := os.ReadFile(filepath.Join(c.g.Top(), file))
			must(c.t, err)
			opts.Content = text
		}
		b, err := c.g.Blame(c.t.Context(), file, opts)
		must(c.t, err)
		var out strings.Builder
		for _, l := range b.Lines {
			fmt.Fprintf(&out, "%d|%s|%s|%s|%s|%s|%d|%s\n", l.Line, l.OID, l.Author, l.AuthorEmail, l.Date, l.Summary, l.OrigLine, l.Text)
		}
		return out.String()
	})
}

func linePorcelain(text string) string {
	var out strings.Builder
	facts := map[string]string{}
	var head []string
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		key, value, _ := strings.Cut(line, " ")
		switch {
		case strings.HasPrefix(line, "\t"):
			oid, author, mail, summary, when := head[0], facts["author"], strings.Trim(facts["author-mail"], "<>"), facts["summary"], ""
			if strings.Trim(oid, "0") == "" {
				oid, author, mail, summary = "", "", "", ""
			} else {
				seconds, _ := strconv.ParseInt(facts["author-time"], 10, 64)
				zone, err := time.Parse("-0700", facts["author-tz"])
				if err != nil {
					when = err.Error()
				} else {
					when = time.Unix(seconds, 0).In(zone.Location()).Format("2006-01-02T15:04:05-07:00")
				}
			}
			fmt.Fprintf(&out, "%s|%s|%s|%s|%s|%s|%s|%s\n", head[2], oid, author, mail, when, summary, head[1], line[1:])
			head = nil
		case head == nil:
			head = strings.Fields(line)
		default:
			facts[key] = value
		}
	}
	return out.String()
}

// hostileDisplay is a configuration that changes whatever git shows, as far as one can.
const hostileDisplay = `[core]
	quotePath = false
	abbrev = 4
	fsmonitor = %[1]s
	pager = %[1]s
[diff]
	noprefix = true
	mnemonicPrefix = true
	renames = copies
	renameLimit = 1
	algorithm = patience
	context = 0
	interHunkContext = 10
	orderFile = order
	external = %[1]s
	suppressBlankEmpty = true
	relative = true
	submodule = log
	colorMoved = zebra
	wordRegex = .
	indentHeuristic = false
	ignoreSubmodules = all
[color]
	ui = always
[column]
	ui = always
[status]
	renames = false
	showUntrackedFiles = no
	short = true
	branch = false
	aheadBehind = false
	showStash = true
	submoduleSummary = true
[log]
	showSignature = true
	decorate = full
	follow = true
	abbrevCommit = true
	date = relative
	showRoot = false
	mailmap = true
[format]
	pretty = oneline
	notes = *
[blame]
	showEmail = true
	blankBoundary = true
	markIgnoredLines = true
[i18n]
	logOutputEncoding = ISO-8859-1
[submodule "submodule"]
	ignore = all
[filter "evil"]
	clean = %[1]s
	smudge = %[1]s
	required = true
[diff "evil"]
	textconv = %[1]s
	command = %[1]s
`

// plantDisplay makes the configuration the repository's.
func plantDisplay(t testing.TB, root string) (mark string) {
	dir := t.TempDir()
	mark = filepath.Join(dir, "mark")
	program := filepath.Join(dir, "program")
	must(t, os.WriteFile(program, []byte("#!/bin/sh\necho \"$0 $*\" >>"+mark+"\ncat\n"), 0o755))
	appendFile(t, filepath.Join(root, ".git", "config"), fmt.Sprintf(hostileDisplay, program))
	write(t, root, ".git/info/attributes", "* diff=evil filter=evil\n")
	write(t, root, ".git/order", "*.md\n")
	return mark
}

// realRepositories are what the comparisons are made on.
func realRepositories() []string {
	return []string{"github.com/spf13/cobra@v1.10.2", "golang.org/x/tools@v0.36.0", "github.com/restic/restic@v0.18.0"}
}

// TestSameAsGit: on real code with a seeded past, status, diff, log and blame say what
// git says, also when the repository's configuration wants them shown otherwise.
func TestSameAsGit(t *testing.T) {
	steps, samples := 10, 1
	if os.Getenv("PRISM_SOAK") == "1" {
		steps, samples = 30, 10
	}
	for i, module := range realRepositories() {
		t.Run(strings.NewReplacer("/", "_", "@", "_").Replace(module), func(t *testing.T) {
			t.Parallel()
			h := newHistory(t, module, uint64(i), steps)
			total := compareAll(t, h, samples)
			t.Logf("figure: comparisons on %s, each also with a configuration against it = %d", module, total)
			t.Logf("figure: commits of %s = %d", module, strings.Count(h.git("log", "--format=%H"), "\n"))
		})
	}
}

func compareAll(t *testing.T, h *history, samples int) (total int) {
	g := open(t, h.root)
	commits := strings.Fields(h.git("rev-list", "--all"))
	config, err := os.ReadFile(filepath.Join(h.root, ".git", "config"))
	must(t, err)
	for _, state := range []struct {
		name string
		make func()
	}{{"clean", func() {}}, {"dirty", h.dirty}, {"conflict", h.conflict}} {
		state.make()
		c := &comparisons{t: t, g: g}
		c.status()
		c.diff(DiffOptions{})
		c.diff(DiffOptions{Staged: true}, "--cached")
		c.diff(DiffOptions{Base: "HEAD"}, "HEAD")
		c.diff(DiffOptions{Base: "HEAD~3", Staged: true}, "--cached", "HEAD~3")
		c.log()
		for range samples {
			a, b, file := commits[h.random.IntN(len(commits))], commits[h.random.IntN(len(commits))], h.pick()
			c.diff(DiffOptions{Base: a, Head: b}, a, b)
			c.diff(DiffOptions{Base: a}, a)
			c.diff(DiffOptions{Base: a, Head: b, Paths: []string{file, filepath.Dir(file)}}, a, b)
			c.log(file)
			c.blame(file, "")
			if _, err := h.try("cat-file", "-e", "HEAD:"+file); err == nil {
				c.blame(file, "HEAD")
			}
		}
		for _, name := range oddNames() {
			if state.name != "clean" && os.Getenv("PRISM_SOAK") != "1" {
				break // said once is enough for every day
			}
			c.log(name)
			if _, err := h.try("cat-file", "-e", "HEAD:"+name); err == nil {
				c.blame(name, "HEAD")
			}
		}
		c.check(state.name)
		mark := plantDisplay(t, h.root)
		c.check(state.name + ", with a configuration of its own")
		if ran, err := os.ReadFile(mark); err == nil {
			t.Errorf("ran %s", ran)
		}
		must(t, os.WriteFile(filepath.Join(h.root, ".git", "config"), config, 0o644))
		must(t, os.RemoveAll(filepath.Join(h.root, ".git", "info")))
		total += len(c.list)
	}
	return total
}
