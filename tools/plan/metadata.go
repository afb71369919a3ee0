package plan

import (
	"bytes"
	"encoding/json"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
)

// SchemaVersion is the version of Metadata's form.
const SchemaVersion = 1

// Status is how far a task is.
type Status string

// The statuses.
const (
	StatusPlanned          Status = "planned"
	StatusEditing          Status = "editing"
	StatusChecking         Status = "checking"
	StatusAwaitingApproval Status = "awaiting_approval"
	StatusReadyForHandoff  Status = "ready_for_handoff"
	StatusCompleted        Status = "completed"
	StatusFailed           Status = "failed"
	StatusCancelled        Status = "cancelled"
)

// Values lists the statuses.
func (Status) Values() []string {
	return []string{
		string(StatusPlanned), string(StatusEditing), string(StatusChecking), string(StatusAwaitingApproval),
		string(StatusReadyForHandoff), string(StatusCompleted), string(StatusFailed), string(StatusCancelled),
	}
}

// Reference names content that is kept elsewhere.
type Reference struct {
	// URI is where: a path relative to the root, or an absolute URI.
	URI string `json:"uri"`
	// SHA256 is the content's, in lower-case hexadecimal.
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
}

// CheckSummary is what became of a named check, without its output.
type CheckSummary struct {
	Name     string `json:"name"`
	ExitCode int    `json:"exitCode"`
	// DurationMS is how long it took, in milliseconds.
	DurationMS int64 `json:"durationMs"`
	// Summary is short and for a person.
	Summary string `json:"summary,omitempty"`
	// TreeID is the tree that was checked.
	TreeID string `json:"treeId,omitempty"`
}

// Passed reports whether the check ended with status 0.
func (c CheckSummary) Passed() bool { return c.ExitCode == 0 }

// Fingerprints are SHA-256 sums of what a task was worked on with, as
// tools.Fingerprint makes them; "" is one that is not recorded. Revision is any text.
type Fingerprints struct {
	Revision   string `json:"revision,omitempty"`
	Definition string `json:"definition,omitempty"`
	Image      string `json:"image,omitempty"`
	Tools      string `json:"tools,omitempty"`
	Policy     string `json:"policy,omitempty"`
}

// Metadata is what is recorded of a task so that it can be gone on with later, by
// whoever shows that all is as it was. It holds names, numbers and sums: no content,
// no output, and nothing secret.
type Metadata struct {
	SchemaVersion int         `json:"schemaVersion"`
	Owner         state.Owner `json:"owner"`
	TaskID        string      `json:"taskId"`
	Status        Status      `json:"status"`
	// WorkspaceRoot and Worktree are absolute paths, the branches names without
	// refs/heads/.
	WorkspaceRoot string `json:"workspaceRoot,omitempty"`
	BaseBranch    string `json:"baseBranch,omitempty"`
	Branch        string `json:"branch,omitempty"`
	Worktree      string `json:"worktree,omitempty"`
	// BaseID and HeadID are commits, TreeID is the tree of all that the work tree
	// held, but for the plan itself.
	BaseID string `json:"baseId,omitempty"`
	HeadID string `json:"headId,omitempty"`
	TreeID string `json:"treeId,omitempty"`

	Plan      *Reference     `json:"plan,omitempty"`
	Export    *Reference     `json:"export,omitempty"`
	Artifacts []Reference    `json:"artifacts,omitempty"`
	Checks    []CheckSummary `json:"checks,omitempty"`
	// Handoff is a short summary; the hand-off itself is an artifact.
	Handoff      string       `json:"handoff,omitempty"`
	Fingerprints Fingerprints `json:"fingerprints"`
	Todos        []Todo       `json:"todos,omitempty"`
	UpdatedAt    time.Time    `json:"updatedAt"`
	// Host is what the host adds: a JSON object, for which the rules about names and
	// numbers hold as well.
	Host json.RawMessage `json:"host,omitempty"`
}

// The bounds of metadata.
var (
	// MetadataBytes bounds the JSON.
	MetadataBytes = tools.Limit{Name: "metadataBytes", Default: 64 << 10, Hard: 512 << 10}
	// SummaryBytes bounds the summary of a check, and of a hand-off.
	SummaryBytes = tools.Limit{Name: "summaryBytes", Default: 1 << 10, Hard: 8 << 10}
)

// MetadataLimits are the bounds of metadata; zero is each limit's default.
type MetadataLimits struct {
	// Bytes is MetadataBytes, Summary SummaryBytes.
	Bytes, Summary int64
	// Artifacts is state.ArtifactReferences, ArtifactBytes state.ArtifactBytes.
	Artifacts, ArtifactBytes int64
	// Plan bounds the items.
	Plan Limits
}

func (l MetadataLimits) settle() (MetadataLimits, error) {
	var err error
	for value, limit := range map[*int64]tools.Limit{
		&l.Bytes: MetadataBytes, &l.Summary: SummaryBytes, &l.Artifacts: state.ArtifactReferences, &l.ArtifactBytes: state.ArtifactBytes,
	} {
		if *value, err = limit.Option(*value); err != nil {
			return l, err
		}
	}
	l.Plan, err = l.Plan.settle()
	return l, err
}

// Encode returns the canonical JSON of valid metadata. CodeCodingCheckpoint: it is not
// valid, and why.
func (m *Metadata) Encode(limits MetadataLimits) ([]byte, error) {
	limits, err := limits.settle()
	if err != nil {
		return nil, err
	}
	if err := m.check(limits); err != nil {
		return nil, err
	}
	text, err := json.Marshal(m)
	if err != nil {
		return nil, malformed("it has no JSON: %w", err)
	}
	if text, err = tools.Canonical(text); err != nil {
		return nil, malformed("%w", err)
	}
	if int64(len(text)) > limits.Bytes {
		return nil, malformed("it has %d bytes, must have at most %d", len(text), limits.Bytes)
	}
	return text, forbidNames(text)
}

// DecodeMetadata reads what Encode, or a host, has written. CodeCodingCheckpoint: it is
// not valid, and why.
func DecodeMetadata(text []byte, limits MetadataLimits) (*Metadata, error) {
	limits, err := limits.settle()
	if err != nil {
		return nil, err
	}
	if int64(len(text)) > limits.Bytes {
		return nil, malformed("it has %d bytes, must have at most %d", len(text), limits.Bytes)
	}
	canonical, err := tools.Canonical(text)
	if err != nil {
		return nil, malformed("%w", err)
	}
	if err := forbidNames(canonical); err != nil {
		return nil, err
	}
	m := &Metadata{}
	if err := jsonv2.Unmarshal(canonical, m, jsonv2.RejectUnknownMembers(true)); err != nil {
		return nil, malformed("%w", err)
	}
	if bytes.Equal(m.Host, []byte("null")) {
		m.Host = nil
	}
	return m, m.check(limits)
}

func malformed(format string, args ...any) error {
	reason := tools.Errorf(tools.CodeCodingCheckpoint, format, args...)
	return tools.Errorf(tools.CodeCodingCheckpoint, "the checkpoint is not valid: %s", reason.Message)
}
