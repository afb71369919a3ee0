package builtin_test

import (
	"context"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/builtin"
	"github.com/prism-ls/prism-ls/tools/child"
)

// editor is a TextClient.
type editor struct {
	root  string
	files map[string]string
}

func (e *editor) ReadTextFile(_ context.Context, path string) (string, error) {
	text, ok := e.files[strings.TrimPrefix(path, e.root+"/")]
	if !ok {
		return "", tools.Errorf(tools.CodeNotFound, "no buffer of %s", path)
	}
	return text, nil
}

func (e *editor) WriteTextFile(_ context.Context, path, content string) error {
	e.files[strings.TrimPrefix(path, e.root+"/")] = content
	return nil
}

// TestBuffers: an editor's buffers stand in for the disk, behind the same
// containment, guard and limits.
func TestBuffers(t *testing.T) {
	client := &editor{files: map[string]string{"open.txt": "one\ntwo\n"}}
	h := newHost(t, func(d *builtin.Deps, _ *tools.RegistryOptions) {
		client.root = d.Workspace.Root()
		buffers := builtin.Buffers(client, d.Workspace)
		d.Read.Operations, d.Write.Operations, d.Edit.Operations = buffers, buffers, buffers
		d.RequireReadBeforeWrite = true
		d.Edit.MaxTargetBytes = 1000
	})
	h.write("disk.txt", "on the disk")
	edit := func(path string) args {
		return args{"path": path, "edits": []args{{"oldText": "two", "newText": "2"}}}
	}
	h.fails("edit", edit("open.txt"), tools.CodeUnread)
	if text := h.ok("read", args{"path": "open.txt", "offset": 2}, nil); text != "two\n" {
		t.Errorf("read %q", text)
	}
	h.ok("edit", edit("open.txt"), nil)
	if client.files["open.txt"] != "one\n2\n" {
		t.Errorf("the buffer is %q", client.files["open.txt"])
	}
	h.ok("write", args{"path": "new.txt", "content": "x"}, nil)
	h.fails("write", args{"path": "new.txt", "content": "y", "expectSha256": hashOf("other")}, tools.CodeFileChanged)
	h.fails("read", args{"path": "disk.txt"}, tools.CodeNotFound)
	h.fails("read", args{"path": "../open.txt"}, tools.CodePathEscape)
	h.fails("edit", args{"files": []args{edit("open.txt"), edit("new.txt")}}, tools.CodeStateUnavailable)
	client.files["open.txt"] = strings.Repeat("x", 1001)
	h.fails("edit", edit("open.txt"), tools.CodeLimit)
	entries, err := os.ReadDir(h.root)
	if err != nil || len(entries) != 1 {
		t.Errorf("the disk has %v (%v)", entries, err)
	}
}

// remote is a ShellOperations that repeats the command.
type remote struct{}

func (remote) Capabilities(context.Context) (child.Capabilities, error) {
	return child.Capabilities{}, nil
}

func (remote) Run(_ context.Context, command builtin.ShellCommand, out io.Writer) (*builtin.ShellExit, error) {
	for range 3000 {
		if _, err := io.WriteString(out, strings.Join(command.Args, " ")+"\n"); err != nil {
			return &builtin.ShellExit{Code: -1}, err
		}
	}
	return &builtin.ShellExit{Code: 4}, nil
}

func TestRemoteShell(t *testing.T) {
	h := newHost(t, func(d *builtin.Deps, _ *tools.RegistryOptions) { d.Owner, d.Shell.Operations = nil, remote{} })
	var m builtin.ShellMetadata
	text := h.ok("shell", args{"command": "there"}, &m)
	if !strings.HasPrefix(text, "-c there\n") || !strings.HasSuffix(text, "[Command exited with code 4]") || m.Truncation.OutputLines != 2000 {
		t.Errorf("%d bytes, %+v", len(text), m)
	}
	os.Remove(m.FullOutputPath)
}

// TestLimitsRefuse: what a host or a caller asks for beyond a hard cap is
// refused, never made smaller.
func TestLimitsRefuse(t *testing.T) {
	h := newHost(t, nil)
	for name, change := range map[string]func(*builtin.Deps){
		"maxLines":     func(d *builtin.Deps) { d.Read.MaxLines = 100_001 },
		"maxBytes":     func(d *builtin.Deps) { d.Shell.MaxBytes = 1<<20 + 1 },
		"maxScanBytes": func(d *builtin.Deps) { d.Read.MaxScanBytes = 1<<30 + 1 },
		"image":        func(d *builtin.Deps) { d.Read.MaxImageBytes = -1 },
		"write":        func(d *builtin.Deps) { d.Write.MaxInputBytes = 64<<20 + 1 },
		"edits":        func(d *builtin.Deps) { d.Edit.MaxEdits = 1001 },
		"timeout":      func(d *builtin.Deps) { d.Shell.Timeout = 3601 },
		"total":        func(d *builtin.Deps) { d.Shell.MaxTotalOutputBytes = 1<<30 + 1 },
		"entries":      func(d *builtin.Deps) { d.Delete.MaxEntries = 100_001 },
		"options":      func(d *builtin.Deps) { d.Decision.MaxOptions = 17 },
		"guard":        func(d *builtin.Deps) { d.RequireReadBeforeWrite, d.ReadPaths = true, nil },
		"workspace":    func(d *builtin.Deps) { d.Workspace = nil },
		"owner":        func(d *builtin.Deps) { d.Owner = nil },
		"searcher":     func(d *builtin.Deps) { d.Searcher = nil },
		"shell":        func(d *builtin.Deps) { d.Shell.Path = "bash" },
	} {
		deps := *h.deps
		change(&deps)
		if _, err := builtin.Core(&deps); tools.AsError(err) == nil || tools.AsError(err).Code != tools.CodeToolInput {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, c := range []struct {
		tool string
		in   args
	}{
		{"read", args{"path": "f", "limit": 100_001}}, {"read", args{"path": "f", "limit": 0}}, {"read", args{"path": "f", "byteOffset": -1}},
		{"shell", args{"command": "true", "timeout": -1}}, {"repo_list", args{"maxDepth": 129}}, {"glob", args{"pattern": "*", "offset": -1}},
		{"delete", args{"path": "f", "maxEntries": 0}}, {"repo_search", args{"query": "x", "maxMatches": 10_001}}, {"write", args{"path": "f", "content": "", "mode": 7}},
	} {
		h.fails(c.tool, c.in, tools.CodeToolInput)
	}
}

// TestProgress: who waits longer than a second hears that something happens,
// and nothing after the result.
func TestProgress(t *testing.T) {
	h := newHost(t, nil)
	var heard []float64 // appended by one goroutine, which has ended when Call returns
	result := h.callAs(t.Context(), "shell", args{"command": "sleep 2.2"}, tools.CallOptions{Progress: func(p tools.Progress) { heard = append(heard, p.Done) }})
	if result.Err != nil || len(heard) == 0 || !slices.IsSorted(heard) {
		t.Errorf("%v, heard %v", result.Err, heard)
	}
}
