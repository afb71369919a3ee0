package git

import (
	"bytes"
	"context"
	"strconv"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
)

// Kind is what an entry of a status is.
type Kind string

// The kinds of entries.
const (
	Changed   Kind = "changed"
	Renamed   Kind = "renamed"
	Unmerged  Kind = "unmerged"
	Untracked Kind = "untracked"
	Ignored   Kind = "ignored"
)

// ChangedFiles bounds how many changed files are reported one by one.
var ChangedFiles = tools.Limit{Name: "maxFiles", Default: 1000, Hard: 10_000}

// StatusOptions say what a status covers. Nil is the zero value.
type StatusOptions struct {
	// Paths keep it to files or directories of the opened directory.
	Paths []string
	// Whole is the whole work tree, whichever directory was opened; paths of the
	// entries are then relative to Top. Paths are ignored.
	Whole bool
	// AllUntracked names every untracked file, and not directories that hold nothing
	// else (git's -uall).
	AllUntracked bool
	// Ignored adds ignored entries: directories as a whole where a pattern matches
	// them, else files (git's --ignored=matching).
	Ignored bool
	// MaxEntries is how many entries are returned: ChangedFiles.
	MaxEntries int64
	// MaxOutput bounds what git prints, in bytes: 4 MiB, at most 64 MiB.
	MaxOutput int64
}

// Status is what git knows of a work tree's changes.
type Status struct {
	Branch  Branch
	Entries []Entry
	// Dirty reports that something differs from the commit: also an untracked file,
	// not an ignored one.
	Dirty bool
	// Truncated reports that there are more entries than Entries. TruncatedBy says
	// which bound it was: "entries" or "bytes".
	Truncated   bool
	TruncatedBy string
	// Total counts all entries that were seen, at least len(Entries).
	Total int
}

// Branch is where HEAD is.
type Branch struct {
	// Name is empty for a detached HEAD.
	Name string
	// OID is the commit, empty when there is none yet.
	OID string
	// Upstream is empty when none is set.
	Upstream string
	// Ahead and Behind count commits; nil when there is no upstream or it is gone.
	Ahead, Behind *int
}

// Entry is one path of a status (git-status(1), "Porcelain Format Version 2").
type Entry struct {
	Path string
	// OrigPath is the path in HEAD of what was renamed or copied. It is empty when that
	// is outside the opened directory.
	OrigPath string
	Kind     Kind
	// Similarity is "R" or "C" and a percentage for what was renamed or copied.
	Similarity string
	// Index and Worktree are git's letters, "." for no change: M A D R C T U; both
	// are "?" or "!" for what is untracked or ignored.
	Index, Worktree string
	// Submodule is git's four letters, "N..." for what is none. What is only dirty
	// within a submodule is never looked at.
	Submodule string
	// HeadMode, IndexMode and WorktreeMode are octal, 0 for what is not there.
	// HeadID and IndexID are objects. For unmerged entries these four are zero.
	HeadMode, IndexMode, WorktreeMode uint32
	HeadID, IndexID                   string
	// Stages are the merge base, ours and theirs of an unmerged entry.
	Stages [3]Stage
}

// Stage is one side of an unmerged path; its mode is 0 where it has no such path.
type Stage struct {
	Mode uint32
	ID   string
}

// Status compares HEAD, the index and the work tree, without writing the index. A status
// over its bounds is not an error but truncated.
func (g *Repository) Status(ctx context.Context, opts *StatusOptions) (*Status, error) {
	if opts == nil {
		opts = &StatusOptions{}
	}
	most, err := ChangedFiles.Option(opts.MaxEntries)
	if err != nil {
		return nil, err
	}
	args, err := g.statusArguments(opts)
	if err != nil {
		return nil, err
	}
	out, err := g.run(ctx, args, &RunOptions{MaxOutput: opts.MaxOutput, Partial: true})
	if err != nil {
		return nil, err
	}
	status := &Status{}
	records := bytes.Split(out.Stdout, []byte{0})
	records = records[:len(records)-1] // behind the last NUL is nothing, or a part of a record
	parser := statusParser{status: status, g: g, whole: opts.Whole, most: int(most)}
	if err := parser.parse(records); err != nil {
		return nil, err
	}
	if out.Truncated {
		status.Truncated, status.TruncatedBy = true, "bytes"
	}
	return status, nil
}

