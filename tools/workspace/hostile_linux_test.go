package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"golang.org/x/sys/unix"
)

const secret = "the secret outside"

// hostileTree lays out base/root, full of traps, and base/outside.
func hostileTree(base string, hard bool) error {
	var errs []error
	do := func(err error) { errs = append(errs, err) }
	at := func(name string) string { return filepath.Join(base, "root", name) }
	for _, dir := range []string{"root", "root/d", "outside"} {
		do(os.MkdirAll(filepath.Join(base, dir), 0o755))
	}
	for name, text := range map[string]string{"a": "a", "d/f": "f", "caf\u00e9": "nfc", "cafe\u0301": "nfd"} {
		do(os.WriteFile(at(name), []byte(text), 0o644))
	}
	outside := filepath.Join(base, "outside", "secret")
	do(os.WriteFile(outside, []byte(secret), 0o644))
	for name, target := range map[string]string{
		"out-rel": "../outside/secret", "out-abs": outside, "dir-out": "../outside", "dangling-out": "../outside/none",
		"loop": "loop", "in-out": "../root/a", "abs-in": at("a"), "proc": "/proc/self/root/etc/passwd", "up": "d/../..",
	} {
		do(os.Symlink(target, at(name)))
	}
	if hard {
		do(os.Link(outside, at("hard")))
	}
	do(syscall.Mkfifo(at("fifo"), 0o666))
	do(syscall.Mknod(at("socket"), syscall.S_IFSOCK|0o666, 0))
	if os.Geteuid() == 0 {
		do(syscall.Mknod(at("device"), syscall.S_IFCHR|0o666, int(unix.Mkdev(1, 3))))
	}
	return errors.Join(errs...)
}

// hostileCase is a path and the codes that reading and writing it may give; ""
// means that it may work.
type hostileCase struct {
	name, path  string
	read, write []tools.Code
}

func hostileCases(base string) []hostileCase {
	const (
		works  = tools.Code("")
		escape = tools.CodePathEscape
	)
	one := func(codes ...tools.Code) []tools.Code { return codes }
	never := one(escape)
	absent := one(tools.CodeNotFound)
	special := one(tools.CodeNotFile)
	root := filepath.Join(base, "root")
	return []hostileCase{
		{"dot dot", "..", never, never},
		{"parent", "../outside/secret", never, never},
		{"through and out", "a/../../outside/secret", never, never},
		{"absolute", "/etc/passwd", never, never},
		{"two slashes", "//etc/passwd", never, never},
		{"user home", "~root/x", never, never},
		{"file URI", "file:///etc/passwd", never, never},
		{"file URI with host", "file://host/x", never, never},
		{"percent-encoded dots", "file://" + root + "/%2e%2e/outside/secret", never, never},
		{"NUL", "a\x00b", never, never},
		{"newline", "x\ny", absent, one(works)},
		{"link out, relative", "out-rel", never, never},
		{"link out, absolute", "out-abs", never, never},
		{"link out, directory", "dir-out/secret", never, never},
		{"link out, dangling", "dangling-out", never, never},
		{"link loop", "loop", never, never},
		{"link out and in", "in-out", never, never},
		{"absolute link in", "abs-in", one(works), one(works)},
		{"hard link to outside", "hard", one(works), one(tools.CodeHardlink)},
		{"FIFO", "fifo", special, special},
		{"socket", "socket", special, special},
		{"device", "device", special, special},
		{"proc root", "/proc/self/root/etc/passwd", never, never},
		{"proc root by link", "proc", never, never},
		{"dev fd", "/dev/fd/0", never, never},
		{"255 bytes", strings.Repeat("n", 255), absent, one(works)},
		{"4096 bytes", strings.Repeat("d/", 2048), one(tools.CodeToolInput), one(tools.CodeToolInput)},
		{"invalid UTF-8", "\xff\xfe", absent, one(works)},
		{"NFC twin", "caf\u00e9", one(works), one(works)},
		{"NFD twin", "cafe\u0301", one(works), one(works)},
		{"slash after a file", "a/", absent, absent},
		{"root itself", ".", special, special},
		{"link up and out", "up/outside/secret", never, never},
	}
}

// prober tries verbs on paths and collects what must not happen.
type prober struct {
	w      *Workspace
	faults []string
}

func (b *prober) fault(format string, args ...any) {
	b.faults = append(b.faults, fmt.Sprintf(format, args...))
}

// code is the error's code, "" for none; an error without a code is a fault.
func (b *prober) code(verb, path string, err error) tools.Code {
	if err == nil {
		return ""
	}
	var coded *tools.Error
	if !errors.As(err, &coded) || coded.Code == tools.CodeInternal {
		b.fault("%s %.60q: %v has no code", verb, path, err)
		return tools.CodeInternal
	}
	return coded.Code
}

