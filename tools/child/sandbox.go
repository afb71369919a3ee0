package child

import (
	"errors"
	"fmt"
	"path/filepath"
)

// Mode says what to do when a sandbox is asked for.
type Mode string

const (
	// Off runs without a sandbox. The empty Mode means the same.
	Off Mode = "off"
	// Prefer applies what this system can enforce and runs in any case;
	// Process.Sandbox says what it came to.
	Prefer Mode = "prefer"
	// Require fails with ErrSandbox unless writes are confined and, without
	// AllowNetwork, the network is closed.
	Require Mode = "require"
)

// Sandbox confines a program and everything that it starts: it may read all
// that its user may read, and write, create and remove only below WriteRoots
// and to the usual devices (null, zero, full, random, the terminals).
//
// Landlock, which enforces this on Linux, does not cover metadata: a program
// may still change modes, times and owners of files that its user owns
// (landlock(7), "Current limitations").
type Sandbox struct {
	Mode Mode
	// WriteRoots are absolute paths of existing directories or files. List the
	// temporary directory here that the program's TMPDIR names.
	WriteRoots []string
	// AllowNetwork leaves sockets alone, those of local services included: one
	// that acts for its callers (a container engine) is a way out. Without it
	// the program gets no sockets but unconnected local ones and pairs.
	AllowNetwork bool
}

// Capabilities says which parts of an isolation truly hold. What is not known
// to hold is false.
type Capabilities struct {
	// WorkspaceCoherent: the program and prism-ls see the same files.
	WorkspaceCoherent bool `json:"workspaceCoherent"`
	// FilesystemIsolated: contents outside of WriteRoots cannot be changed.
	FilesystemIsolated bool `json:"filesystemIsolated"`
	// NetworkIsolated: no TCP, UDP or other network socket, and no connection
	// to a local socket of a program outside.
	NetworkIsolated bool `json:"networkIsolated"`
	// ProcessIsolated: programs outside cannot be signalled or traced.
	ProcessIsolated bool `json:"processIsolated"`
	// PrivilegeIsolated: nothing that is executed gains privileges, and those
	// of an administrator over the system are gone.
	PrivilegeIsolated bool `json:"privilegeIsolated"`
	// EgressRestricted: data can leave only where it was allowed to, which
	// without a proxy means nowhere.
	EgressRestricted bool `json:"egressRestricted"`
}

func (s *Sandbox) mode() Mode {
	if s == nil || s.Mode == "" {
		return Off
	}
	return s.Mode
}

func (s *Sandbox) check() error {
	switch s.mode() {
	case Off:
		return nil
	case Prefer, Require:
	default:
		return fmt.Errorf("child: Sandbox.Mode %q, must be require, prefer or off", s.Mode)
	}
	for _, root := range s.WriteRoots {
		if !filepath.IsAbs(root) {
			return fmt.Errorf("child: Sandbox.WriteRoots %q, must be absolute", root)
		}
		if filepath.Clean(root) == string(filepath.Separator) {
			return errors.New("child: Sandbox.WriteRoots holds the root directory, which confines nothing")
		}
	}
	return nil
}
