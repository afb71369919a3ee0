package acp_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	protocol "github.com/coder/acp-go-sdk"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/acp"
	"github.com/prism-ls/prism-ls/tools/policy"
)

func (f *fixture) path(rel string) string { return filepath.Join(f.root, rel) }

func (f *fixture) put(rel, content string) {
	f.t.Helper()
	must(f.t, os.MkdirAll(filepath.Dir(f.path(rel)), 0o755))
	must(f.t, os.WriteFile(f.path(rel), []byte(content), 0o644))
}

func (f *fixture) read(path string, line, limit *int) (string, error) {
	response, err := f.ReadTextFile(f.t.Context(), protocol.ReadTextFileRequest{SessionId: "s", Path: path, Line: line, Limit: limit})
	return response.Content, err
}

func (f *fixture) write(path, content string) error {
	_, err := f.WriteTextFile(f.t.Context(), protocol.WriteTextFileRequest{SessionId: "s", Path: path, Content: content})
	return err
}

func TestReadTextFile(t *testing.T) {
	f := start(t, acp.FilesOptions{MaxTextBytes: 1000, MaxScanBytes: 5000}, acp.TerminalsOptions{})
	f.put("a", "one\r\ntwo\nthree")
	f.put("ended", "one\ntwo\n")
	f.put("empty", "")
	f.put("long", strings.Repeat("x", 400)+"\n"+strings.Repeat("y", 700)+"\nend\n")
	f.put("far", strings.Repeat("far\n", 2000))
	for _, c := range []struct {
		file        string
		line, limit *int
		want        string
	}{
		{"a", nil, nil, "one\r\ntwo\nthree"},
		{"a", ptr(2), nil, "two\nthree"},
		{"a", ptr(2), ptr(1), "two\n"},
		{"a", ptr(0), ptr(1), "one\r\n"},
		{"a", ptr(3), ptr(9), "three"},
		{"a", nil, ptr(2), "one\r\ntwo\n"},
		{"empty", nil, nil, ""},
		{"empty", ptr(1), ptr(1), ""},
		{"long", ptr(1), ptr(1), strings.Repeat("x", 400) + "\n"},
		{"long", ptr(3), nil, "end\n"},
		{"far", ptr(1000), ptr(2), "far\nfar\n"},
	} {
		if got, err := f.read(f.path(c.file), c.line, c.limit); err != nil || got != c.want {
			t.Errorf("%s from %v for %v: %q, %v; want %q", c.file, c.line, c.limit, got, err, c.want)
		}
	}

	_, err := f.read(f.path("long"), nil, nil)
	refused(t, err, -32603, tools.CodeLimit)
	_, err = f.read(f.path("far"), ptr(1500), ptr(1))
	refused(t, err, -32603, tools.CodeLimit)
	for _, beyond := range []struct {
		file string
		line int
	}{{"a", 4}, {"ended", 3}, {"empty", 2}, {"a", 1 << 40}} {
		_, err := f.read(f.path(beyond.file), &beyond.line, nil)
		refused(t, err, -32602, tools.CodeOutOfRange)
	}
	_, err = f.read(f.path("a"), nil, ptr(0))
	refused(t, err, -32602, tools.CodeToolInput)
	_, err = f.read("a", nil, nil)
	refused(t, err, -32602, tools.CodeToolInput)
	_, err = f.read(f.path("absent"), nil, nil)
	refused(t, err, -32002, tools.CodeNotFound)
	_, err = f.read(f.root, nil, nil)
	refused(t, err, -32602, tools.CodeNotFile)
	f.put("binary", "a\x00b")
	_, err = f.read(f.path("binary"), nil, nil)
	refused(t, err, -32603, tools.CodeBinary)
	f.put("latin", "caf\xe9")
	_, err = f.read(f.path("latin"), nil, nil)
	refused(t, err, -32603, tools.CodeBinary)
}

