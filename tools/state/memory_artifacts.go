package state

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"

	"github.com/prism-ls/prism-ls/tools"
)

type memoryArtifacts struct{ memoryView }

type memoryArtifact struct {
	Artifact
	content []byte
}

// Put implements ArtifactStore, but that the content is in memory, as all here is.
func (s memoryArtifacts) Put(ctx context.Context, owner Owner, r io.Reader) (Artifact, error) {
	most, err := ArtifactBytes.Option(s.limits.ArtifactBytes)
	if err != nil {
		return Artifact{}, err
	}
	if err := owner.Check(); err != nil {
		return Artifact{}, err
	}
	content, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil {
		return Artifact{}, err
	}
	if int64(len(content)) > most {
		return Artifact{}, ArtifactTooLarge(most)
	}
	now, leave, err := s.enter(ctx)
	if err != nil {
		return Artifact{}, err
	}
	defer leave()
	sum := sha256.Sum256(content)
	artifact := Artifact{Owner: owner, SHA256: hex.EncodeToString(sum[:]), Bytes: int64(len(content)), Saved: now}
	if s.memory.artifacts[owner] == nil {
		s.memory.artifacts[owner] = map[string]memoryArtifact{}
	}
	if kept, ok := s.memory.artifacts[owner][artifact.SHA256]; ok {
		return kept.Artifact, nil
	}
	s.memory.artifacts[owner][artifact.SHA256] = memoryArtifact{artifact, content}
	return artifact, nil
}

func (s memoryArtifacts) find(ctx context.Context, owner Owner, sum string) (memoryArtifact, error) {
	if err := CheckArtifact(owner, sum); err != nil {
		return memoryArtifact{}, err
	}
	_, leave, err := s.enter(ctx)
	if err != nil {
		return memoryArtifact{}, err
	}
	defer leave()
	kept, ok := s.memory.artifacts[owner][sum]
	if !ok {
		return memoryArtifact{}, NoArtifact(sum)
	}
	return kept, nil
}

// Open implements ArtifactStore.
func (s memoryArtifacts) Open(ctx context.Context, owner Owner, sum string) (io.ReadCloser, error) {
	kept, err := s.find(ctx, owner, sum)
	if err != nil {
		return nil, err
	}
	return VerifyArtifact(kept.Artifact, io.NopCloser(bytes.NewReader(kept.content))), nil
}

// Stat implements ArtifactStore.
func (s memoryArtifacts) Stat(ctx context.Context, owner Owner, sum string) (Artifact, error) {
	kept, err := s.find(ctx, owner, sum)
	return kept.Artifact, err
}

// List implements ArtifactStore; the order is that of the hashes.
func (s memoryArtifacts) List(ctx context.Context, owner Owner, cursor string, limit int64) (ArtifactPage, error) {
	if err := owner.Check(); err != nil {
		return ArtifactPage{}, err
	}
	limit, err := PageRecords.Option(limit)
	if err != nil {
		return ArtifactPage{}, err
	}
	_, leave, err := s.enter(ctx)
	if err != nil {
		return ArtifactPage{}, err
	}
	defer leave()
	sums, next := cut(sorted(s.memory.artifacts[owner], func(memoryArtifact) bool { return true }), cursor, limit)
	page := ArtifactPage{Next: next}
	for _, sum := range sums {
		page.Artifacts = append(page.Artifacts, s.memory.artifacts[owner][sum].Artifact)
	}
	return page, nil
}

// Delete implements ArtifactStore.
func (s memoryArtifacts) Delete(ctx context.Context, owner Owner, sum string) error {
	if err := CheckArtifact(owner, sum); err != nil {
		return err
	}
	_, leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if _, ok := s.memory.artifacts[owner][sum]; !ok {
		return NoArtifact(sum)
	}
	delete(s.memory.artifacts[owner], sum)
	return nil
}

// ArtifactTooLarge is the error for content of more than that many bytes.
func ArtifactTooLarge(most int64) error {
	return tools.Errorf(tools.CodeStateLimit, "an artifact may have %d bytes, and this has more", most)
}
