package builtin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools"
)

// The verbs that take a path, and how each is called with one.
var verbs = []struct {
	name, tool string
	in         func(path string) args
}{
	{"read", "read", func(p string) args { return args{"path": p} }},
	{"write", "write", func(p string) args { return args{"path": p, "content": "written"} }},
	{"edit", "edit", func(p string) args {
		return args{"path": p, "edits": []args{{"oldText": "content", "newText": "changed"}}}
	}},
	{"list", "repo_list", func(p string) args { return args{"path": p} }},
	{"search", "repo_search", func(p string) args { return args{"path": p, "query": "content"} }},
	{"glob", "glob", func(p string) args { return args{"path": p, "pattern": "**/*"} }},
	{"delete", "delete", func(p string) args { return args{"path": p} }},
	{"from", "move", func(p string) args { return args{"from": p, "to": "moved"} }},
	{"to", "move", func(p string) args { return args{"from": "plain", "to": p} }},
	{"cwd", "shell", func(p string) args { return args{"command": "true", "cwd": p} }},
}

// class is what each verb has to answer: a code, "" for success, "*" for either
// of success and refusal. "all" stands for verbs that are not named.
type class map[string]tools.Code

var (
	escapes = class{"all": tools.CodePathEscape}
	linkOut = class{"all": tools.CodePathEscape, "delete": "", "from": "", "to": tools.CodeExists}
	file    = class{"to": tools.CodeExists, "cwd": tools.CodeNotFile}
	special = class{"all": tools.CodeNotFile, "delete": "*", "from": "*", "to": tools.CodeExists}
	absent  = class{"all": tools.CodeNotFound, "write": "", "to": ""}
	refused = class{"all": tools.CodeToolInput}
)

func (c class) of(verb string) tools.Code {
	if code, ok := c[verb]; ok {
		return code
	}
	return c["all"]
}

// The hostile names. A path's OUT is a directory beside the root.
var hostile = []struct {
	name, path string
	class      class
}{
	{"parent", "..", escapes},
	{"below parent", "../x", escapes},
	{"up in the middle", "a/../../x", escapes},
	{"absolute", "/etc/passwd", escapes},
	{"two slashes", "//etc/passwd", escapes},
	{"home of another", "~root/x", escapes},
	{"file URI", "file:///etc/passwd", escapes},
	{"file URI of a host", "file://host/x", escapes},
	{"file URI with encoded dots", "file:%2e%2e/x", escapes},
	{"absolute file URI with encoded dots", "file:///%2e%2e/etc/passwd", escapes},
	{"NUL", "a\x00b", escapes},
	{"newline", "new\nline", file},
	{"relative link out", "out-relative", linkOut},
	{"absolute link out", "out-absolute", linkOut},
	{"through a linked directory", "out-dir/secret", escapes},
	{"dangling link out", "out-dangling", linkOut},
	{"link loop", "loop", linkOut},
	{"in and out again", "in-and-out", linkOut},
	{"absolute link inside", "in-absolute", class{"cwd": tools.CodeNotFile, "to": tools.CodeExists}},
	{"hard link to outside", "hard", class{"write": tools.CodeHardlink, "edit": tools.CodeHardlink, "to": tools.CodeExists, "cwd": tools.CodeNotFile}},
	{"FIFO", "fifo", special},
	{"socket", "socket", special},
	{"character device", "device", special},
	{"magic link", "/proc/self/root/etc/passwd", escapes},
	{"link to a magic link", "magic/etc/passwd", escapes},
	{"descriptor", "/dev/fd/0", escapes},
	{"bind mount", "mount/file", class{"all": "*"}},
	{"name of 255 bytes", strings.Repeat("n", 255), absent},
	{"name of 256 bytes", strings.Repeat("n", 256), refused},
	{"path of 4096 bytes", strings.Repeat("p/", 2048), refused},
	{"invalid UTF-8", "bad\xffname", refused},
	{"composed", "caf\u00e9", file},
	{"decomposed", "cafe\u0301", file},
	{"slash behind a file", "plain/", class{"all": tools.CodeNotFound}},
	{"root", ".", class{"read": tools.CodeNotFile, "write": tools.CodeNotFile, "edit": tools.CodeNotFile, "delete": tools.CodePathEscape, "from": tools.CodePathEscape, "to": tools.CodePathEscape}},
}

