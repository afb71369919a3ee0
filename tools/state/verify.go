package state

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"

	"github.com/prism-ls/prism-ls/tools"
)

// CheckArtifact checks what names an artifact.
func CheckArtifact(owner Owner, sum string) error {
	if err := owner.Check(); err != nil {
		return err
	}
	if raw, err := hex.DecodeString(sum); err != nil || len(raw) != sha256.Size || hex.EncodeToString(raw) != sum {
		return tools.Errorf(tools.CodeToolInput, "an artifact is named by a SHA-256 in 64 lower-case hexadecimal digits, not by %q", sum)
	}
	return nil
}

// NoArtifact is the error for an artifact that is not there.
func NoArtifact(sum string) error {
	return tools.Errorf(tools.CodeNotFound, "there is no artifact %s", sum)
}

// VerifyArtifact returns a reader of content that compares it with what is known of
// the artifact, and ends in CodeStateUnavailable where the content does not fit.
func VerifyArtifact(artifact Artifact, content io.ReadCloser) io.ReadCloser {
	return &verifier{artifact: artifact, content: content, sum: sha256.New(), left: artifact.Bytes}
}

type verifier struct {
	artifact Artifact
	content  io.ReadCloser
	sum      hash.Hash
	left     int64
	err      error // what ended it
}

func (v *verifier) Read(p []byte) (int, error) {
	if v.err != nil {
		return 0, v.err
	}
	n, err := v.content.Read(p)
	v.sum.Write(p[:n])
	v.left -= int64(n)
	switch {
	case v.left < 0, errors.Is(err, io.EOF) && (v.left > 0 || hex.EncodeToString(v.sum.Sum(nil)) != v.artifact.SHA256):
		err = tools.Errorf(tools.CodeStateUnavailable, "the artifact %s is not what was kept", v.artifact.SHA256)
		if v.left < 0 {
			n = 0
		}
	}
	v.err = err
	return n, err
}

func (v *verifier) Close() error { return v.content.Close() }
