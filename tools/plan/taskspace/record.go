package taskspace

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/prism-ls/prism-ls/tools"
)

// State is how far a workspace has come.
type State string

// The states.
const (
	// Active: its work trees are there, or being made.
	Active State = "active"
	// Cleaning: they are being taken away; Cleanup goes on with that.
	Cleaning State = "cleaning"
	// Closed: they are gone; Undo brings them back.
	Closed State = "closed"
	// Unknown: something of it is not where it was left, and what became of it cannot be
	// known. Verify looks again; Cleanup takes it for lost where its policy says so.
	Unknown State = "unknown"
)

// Step is how far one work tree has come.
type Step string

// The steps.
const (
	// Planned: it is not whole yet, and nobody was told of it.
	Planned Step = "planned"
	// Made: it is at its path.
	Made Step = "made"
	// Leaving: it is set aside, what had to be saved is saved, and it goes.
	Leaving Step = "leaving"
	// Gone: it is removed.
	Gone Step = "gone"
)

// Space is the record of one task's workspace.
type Space struct {
	Schema       int        `json:"schema"`
	ID           string     `json:"id"`
	TaskID       string     `json:"taskId"`
	State        State      `json:"state"`
	Repositories []Worktree `json:"repositories"`
	// Artifacts are what somebody attached; what cleanups saved is with the work trees.
	Artifacts []Artifact `json:"artifacts"`
	// Policy is what the cleanup under way was allowed.
	Policy    *Policy   `json:"policy,omitempty"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`

	// Version is the store's, for whoever changes the record.
	Version int64 `json:"version"`
}

// Worktree is what is known of one repository's work tree.
type Worktree struct {
	RepositoryID string `json:"repositoryId"`
	// Repository is the work tree that git is run in for the repository as a whole.
	Repository string `json:"repository"`
	Branch     string `json:"branch"`
	Path       string `json:"path"`
	Step       Step   `json:"step"`
	// Base is the commit that the branch was made from; Head the one that was last
	// recorded.
	Base string `json:"base"`
	Head string `json:"head"`
	// Remotes is the fingerprint of the repository's remotes, without credentials.
	Remotes    string `json:"remoteFingerprint"`
	LockReason string `json:"lockReason"`
	// Directory identifies the directory itself, whatever it is called.
	Directory string `json:"directory,omitempty"`
	// Admin is the name of git's own directory for the work tree.
	Admin string `json:"admin"`
	// Saved is what cleaning up took away and kept.
	Saved []Saved `json:"saved,omitempty"`
}

// Saved names what one look at a work tree found to be nowhere else.
type Saved struct {
	// Files is a tar archive of files that are not committed, and of the index.
	Files *Artifact `json:"files,omitempty"`
	// Patch shows a person what of it HEAD does not have, and PatchCut that it was cut at
	// its bound. There is none where no patch could be made.
	Patch    *Artifact `json:"patch,omitempty"`
	PatchCut bool      `json:"patchCut,omitempty"`
	// Commits is a bundle with the commits and staged content that no ref leads to, and
	// Pin the commit that leads to all of it.
	Commits *Artifact `json:"commits,omitempty"`
	Pin     string    `json:"pin,omitempty"`
	// Head and Ref are where HEAD was; Ref is empty for a detached one.
	Head string `json:"head"`
	Ref  string `json:"ref,omitempty"`
}

// Artifact names content in the artifact store.
type Artifact struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
}

const schema = 1

// encode writes the record, which has a bound.
func (s *Space) encode(most int64) ([]byte, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	if int64(len(text)) > most {
		return nil, over("bytes of the record of "+s.TaskID, int64(len(text)), most)
	}
	return text, nil
}

func decode(data []byte, version int64) (*Space, error) {
	space := &Space{}
	if err := json.Unmarshal(data, space); err != nil {
		return nil, tools.Errorf(tools.CodeStateUnavailable, "the record of a task workspace cannot be read: %w", err)
	}
	if space.Schema != schema {
		return nil, tools.Errorf(tools.CodeStateUnavailable, "the record of task workspace %s has version %d, this program knows %d", space.TaskID, space.Schema, schema)
	}
	space.Version = version
	return space, nil
}

// artifacts are what cleanups saved of the work tree.
func (wt *Worktree) artifacts() []Artifact {
	var list []Artifact
	for _, saved := range wt.Saved {
		for _, artifact := range []*Artifact{saved.Files, saved.Patch, saved.Commits} {
			if artifact != nil {
				list = append(list, *artifact)
			}
		}
	}
	return list
}

// named are all artifacts of the record.
func (s *Space) named() []Artifact {
	list := slices.Clone(s.Artifacts)
	for _, wt := range s.Repositories {
		list = append(list, wt.artifacts()...)
	}
	return list
}

// Policy says which refusals of a cleanup are lifted. The zero value lifts none.
type Policy struct {
	// Dirty saves files that are not committed, ignored ones too, and removes the work
	// tree all the same.
	Dirty bool `json:"dirty,omitempty"`
	// Ignored are ignored files and directories that are nobody's work: they go with the
	// work tree and are not saved. One without a slash is a name at any depth
	// ("node_modules"), others are paths from the top ("build/out").
	Ignored []string `json:"ignored,omitempty"`
	// Locked removes a work tree that somebody else has locked.
	Locked bool `json:"locked,omitempty"`
	// Missing takes a work tree that is not there for removed.
	Missing bool `json:"missing,omitempty"`
	// Unowned removes a linked work tree at that path that is another than the one made,
	// or is not locked any more.
	Unowned bool `json:"unowned,omitempty"`
	// MovedHead removes a work tree that is not on its branch, or whose branch does not
	// hold what was recorded.
	MovedHead bool `json:"movedHead,omitempty"`
}

// Problem is one reason why a work tree is not taken for what was made, or is not
// removed.
type Problem struct {
	RepositoryID string     `json:"repositoryId"`
	Code         tools.Code `json:"code"`
	// Lifts is the field of Policy that lifts it; nothing does if it is empty.
	Lifts   string `json:"lifts,omitempty"`
	Message string `json:"message"`
}

// refusal is the error of problems, nil without any. Its Details are the list.
func refusal(taskID string, problems []Problem) error {
	if len(problems) == 0 {
		return nil
	}
	first := problems[0]
	for _, problem := range problems {
		if problem.Lifts == "" { // what nothing lifts is what has to be known
			first = problem
			break
		}
	}
	text := first.Message
	if len(problems) > 1 {
		text += " (and " + plural(len(problems)-1, "further problem") + ")"
	}
	return tools.Errorf(first.Code, "workspace %s, repository %s: %s", taskID, first.RepositoryID, text).WithDetails(problems)
}

// Names reports whether the record names an artifact of that hash.
func (s *Space) Names(sha256 string) bool {
	return slices.ContainsFunc(s.named(), func(artifact Artifact) bool { return artifact.SHA256 == sha256 })
}
