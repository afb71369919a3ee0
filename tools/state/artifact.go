package state

import (
	"context"
	"io"
	"time"

	"github.com/prism-ls/prism-ls/tools"
)

// Artifact is content that a store keeps under its hash.
type Artifact struct {
	Owner Owner
	// SHA256 is of the content, in hexadecimal.
	SHA256 string
	Bytes  int64
	Saved  time.Time
}

// ArtifactStore keeps content by its hash. What is said of goroutines, processes,
// owners and unavailability in CheckpointStore holds here, but that the same content
// of two owners is two artifacts, of which neither knows.
type ArtifactStore interface {
	// Put keeps what r holds, read once and never whole in memory. The same content
	// again is the same artifact. CodeStateLimit: it is larger than ArtifactBytes, and
	// nothing of it is kept.
	Put(ctx context.Context, owner Owner, r io.Reader) (Artifact, error)
	// Open returns the content. What is read is compared with the hash: instead of
	// io.EOF the last Read returns CodeStateUnavailable when it is not what was kept.
	// CodeNotFound: there is no such artifact of the owner.
	Open(ctx context.Context, owner Owner, sha256 string) (io.ReadCloser, error)
	// Stat returns what is known of it without reading it, or CodeNotFound.
	Stat(ctx context.Context, owner Owner, sha256 string) (Artifact, error)
	// List returns the owner's artifacts, as CheckpointStore's List does.
	List(ctx context.Context, owner Owner, cursor string, limit int64) (ArtifactPage, error)
	// Delete removes it, or is CodeNotFound.
	Delete(ctx context.Context, owner Owner, sha256 string) error
	// Close frees what the store holds, and is idempotent.
	Close() error
}

// ArtifactPage is a part of a list of artifacts.
type ArtifactPage struct {
	Artifacts []Artifact
	Next      string
}

// The bounds of artifacts.
var (
	// ArtifactBytes bounds one artifact.
	ArtifactBytes = tools.Limit{Name: "artifactBytes", Default: 256 << 20, Hard: 2 << 30}
	// ArtifactReferences bounds how many artifacts one record may name.
	ArtifactReferences = tools.Limit{Name: "artifactReferences", Default: 16, Hard: 64}
)
