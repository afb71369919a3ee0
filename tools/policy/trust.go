package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"time"
)

// Trust remembers, outside of any workspace, which workspaces a person trusts
// to run code of their own: one file a workspace, named by the hash of the
// root's real path.
type Trust struct{ dir string }

// NewTrust keeps the records in dir, which is made (0700) when first needed.
func NewTrust(dir string) *Trust { return &Trust{dir} }

type trustRecord struct {
	Root string    `json:"root"`
	Time time.Time `json:"time"`
}

// Trusted reports whether the workspace with that real root path is trusted.
// Whatever cannot be read is not trusted.
func (t *Trust) Trusted(root string) bool {
	var record trustRecord
	text, err := os.ReadFile(t.file(root))
	return err == nil && json.Unmarshal(text, &record) == nil && record.Root == root
}

// Set records or takes back trust in a root.
func (t *Trust) Set(root string, trusted bool) error {
	if !trusted {
		if err := os.Remove(t.file(root)); err != nil && !os.IsNotExist(err) {
			return stateError(err)
		}
		return nil
	}
	if err := os.MkdirAll(t.dir, 0o700); err != nil {
		return stateError(err)
	}
	text, err := json.Marshal(trustRecord{root, time.Now()})
	if err != nil {
		return err
	}
	if err := os.WriteFile(t.file(root), text, 0o600); err != nil {
		return stateError(err)
	}
	return nil
}

func (t *Trust) file(root string) string {
	sum := sha256.Sum256([]byte(root))
	return filepath.Join(t.dir, hex.EncodeToString(sum[:16])+".json")
}