// timed runs one verb, which must not take longer than a second.
func (b *prober) timed(verb, path string, run func() error) tools.Code {
	start := time.Now()
	err := run()
	if took := time.Since(start); took > time.Second {
		b.fault("%s %.60q took %v", verb, path, took)
	}
	return b.code(verb, path, err)
}

// verbs are all the ways to a file; reading ones first.
func (b *prober) verbs() (reads, writes map[string]func(path string) error) {
	ctx := context.Background()
	parsed := func(run func(Path) error) func(string) error {
		return func(path string) error {
			p, err := b.w.Parse(path)
			if err != nil {
				return err
			}
			return run(p)
		}
	}
	change := func(run func(*Tx, Path) error) func(string) error {
		return parsed(func(p Path) error {
			other, _ := b.w.Parse("other")
			_, err := b.w.Transact(ctx, []Path{p, other}, func(tx *Tx) error { return run(tx, p) })
			return err
		})
	}
	other, _ := b.w.Parse("other")
	reads = map[string]func(string) error{
		"open": parsed(func(p Path) error {
			file, _, err := b.w.OpenFile(p)
			if err != nil {
				return err
			}
			defer file.Close()
			data, err := io.ReadAll(file)
			if string(data) == secret && p.Rel != "hard" {
				b.fault("open %q read the secret", p.Rel)
			}
			return err
		}),
		"read":    parsed(func(p Path) error { _, err := b.w.ReadFile(ctx, p, 1<<20); return err }),
		"resolve": func(path string) error { _, err := b.w.Resolve(path); return err },
		"stat":    parsed(func(p Path) error { _, err := b.w.Stat(p); return err }),
		"lstat":   parsed(func(p Path) error { _, err := b.w.Lstat(p); return err }),
		"list": parsed(func(p Path) error {
			file, err := b.w.OpenDir(p)
			if err != nil {
				return err
			}
			defer file.Close()
			listed, err := file.Stat()
			base := filepath.Dir(b.w.Root())
			for _, forbidden := range []string{base, filepath.Join(base, "outside"), "/", "/etc", "/root", "/proc"} {
				if info, statErr := os.Stat(forbidden); err == nil && statErr == nil && os.SameFile(listed, info) {
					b.fault("list %q opened %s", p.Rel, forbidden)
				}
			}
			return err
		}),
		"tx read": change(func(tx *Tx, p Path) error { _, err := tx.Read(p, 1<<20); return err }),
	}
	writes = map[string]func(string) error{
		"write":     change(func(tx *Tx, p Path) error { return tx.Write(p, []byte("new"), &WriteOptions{CreateParents: true}) }),
		"delete":    change(func(tx *Tx, p Path) error { return tx.Delete(p, &DeleteOptions{Recursive: true}) }),
		"move from": change(func(tx *Tx, p Path) error { return tx.Move(p, other, true) }),
		"move to":   change(func(tx *Tx, p Path) error { return tx.Move(other, p, true) }),
		"mkdir":     change(func(tx *Tx, p Path) error { return tx.Mkdir(p) }),
	}
	return reads, writes
}

// probeAll runs the named paths through every verb, each on a fresh tree.
func probeAll(base string, walk bool) (faults []string) {
	outside := filepath.Join(base, "outside")
	for _, c := range hostileCases(base) {
		func() {
			w, err := Open(filepath.Join(base, "root"), &Options{StateDir: filepath.Join(base, fmt.Sprintf("state-%d", os.Geteuid()))})
			if err != nil {
				faults = append(faults, err.Error())
				return
			}
			defer w.Close()
			w.noOpenat2.Store(walk)
			b := &prober{w: w}
			reads, writes := b.verbs()
			if got := b.timed("open", c.path, func() error { return reads["open"](c.path) }); !slices.Contains(c.read, got) {
				b.fault("%s: open gave %q, want %q", c.name, got, c.read)
			}
			for verb, run := range reads {
				b.timed(verb, c.path, func() error { return run(c.path) })
			}
			if got := b.timed("write", c.path, func() error { return writes["write"](c.path) }); !slices.Contains(c.write, got) {
				b.fault("%s: write gave %q, want %q", c.name, got, c.write)
			}
			for verb, run := range writes {
				freshOther(w)
				b.timed(verb, c.path, func() error { return run(c.path) })
			}
			if data, err := os.ReadFile(filepath.Join(outside, "secret")); err != nil || string(data) != secret {
				b.fault("%s: the outside changed: %q %v", c.name, data, err)
			}
			if entries, _ := os.ReadDir(outside); len(entries) != 1 {
				b.fault("%s: the outside has %d entries", c.name, len(entries))
			}
			faults = append(faults, b.faults...)
		}()
		// The next case finds everything in place again.
		os.RemoveAll(filepath.Join(base, "root"))
		if err := hostileTree(base, true); err != nil && !errors.Is(err, os.ErrPermission) && !errors.Is(err, os.ErrExist) {
			faults = append(faults, err.Error())
		}
	}
	return faults
}

