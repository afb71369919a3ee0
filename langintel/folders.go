package langintel

import (
	"path"
	"path/filepath"
	"slices"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/protocol"
)

// folders are the workspace folders that a session knows (LSP 3.17
// §workspace_workspaceFolders).
type folders struct {
	session *session

	mu   sync.Mutex
	dirs []string // relative to the workspace
}

func (f *folders) init(v *session) {
	f.session, f.dirs = v, []string{v.server.root}
	if v.spec.MultiRoot {
		if wanted := v.server.wanted(); len(wanted) > 0 {
			f.dirs = wanted
		}
	}
}

func (f *folders) list() []protocol.WorkspaceFolder {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.folders(f.dirs)
}

func (f *folders) folders(dirs []string) []protocol.WorkspaceFolder {
	out := make([]protocol.WorkspaceFolder, 0, len(dirs))
	for _, dir := range dirs {
		name := path.Base(dir)
		if dir == "." {
			name = filepath.Base(f.session.client.work.Root())
		}
		out = append(out, protocol.WorkspaceFolder{URI: string(f.session.uriOf(dir)), Name: name})
	}
	return out
}

// ensure tells the server of roots that it does not know yet
// (§workspace_didChangeWorkspaceFolders). known is false when it takes them at its
// start only.
func (f *folders) ensure(dirs []string) (known bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var added []string
	for _, dir := range dirs {
		if !slices.Contains(f.dirs, dir) {
			added = append(added, dir)
		}
	}
	if len(added) == 0 {
		return true, nil
	}
	if _, registered := f.session.dynamic.find("workspace/didChangeWorkspaceFolders"); !registered && !f.session.caps.takesFolders() {
		return false, nil
	}
	f.dirs = append(f.dirs, added...)
	return true, f.session.rpc.notify("workspace/didChangeWorkspaceFolders", protocol.DidChangeWorkspaceFoldersParams{
		Event: protocol.WorkspaceFoldersChangeEvent{Added: f.folders(added), Removed: []protocol.WorkspaceFolder{}},
	})
}

// takesFolders reports whether folders may be added (LSP 3.17
// §workspaceFoldersServerCapabilities).
func (c *serverCapabilities) takesFolders() bool {
	return c.Workspace.Folders.Supported && offered(c.Workspace.Folders.Notifications)
}

// workspaceCapabilities is the part of §serverCapabilities.workspace in use.
type workspaceCapabilities struct {
	Folders struct {
		Supported     bool           `json:"supported"`
		Notifications jsontext.Value `json:"changeNotifications"` // a boolean or a registration's id
	} `json:"workspaceFolders"`
	FileOperations fileOperations `json:"fileOperations"`
}
