package config

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
)

// The files of the state directory.
const (
	auditFile   = "audit.jsonl"
	consentsDir = "consents"
	trustDir    = "trust"
	stateFile   = "state.db"
)

// AuditFile is the log of mutating calls.
func (c *Config) AuditFile() string { return filepath.Join(c.StateDir, auditFile) }

// ConsentsDir holds approvals given outside of a call.
func (c *Config) ConsentsDir() string { return filepath.Join(c.StateDir, consentsDir) }

// StateFile holds the stores, unless StateDSN names a database; "" is nowhere.
func (c *Config) StateFile() string {
	if c.StateDir == "" {
		return ""
	}
	return filepath.Join(c.StateDir, stateFile)
}

// StateDSN is the database that holds the stores, or "".
func (c *Config) StateDSN() string {
	if c.System.StateDSN != "" {
		return c.System.StateDSN
	}
	return c.State.DSN
}

// StateSecrets are what of the DSN must not be shown: all of it, and its password.
func (c *Config) StateSecrets() []string {
	dsn := c.StateDSN()
	if dsn == "" {
		return nil
	}
	secrets := []string{dsn}
	if parsed, err := url.Parse(dsn); err == nil {
		password, _ := parsed.User.Password() // of nobody, too
		secrets = append(secrets, password, parsed.Query().Get("password"))
	}
	for _, word := range strings.Fields(dsn) {
		if password, ok := strings.CutPrefix(word, "password="); ok {
			secrets = append(secrets, strings.Trim(password, "'"))
		}
	}
	return slices.DeleteFunc(secrets, func(secret string) bool { return secret == "" })
}

// TrustDir holds the records of trusted workspaces.
func (c *Config) TrustDir() string { return filepath.Join(c.StateDir, trustDir) }

// LogFile is what a server logs to beside standard error.
func (c *Config) LogFile() string { return filepath.Join(c.StateDir, "log", "prism-ls.log") }

// OutputDir holds the whole output of commands whose output was truncated.
func (c *Config) OutputDir() string { return filepath.Join(c.StateDir, "output") }

// ServerDir holds the language servers that prism-ls has installed.
func (c *Config) ServerDir() string { return filepath.Join(c.StateDir, "servers") }

// SessionsDir holds what process sessions of this root keep: long output, and what
// is needed to take them up again. "" is nowhere.
func (c *Config) SessionsDir() string {
	if c.StateDir == "" {
		return ""
	}
	return filepath.Join(c.StateDir, "sessions", c.rootKey())
}

// rootKey is the root as a directory's name.
func (c *Config) rootKey() string {
	sum := sha256.Sum256([]byte(c.Root))
	return hex.EncodeToString(sum[:8])
}

// CacheDir is what confined commands of this root have for caches.
func (c *Config) CacheDir() string { return filepath.Join(c.StateDir, "cache", c.rootKey()) }

// SocketDirs are the directories in which this workspace's daemon may listen: the
// first one that can be used is where one is started, and any may have one,
// started by a client that was told less of the environment.
func (c *Config) SocketDirs() []string {
	var dirs []string
	if c.System.RuntimeHome != "" {
		dirs = append(dirs, filepath.Join(c.System.RuntimeHome, "prism-ls"))
	}
	if c.StateDir != "" {
		dirs = append(dirs, filepath.Join(c.StateDir, "run"))
	}
	if c.System.LoginRuntime != "" && c.System.RuntimeHome == "" {
		dirs = append(dirs, filepath.Join(c.System.LoginRuntime, "prism-ls"))
	}
	return dirs
}

func (c *Config) setDirs(flags Flags) error {
	switch {
	case flags.StateDir != "":
		dir, err := filepath.Abs(flags.StateDir)
		if err != nil {
			return tools.Errorf(tools.CodeToolInput, "--state-dir %s: %w", flags.StateDir, err)
		}
		c.StateDir = dir
	case c.System.StateHome != "":
		c.StateDir = filepath.Join(c.System.StateHome, "prism-ls")
	}
	return nil
}

// setRoot finds the real path of the root.
func (c *Config) setRoot(given string) error {
	root := given
	if root == "" {
		root = "."
	}
	if !filepath.IsAbs(root) {
		if c.System.WorkDir == "" {
			return tools.Errorf(tools.CodeToolInput, "the working directory is gone; name the workspace with --root DIR")
		}
		root = filepath.Join(c.System.WorkDir, root)
	}
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return tools.Errorf(tools.AsError(err).Code, "the workspace root %s cannot be used: %w", root, err)
	}
	info, err := os.Stat(real)
	if err != nil {
		return tools.Errorf(tools.AsError(err).Code, "the workspace root %s cannot be used: %w", root, err)
	}
	if !info.IsDir() {
		return tools.Errorf(tools.CodeToolInput, "the workspace root %s is not a directory", root)
	}
	c.Root = real
	return nil
}