func TestHostilePaths(t *testing.T) {
	for mode, walk := range map[string]bool{"openat2": false, "walk": true} {
		t.Run(mode, func(t *testing.T) {
			base := t.TempDir()
			must(t, hostileTree(base, true))
			for _, fault := range probeAll(base, walk) {
				t.Error(fault)
			}
		})
	}
}

const baseVariable = "PRISM_WORKSPACE_TEST_BASE"

func hostileRole() {
	for _, fault := range probeAll(os.Getenv(baseVariable), false) {
		fmt.Println(fault)
	}
}

// freshOther makes the second file of a move; the last move may have left a
// link there, which an ordinary write would follow.
func freshOther(w *Workspace) {
	name := filepath.Join(w.Root(), "other")
	os.RemoveAll(name)
	os.WriteFile(name, []byte("other"), 0o644)
}

// again makes a command that starts this test binary in a role.
func again(t testing.TB, role string, env ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), append(env, roleVariable+"="+role)...)
	return cmd
}

// asNobody lets a command run as uid 65534, with a copy of the binary that uid
// can reach, and base its own.
func asNobody(t *testing.T, cmd *exec.Cmd, base string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only the superuser can become another user")
	}
	must(t, os.Chmod(filepath.Dir(base), 0o755))
	must(t, os.Chmod(base, 0o777))
	program := filepath.Join(base, "test-binary")
	data, err := os.ReadFile(cmd.Path)
	must(t, err)
	must(t, os.WriteFile(program, data, 0o755))
	cmd.Path = program
	cmd.Dir = base
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	must(t, filepath.WalkDir(filepath.Join(base, "root"), func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, 65534, 65534)
	}))
	must(t, os.Lchown(filepath.Join(base, "outside"), 65534, 65534))
}

func TestHostilePathsAsNobody(t *testing.T) {
	base := t.TempDir()
	must(t, hostileTree(base, true))
	cmd := again(t, "hostile", baseVariable+"="+base)
	asNobody(t, cmd, base)
	output, err := cmd.CombinedOutput()
	// A device cannot be made again after the first case, and its path is then absent.
	for line := range strings.Lines(string(output)) {
		if !strings.HasPrefix(line, "device:") {
			t.Error(line)
		}
	}
	must(t, err)
}

func TestGeneratedPaths(t *testing.T) {
	base := t.TempDir()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	root := filepath.Join(base, "root")
	prefixes := []string{"", "", "", "/", "//", "./", root + "/", "file://" + root + "/", "file:///", "file://localhost" + root + "/", "~/", "~root/", "file:/"}
	parts := []string{
		"..", "..", ".", "", "a", "d", "f", "dir-out", "loop", "abs-in", "out-abs", "out-rel", "in-out", "dangling-out", "fifo",
		"socket", "device", "proc", "up", "secret", "outside", "root", "\xff", "%2e%2e", "%2f", "%00", "a\x00", "x\n", "caf\u00e9",
		strings.Repeat("n", 255), strings.Repeat("n", 256), "~", "..\\..", "etc", "passwd", "new",
	}
	var b *prober
	var reads, writes map[string]func(string) error
	names := []string{"write", "delete", "move from", "move to", "mkdir"}
	for i := range size(500, 10_000) {
		if i%50 == 0 {
			if b != nil {
				b.w.Close()
			}
			os.RemoveAll(filepath.Join(base, "root"))
			if i == 0 {
				must(t, hostileTree(base, false))
			} else if err := hostileTree(base, false); err != nil && !errors.Is(err, os.ErrExist) {
				t.Fatal(err)
			}
			w, err := Open(root, &Options{StateDir: filepath.Join(base, "state"), Home: "/root"})
			must(t, err)
			b = &prober{w: w}
			reads, writes = b.verbs()
		}
		var path strings.Builder
		path.WriteString(prefixes[random.IntN(len(prefixes))])
		for j := range 1 + random.IntN(5) {
			if j > 0 {
				path.WriteByte('/')
			}
			path.WriteString(parts[random.IntN(len(parts))])
		}
		given := path.String()
		for verb, run := range reads {
			b.timed(verb, given, func() error { return run(given) })
		}
		tried := names
		if !soak() {
			tried = names[i%len(names) : i%len(names)+1]
		}
		for _, verb := range tried {
			freshOther(b.w)
			b.timed(verb, given, func() error { return writes[verb](given) })
		}
		if data, err := os.ReadFile(filepath.Join(base, "outside", "secret")); err != nil || string(data) != secret {
			t.Fatalf("%q changed the outside: %q %v", given, data, err)
		}
		if entries, _ := os.ReadDir(filepath.Join(base, "outside")); len(entries) != 1 {
			t.Fatalf("%q left %v outside", given, entries)
		}
		if len(b.faults) > 0 {
			t.Fatalf("%q: %v", given, b.faults)
		}
	}
	b.w.Close()
}