func (g *Repository) statusArguments(opts *StatusOptions) ([]string, error) {
	// Every flag that the repository's configuration could change is given.
	args := []string{"status", "--porcelain=v2", "-z", "--branch", "--ahead-behind", "--find-renames=50%", "--untracked-files=normal"}
	if opts.AllUntracked {
		args[len(args)-1] = "--untracked-files=all"
	}
	if opts.Ignored {
		args = append(args, "--ignored=matching")
	}
	if opts.Whole {
		return args, nil
	}
	specs, err := g.pathspecs(opts.Paths)
	return append(args, specs...), err
}

// statusParser reads the records of one status.
type statusParser struct {
	status *Status
	g      *Repository
	whole  bool
	most   int
}

func (p *statusParser) parse(records [][]byte) error {
	for i := 0; i < len(records); i++ {
		record := string(records[i])
		if header, ok := strings.CutPrefix(record, "# "); ok {
			p.header(header)
			continue
		}
		entry, ok := parseEntry(record)
		if !ok {
			return tools.Errorf(tools.CodeGitFailed, "git status printed %q, which is not porcelain format 2", record)
		}
		if entry.Kind == Renamed {
			if i++; i == len(records) { // cut off by the bound on output
				break
			}
			entry.OrigPath = string(records[i])
		}
		p.add(entry)
	}
	return nil
}

func (p *statusParser) header(text string) {
	key, value, _ := strings.Cut(text, " ")
	branch := &p.status.Branch
	switch key {
	case "branch.oid":
		if value != "(initial)" {
			branch.OID = value
		}
	case "branch.head":
		if value != "(detached)" {
			branch.Name = value
		}
	case "branch.upstream":
		branch.Upstream = value
	case "branch.ab":
		ahead, behind, _ := strings.Cut(value, " ")
		a, errA := strconv.Atoi(strings.TrimPrefix(ahead, "+"))
		b, errB := strconv.Atoi(strings.TrimPrefix(behind, "-"))
		if errA == nil && errB == nil {
			branch.Ahead, branch.Behind = &a, &b
		}
	}
}

func (p *statusParser) add(entry Entry) {
	if !p.whole {
		rel, ok := p.g.Inside(entry.Path)
		if !ok {
			return
		}
		entry.Path = rel
		entry.OrigPath, _ = p.g.Inside(entry.OrigPath)
	}
	p.status.Total++
	p.status.Dirty = p.status.Dirty || entry.Kind != Ignored
	if len(p.status.Entries) == p.most {
		p.status.Truncated, p.status.TruncatedBy = true, "entries"
		return
	}
	p.status.Entries = append(p.status.Entries, entry)
}

// fieldsOf says how many fields come before the path of each type of record.
func fieldsOf(kind byte) int {
	switch kind {
	case '1':
		return 8
	case '2':
		return 9
	case 'u':
		return 10
	case '?', '!':
		return 1
	}
	return 0
}

func parseEntry(record string) (entry Entry, ok bool) {
	if record == "" || fieldsOf(record[0]) == 0 {
		return entry, false
	}
	count := fieldsOf(record[0])
	fields := strings.SplitN(record, " ", count+1)
	if len(fields) != count+1 || fields[count] == "" {
		return entry, false
	}
	entry.Path = fields[count]
	switch record[0] {
	case '?':
		entry.Kind, entry.Index, entry.Worktree = Untracked, "?", "?"
		return entry, true
	case '!':
		entry.Kind, entry.Index, entry.Worktree = Ignored, "!", "!"
		return entry, true
	}
	if len(fields[1]) != 2 {
		return entry, false
	}
	entry.Index, entry.Worktree, entry.Submodule = fields[1][:1], fields[1][1:], fields[2]
	if record[0] == 'u' {
		entry.Kind = Unmerged
		for i := range entry.Stages {
			entry.Stages[i] = Stage{mode(fields[3+i]), fields[7+i]}
		}
		entry.WorktreeMode = mode(fields[6])
		return entry, true
	}
	entry.Kind = Changed
	if record[0] == '2' {
		entry.Kind, entry.Similarity = Renamed, fields[8]
	}
	entry.HeadMode, entry.IndexMode, entry.WorktreeMode = mode(fields[3]), mode(fields[4]), mode(fields[5])
	entry.HeadID, entry.IndexID = fields[6], fields[7]
	return entry, true
}

// mode reads an octal mode; git prints no other.
func mode(text string) uint32 {
	value, err := strconv.ParseUint(text, 8, 32)
	if err != nil {
		return 0
	}
	return uint32(value)
}
