package acp_test

import (
	"context"
	"errors"
	"io"
	"os"
	"testing"

	protocol "github.com/coder/acp-go-sdk"

	"github.com/prism-ls/prism-ls/procsess"
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/acp"
	"github.com/prism-ls/prism-ls/tools/child"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

func TestMain(m *testing.M) {
	child.Main()
	os.Exit(m.Run())
}

// screen is the part of a client that is nobody's but the editor's.
type screen struct{}

func (screen) RequestPermission(context.Context, protocol.RequestPermissionRequest) (protocol.RequestPermissionResponse, error) {
	return protocol.RequestPermissionResponse{}, protocol.NewMethodNotFound(protocol.ClientMethodSessionRequestPermission)
}

func (screen) SessionUpdate(context.Context, protocol.SessionNotification) error { return nil }

// editor is a client as an editor would write it.
type editor struct {
	*acp.Files
	*acp.Terminals
	screen
}

var _ protocol.Client = editor{}

// agent is what talks to the editor, over a connection as a real one would be.
type agent struct{ protocol.Agent }

// fixture is a workspace with an editor on it, and an agent at the other end of
// the wire.
type fixture struct {
	*protocol.AgentSideConnection
	t       *testing.T
	root    string
	changed chan string
	editor  editor
}

func start(t *testing.T, files acp.FilesOptions, terminals acp.TerminalsOptions) *fixture {
	t.Helper()
	ws, err := workspace.Open(t.TempDir(), &workspace.Options{StateDir: t.TempDir()})
	must(t, err)
	owner := child.NewOwner(nil)
	sessions, err := procsess.New(owner, &procsess.Options{Env: os.Environ(), Dir: ws.Root(), StateDir: t.TempDir()})
	must(t, err)
	f := &fixture{t: t, root: ws.Root(), changed: make(chan string, 100)}
	files.Changed = func(path string) { f.changed <- path }
	f.editor.Files, err = acp.NewFiles(ws, &files)
	must(t, err)
	f.editor.Terminals, err = acp.NewTerminals(sessions, ws, &terminals)
	must(t, err)

	toAgent, fromEditor := io.Pipe()
	toEditor, fromAgent := io.Pipe()
	protocol.NewClientSideConnection(f.editor, fromEditor, toEditor)
	f.AgentSideConnection = protocol.NewAgentSideConnection(agent{}, fromAgent, toAgent)
	t.Cleanup(func() {
		fromEditor.Close()
		fromAgent.Close()
		for _, end := range []io.Closer{sessions, owner, ws} {
			if err := end.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	return f
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// refused checks that an error arrived at the agent with a code of the protocol
// and one of ours.
func refused(t *testing.T, err error, code int, ours tools.Code) {
	t.Helper()
	request, ok := errors.AsType[*protocol.RequestError](err)
	if !ok {
		t.Fatalf("%v is no error of a request, want %d %s", err, code, ours)
	}
	data, _ := request.Data.(map[string]any)
	if request.Code != code || data["code"] != string(ours) || request.Message == "" {
		t.Errorf("got %v, want %d with %s", request, code, ours)
	}
}

func ptr[T any](value T) *T { return &value }

// verdicts is a policy by operation.
type verdicts map[string]tools.Verdict

func (v verdicts) Decide(_ context.Context, action tools.Action) tools.Decision {
	if verdict, ok := v[action.Operation]; ok {
		return tools.Decision{Verdict: verdict, Reason: "the test says so"}
	}
	return tools.Decision{Verdict: tools.Allow}
}