// secret is what only files outside hold, one of which has a second name inside.
const secret = "content of OUTSIDE"

// habitat makes the files that the hostile names are about.
func habitat(t *testing.T, root, outside string) {
	t.Helper()
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != "mount" {
			must(t, os.RemoveAll(filepath.Join(root, e.Name())))
		}
	}
	at := func(name string) string { return filepath.Join(root, name) }
	for _, name := range []string{"plain", "new\nline", "caf\u00e9", "cafe\u0301", "inside/file"} {
		must(t, os.MkdirAll(filepath.Dir(at(name)), 0o755))
		must(t, os.WriteFile(at(name), []byte("content of "+name), 0o644))
	}
	for name, target := range map[string]string{
		"out-relative": "../" + filepath.Base(outside) + "/secret", "out-absolute": filepath.Join(outside, "secret"), "out-dir": outside,
		"out-dangling": filepath.Join(outside, "absent"), "loop": "loop", "in-and-out": "inside/../../" + filepath.Base(outside) + "/secret",
		"in-absolute": at("inside/file"), "magic": "/proc/self/root",
	} {
		must(t, os.Symlink(target, at(name)))
	}
	must(t, os.Link(filepath.Join(outside, "linked"), at("hard")))
	must(t, syscall.Mkfifo(at("fifo"), 0o644))
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: at("socket"), Net: "unix"})
	must(t, err)
	listener.SetUnlinkOnClose(false)
	must(t, listener.Close())
	if err := syscall.Mknod(at("device"), syscall.S_IFCHR|0o666, 1<<8|5); err != nil { // like /dev/zero
		must(t, syscall.Mkfifo(at("device"), 0o644)) // who is not root can make none
	}
}

func TestHostilePaths(t *testing.T) {
	base := t.TempDir()
	must(t, os.Chmod(base, 0o755))
	root, outside := filepath.Join(base, "root"), filepath.Join(base, "outside")
	for _, dir := range []string{root, outside} {
		must(t, os.Mkdir(dir, 0o755))
	}
	for _, name := range []string{"secret", "linked"} {
		must(t, os.WriteFile(filepath.Join(outside, name), []byte(secret), 0o666))
	}
	mountInto(t, filepath.Join(root, "mount"))
	before := snapshot(t, outside)
	h := hostAt(t, root, filepath.Join(base, "state"), nil)
	for _, name := range hostile {
		for _, verb := range verbs {
			if !observes(verb.tool) || verb.name == "read" { // nothing else leaves a mark
				habitat(t, root, outside)
			}
			h.tryHostile(t, name.name+"/"+verb.name, verb.tool, verb.in(name.path), name.class.of(verb.name))
		}
	}
	if after := snapshot(t, outside); len(after) != len(before) || after["secret"] != before["secret"] || after["linked"] != before["linked"] {
		t.Errorf("outside was %v, is %v", before, after)
	}
}

// mountInto makes a bind mount of another directory, where that is allowed.
func mountInto(t *testing.T, at string) {
	t.Helper()
	other := t.TempDir()
	must(t, os.WriteFile(filepath.Join(other, "file"), []byte("content of the mount"), 0o644))
	must(t, os.Mkdir(at, 0o755))
	if err := syscall.Mount(other, at, "", syscall.MS_BIND, ""); err != nil {
		t.Logf("no bind mounts here (%v): the name is tried without", err)
		must(t, os.WriteFile(filepath.Join(at, "file"), []byte("content"), 0o644))
		return
	}
	t.Cleanup(func() { must(t, syscall.Unmount(at, 0)) })
}