func TestFilesStayInside(t *testing.T) {
	f := start(t, acp.FilesOptions{}, acp.TerminalsOptions{})
	outside := filepath.Join(t.TempDir(), "secret")
	must(t, os.WriteFile(outside, []byte("secret"), 0o644))
	must(t, os.Symlink(outside, f.path("link")))
	must(t, os.Symlink(filepath.Dir(outside), f.path("dir")))
	f.put("real", "inside")
	must(t, os.Symlink(f.path("real"), f.path("absolute")))
	for _, path := range []string{outside, f.path("link"), f.path("dir/secret"), f.path("../x"), "/proc/self/root" + outside, "/dev/fd/0"} {
		_, err := f.read(path, nil, nil)
		refused(t, err, -32602, tools.CodePathEscape)
		refused(t, f.write(path, "overwritten"), -32602, tools.CodePathEscape)
	}
	if data, err := os.ReadFile(outside); err != nil || string(data) != "secret" {
		t.Fatalf("outside is %q, %v", data, err)
	}
	must(t, f.write(f.path("absolute"), "changed"))
	if got, err := f.read(f.path("absolute"), nil, nil); err != nil || got != "changed" {
		t.Errorf("through a link that stays inside: %q, %v", got, err)
	}
	must(t, os.Link(f.path("real"), f.path("other")))
	refused(t, f.write(f.path("real"), "x"), -32603, tools.CodeHardlink)
	must(t, os.Mkdir(f.path("folder"), 0o755))
	for _, path := range []string{f.root, f.path("folder"), f.path("new") + "/"} {
		refused(t, f.write(path, "x"), -32602, tools.CodeNotFile)
	}
	refused(t, f.write("relative", "x"), -32602, tools.CodeToolInput)
}

func TestWriteTextFile(t *testing.T) {
	f := start(t, acp.FilesOptions{MaxTextBytes: 1000}, acp.TerminalsOptions{})
	must(t, f.write(f.path("new/deep/file"), "one\n"))
	if got := <-f.changed; got != "new/deep/file" {
		t.Errorf("told of %q", got)
	}
	f.put("script", "old")
	must(t, os.Chmod(f.path("script"), 0o755))
	must(t, f.write(f.path("script"), "new"))
	if info, err := os.Stat(f.path("script")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("mode is %v, %v", info.Mode(), err)
	}
	refused(t, f.write(f.path("script"), strings.Repeat("x", 1001)), -32602, tools.CodeToolInput)

	// Whoever reads sees one whole text or the other.
	texts := []string{strings.Repeat("a", 900), strings.Repeat("b", 800)}
	must(t, f.write(f.path("shared"), texts[0]))
	var writers sync.WaitGroup
	for _, text := range texts {
		writers.Go(func() {
			for range 20 {
				if err := f.write(f.path("shared"), text); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 40 {
		if got, err := f.read(f.path("shared"), nil, nil); err != nil || got != texts[0] && got != texts[1] {
			t.Fatalf("read %d bytes, %v", len(got), err)
		}
	}
	writers.Wait()
}

// approver answers what a person would.
type approver struct {
	yes   bool
	asked []tools.Action
}

func (a *approver) Approve(_ context.Context, action tools.Action, _ string) (bool, error) {
	a.asked = append(a.asked, action)
	return a.yes, nil
}

// TestFilesAreGated: nothing is read or written that the policy does not allow,
// and a control file is one under whichever name it is written.
func TestFilesAreGated(t *testing.T) {
	rules, err := policy.New(nil)
	must(t, err)
	person := &approver{}
	f := start(t, acp.FilesOptions{Gate: acp.Gate{Policy: rules, Approver: person}}, acp.TerminalsOptions{})
	f.put("conf/a", "x")
	must(t, os.Symlink("conf", f.path(".vscode")))
	f.put(".env", "TOKEN=1")
	for _, path := range []string{".github/workflows/ci.yml", ".vscode/a", "conf/a", ".env"} {
		refused(t, f.write(f.path(path), "y"), -32603, tools.CodeExecutionDenied)
	}
	_, err = f.read(f.path(".env"), nil, nil)
	refused(t, err, -32603, tools.CodeExecutionDenied)
	if len(person.asked) != 5 {
		t.Fatalf("a person was asked %d times", len(person.asked))
	}
	for _, action := range person.asked {
		if action.Root != f.root || action.Session != "s" || action.Owner != "acp:s" {
			t.Errorf("asked about %+v", action)
		}
	}
	if data, err := os.ReadFile(f.path("conf/a")); err != nil || string(data) != "x" {
		t.Errorf("conf/a is %q, %v", data, err)
	}
	person.yes = true
	must(t, f.write(f.path("conf/a"), "y"))
	must(t, f.write(f.path("plain"), "y"))

	g := start(t, acp.FilesOptions{Gate: acp.Gate{Policy: verdicts{"fs/write_text_file": tools.Forbid, "fs/read_text_file": tools.Ask}}}, acp.TerminalsOptions{})
	g.put("a", "x")
	refused(t, g.write(g.path("a"), "y"), -32603, tools.CodeExecutionDenied)
	_, err = g.read(g.path("a"), nil, nil)
	refused(t, err, -32603, tools.CodeExecutionDenied)
}
