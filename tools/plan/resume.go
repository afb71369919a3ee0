package plan

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
)

// Presented is what somebody who wants to go on with a task has found: not what was
// recorded, but what is.
type Presented struct {
	Owner         state.Owner
	SchemaVersion int
	TaskID        string
	WorkspaceRoot string
	BaseBranch    string
	Branch        string
	Worktree      string
	BaseID        string
	HeadID        string
	TreeID        string
	Fingerprints  Fingerprints
	// Plan is the plan's file as it is; nil is none. PlanURI is where it is.
	Plan    []byte
	PlanURI string
	// Export and Artifacts are those that were read and found to be as their sums say:
	// see ReadArtifacts.
	Export    *Reference
	Artifacts []Reference
}

// Difference is one thing that is not as it was recorded. Of another owner's record
// nothing is told.
type Difference struct {
	Field     string `json:"field"`
	Recorded  string `json:"recorded,omitempty"`
	Presented string `json:"presented,omitempty"`
}

// Differences is the Details of ResumeAllowed's error.
type Differences struct {
	Differences []Difference `json:"differences"`
}

// ResumeAllowed returns nil if a task may be gone on with: everything that was recorded
// is presented and the same, and no fingerprint is presented that was not recorded.
// Otherwise it is CodeCodingCheckpoint, which lists all that differs.
func ResumeAllowed(recorded *Metadata, presented *Presented) error {
	if recorded.Owner != presented.Owner {
		return differ([]Difference{{Field: "owner"}})
	}
	if recorded.SchemaVersion != presented.SchemaVersion {
		return differ([]Difference{{"schemaVersion", fmt.Sprint(recorded.SchemaVersion), fmt.Sprint(presented.SchemaVersion)}})
	}
	var found []Difference
	compare := func(field, recorded, presented string, both bool) {
		if recorded != presented && (recorded != "" || both) {
			found = append(found, Difference{field, recorded, presented})
		}
	}
	r, p := recorded, presented
	compare("taskId", r.TaskID, p.TaskID, true)
	compare("workspaceRoot", r.WorkspaceRoot, p.WorkspaceRoot, false)
	compare("baseBranch", r.BaseBranch, p.BaseBranch, false)
	compare("branch", r.Branch, p.Branch, false)
	compare("worktree", r.Worktree, p.Worktree, false)
	compare("baseId", r.BaseID, p.BaseID, false)
	compare("headId", r.HeadID, p.HeadID, false)
	compare("treeId", r.TreeID, p.TreeID, false)
	compare("fingerprints.revision", r.Fingerprints.Revision, p.Fingerprints.Revision, true)
	compare("fingerprints.definition", r.Fingerprints.Definition, p.Fingerprints.Definition, true)
	compare("fingerprints.image", r.Fingerprints.Image, p.Fingerprints.Image, true)
	compare("fingerprints.tools", r.Fingerprints.Tools, p.Fingerprints.Tools, true)
	compare("fingerprints.policy", r.Fingerprints.Policy, p.Fingerprints.Policy, true)
	if r.Plan != nil {
		var now *Reference
		if p.Plan != nil {
			now = sumOf(p.Plan)
		}
		compare("plan", r.Plan.text(), now.text(), false)
		compare("plan.uri", r.Plan.URI, p.PlanURI, false)
	}
	compare("export", r.Export.text(), p.Export.text(), false)
	compare("export.uri", r.Export.uri(), p.Export.uri(), false)
	found = append(found, compareArtifacts(r.Artifacts, p.Artifacts)...)
	if len(found) > 0 {
		return differ(found)
	}
	return nil
}

// compareArtifacts wants each that was recorded, and no other.
func compareArtifacts(recorded, presented []Reference) []Difference {
	now := map[string]Reference{}
	for _, reference := range presented {
		now[reference.URI] = reference
	}
	var found []Difference
	for _, was := range recorded {
		is, there := now[was.URI]
		delete(now, was.URI)
		if !there || was != is {
			difference := Difference{Field: "artifacts " + was.URI, Recorded: was.text()}
			if there {
				difference.Presented = is.text()
			}
			found = append(found, difference)
		}
	}
	for _, reference := range presented {
		if _, extra := now[reference.URI]; extra {
			found = append(found, Difference{Field: "artifacts " + reference.URI, Presented: reference.text()})
		}
	}
	return found
}

func differ(found []Difference) error {
	var fields []string
	for _, difference := range found {
		fields = append(fields, difference.Field)
	}
	return tools.Errorf(tools.CodeCodingCheckpoint, "the task cannot be gone on with from here; not as recorded: %s",
		clip(strings.Join(fields, ", "))).WithDetails(Differences{found})
}

// text is sum and size, or "" for none.
func (r *Reference) text() string {
	if r == nil {
		return ""
	}
	return fmt.Sprintf("%s (%d bytes)", r.SHA256, r.Bytes)
}

func (r *Reference) uri() string {
	if r == nil {
		return ""
	}
	return r.URI
}

func sumOf(data []byte) *Reference {
	sum := sha256.Sum256(data)
	return &Reference{SHA256: hex.EncodeToString(sum[:]), Bytes: int64(len(data))}
}

// ReadArtifacts reads every artifact that is referred to, and returns those that are
// there and as their sums say. Errors are those of ctx alone: an artifact that cannot
// be read is not presented.
func ReadArtifacts(ctx context.Context, store state.ArtifactStore, owner state.Owner, references []Reference) ([]Reference, error) {
	var found []Reference
	for _, reference := range references {
		n, err := readArtifact(ctx, store, owner, reference.SHA256)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err == nil:
			found = append(found, Reference{URI: reference.URI, SHA256: reference.SHA256, Bytes: n})
		}
	}
	return found, nil
}

func readArtifact(ctx context.Context, store state.ArtifactStore, owner state.Owner, sum string) (int64, error) {
	content, err := store.Open(ctx, owner, sum)
	if err != nil {
		return 0, err
	}
	defer content.Close()
	return io.Copy(io.Discard, content)
}