func (h *host) tryHostile(t *testing.T, what, tool string, in args, want tools.Code) {
	t.Helper()
	text := encodeRaw(t, in)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	start := time.Now()
	result := h.registry.Call(ctx, tool, text, callOptions())
	if took := time.Since(start); took > time.Second+busy {
		t.Errorf("%s took %v", what, took)
	}
	var got tools.Code
	if result.Err != nil {
		got = result.Err.Code
	}
	if got != want && want != "*" {
		t.Errorf("%s: got %v, want %q", what, result.Err, want)
	}
	if strings.Contains(textOf(result)+string(result.Metadata), "OUTSIDE") && !strings.HasPrefix(what, "hard link") && !strings.HasPrefix(what, "root") {
		t.Errorf("%s: the answer shows what is outside: %.200q", what, textOf(result))
	}
}

// encodeRaw is json.Marshal that lets invalid UTF-8 through.
func encodeRaw(t *testing.T, in args) []byte {
	t.Helper()
	const stand = "@invalid@"
	swapped := args{}
	for name, value := range in {
		if s, ok := value.(string); ok {
			value = strings.ReplaceAll(s, "\xff", stand)
		}
		swapped[name] = value
	}
	text, err := json.Marshal(swapped)
	must(t, err)
	return []byte(strings.ReplaceAll(string(text), stand, "\xff"))
}

// TestAsNobody runs the tests that depend on rights once more without root's.
func TestAsNobody(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("this run has no root's rights to begin with: the tests themselves are the proof")
	}
	home := t.TempDir()
	must(t, os.Chmod(home, 0o777))
	for dir := filepath.Dir(home); dir != "/" && strings.HasPrefix(dir, os.TempDir()) && dir != os.TempDir(); dir = filepath.Dir(dir) {
		must(t, os.Chmod(dir, 0o755))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "/proc/self/exe", "-test.run", "^(TestHostilePaths|TestUnreadable|TestGuard|TestShellExitCodes)$", "-test.v")
	command.Dir, _ = os.Getwd()
	command.Env = append(slices.DeleteFunc(os.Environ(), func(e string) bool {
		return strings.HasPrefix(e, "HOME=") || strings.HasPrefix(e, "TMPDIR=")
	}), "HOME="+home, "TMPDIR="+home)
	command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !strings.Contains(string(out), "--- PASS: TestHostilePaths") {
		t.Errorf("it did not run:\n%s", out)
	}
}

// TestUnreadable: rights that are missing are an error of their own, and never
// leave anything half done.
func TestUnreadable(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may read everything; TestAsNobody runs this without")
	}
	h := newHost(t, nil)
	h.write("locked", "content")
	must(t, os.Chmod(h.path("locked"), 0))
	h.write("dir/file", "content")
	must(t, os.Chmod(h.path("dir"), 0o555))
	t.Cleanup(func() { must(t, os.Chmod(h.path("dir"), 0o755)) })
	h.fails("read", args{"path": "locked"}, tools.CodePermission)
	h.fails("edit", args{"path": "locked", "edits": []args{{"oldText": "content", "newText": "x"}}}, tools.CodePermission)
	h.fails("write", args{"path": "dir/new", "content": "x"}, tools.CodePermission)
	h.fails("delete", args{"path": "dir/file"}, tools.CodePermission)
	h.fails("delete", args{"path": "dir", "recursive": true}, tools.CodePermission)
	if h.content("dir/file") != "content" {
		t.Error("the file has changed")
	}
	var names []string
	must(t, filepath.WalkDir(h.root, func(path string, _ fs.DirEntry, err error) error {
		names = append(names, path[len(h.root):])
		return err
	}))
	if got := fmt.Sprint(names); got != "[ /dir /dir/file /locked]" {
		t.Errorf("left behind: %s", got)
	}
}
