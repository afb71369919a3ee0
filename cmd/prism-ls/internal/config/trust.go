package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/policy"
)

// TrustFile records that a person trusts this workspace and its prism-ls.toml
// as it is now, or takes that back. A later change of the file makes it narrow
// again, since whoever can write to a workspace could change it.
func (c *Config) TrustFile(trusted bool) error {
	if c.StateDir == "" {
		return tools.Errorf(tools.CodeStateUnavailable, "there is no state directory to record trust in; name one with --state-dir")
	}
	digest := digestFile(c.TrustDir(), c.Root)
	if err := os.Remove(digest); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return tools.Errorf(tools.CodeStateUnavailable, "%w", err)
	}
	if err := policy.NewTrust(c.TrustDir()).Set(c.Root, trusted); err != nil {
		return err
	}
	text, err := readFile(filepath.Join(c.Root, FileName))
	if !trusted || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := decode(FileName, text, &Settings{}); err != nil {
		return err
	}
	if err := os.WriteFile(digest, []byte(textDigest(text)), 0o600); err != nil {
		return tools.Errorf(tools.CodeStateUnavailable, "%w", err)
	}
	return nil
}

// trustedText reports whether this text is what was trusted.
func trustedText(dir, root string, text []byte) bool {
	recorded, err := os.ReadFile(digestFile(dir, root))
	return err == nil && string(recorded) == textDigest(text)
}

func digestFile(dir, root string) string {
	sum := sha256.Sum256([]byte(root))
	return filepath.Join(dir, hex.EncodeToString(sum[:16])+".sha256")
}

func textDigest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
