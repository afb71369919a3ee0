package git

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// hostile is a way in which a repository tries to have a program run. %s in
// the configuration is that program; what it names is made by prepare.
type hostile struct {
	name    string
	config  string
	prepare func(t *testing.T, root, program string)
}

const allDrivers = "*.txt filter=evil diff=evil merge=evil\n"

func attributes(t *testing.T, root, _ string) { write(t, root, ".gitattributes", allDrivers) }

func hostileVectors() []hostile {
	hooks := []string{
		"pre-commit", "post-commit", "prepare-commit-msg", "commit-msg", "post-checkout", "post-index-change", "pre-push", "reference-transaction",
		"post-merge", "applypatch-msg", "pre-applypatch", "post-applypatch", "fsmonitor-watchman", "pre-auto-gc",
	}
	plantHooks := func(t *testing.T, dir, program string) {
		must(t, os.MkdirAll(dir, 0o755))
		for _, hook := range hooks {
			_ = os.Remove(filepath.Join(dir, hook))
			must(t, os.Symlink(program, filepath.Join(dir, hook)))
		}
	}
	return []hostile{
		{"fsmonitor", "[core]\nfsmonitor = %s\n", nil},
		{"include", "[include]\npath = more\n", func(t *testing.T, root, program string) {
			write(t, root, ".git/more", fmt.Sprintf("[core]\nfsmonitor = %s\n[filter \"evil\"]\nclean = %s\nsmudge = %s\n", program, program, program))
			attributes(t, root, program)
		}},
		{"worktree config", "[extensions]\nworktreeConfig = true\n", func(t *testing.T, root, program string) {
			write(t, root, ".git/config.worktree", fmt.Sprintf("[core]\nfsmonitor = %s\n[filter \"evil\"]\nclean = %s\n", program, program))
			attributes(t, root, program)
		}},
		{"git file", "", func(t *testing.T, root, program string) {
			moved := filepath.Join(t.TempDir(), "elsewhere")
			must(t, os.Rename(filepath.Join(root, ".git"), moved))
			write(t, root, ".git", "gitdir: "+moved+"\n")
			appendFile(t, filepath.Join(moved, "config"), fmt.Sprintf("[core]\nfsmonitor = %s\n", program))
		}},
		{"submodule", "", func(t *testing.T, root, program string) {
			sub := filepath.Join(root, "sub")
			must(t, os.MkdirAll(sub, 0o755))
			plain(t, sub, "init", "-q")
			write(t, sub, "s.txt", "s\n")
			plain(t, sub, "add", "-A")
			plain(t, sub, "commit", "-q", "-m", "s")
			write(t, root, ".gitmodules", "[submodule \"sub\"]\npath = sub\nurl = ./sub\nignore = none\n")
			plain(t, root, "add", "sub", ".gitmodules")
			plain(t, root, "commit", "-q", "-m", "sub")
			write(t, sub, ".gitattributes", "*.txt filter=evil\n")
			write(t, sub, "s.txt", "t\n")
			appendFile(t, filepath.Join(sub, ".git", "config"), fmt.Sprintf("[core]\nfsmonitor = %s\n[filter \"evil\"]\nclean = %s\n", program, program))
			appendFile(t, filepath.Join(root, ".git", "config"), "[submodule \"sub\"]\nactive = true\nurl = ./sub\nignore = none\nupdate = !"+program+"\n[submodule]\nrecurse = true\n[status]\nsubmoduleSummary = true\n")
		}},
		{"sshCommand", "[core]\nsshCommand = %s\n[remote \"origin\"]\nurl = ssh://127.0.0.1:1/x\n", nil},
		{"pager", "[core]\npager = %s\n[pager]\nlog = %s\ndiff = %s\nstatus = %s\nbranch = %s\nshow = %s\n", nil},
		{"editor", "[core]\neditor = %s\n[sequence]\neditor = %s\n", nil},
		{"external diff", "[diff]\nexternal = %s\n", nil},
		{"textconv", "[diff \"evil\"]\ntextconv = %s\n", attributes},
		{"diff command", "[diff \"evil\"]\ncommand = %s\n", attributes},
		{"filter clean", "[filter \"evil\"]\nclean = %s\nrequired = true\n", attributes},
		{"filter smudge", "[filter \"evil\"]\nsmudge = %s\n", attributes},
		{"filter process", "[filter \"evil\"]\nprocess = %s\n", attributes},
		{"filter with = in its name", "[filter \"e=v.il\"]\nclean = %s\nsmudge = %s\nprocess = %s\n", func(t *testing.T, root, _ string) {
			write(t, root, ".gitattributes", "*.txt filter=e=v.il\n")
		}},
		{"info attributes", "[filter \"evil\"]\nclean = %s\nsmudge = %s\n", func(t *testing.T, root, _ string) {
			write(t, root, ".git/info/attributes", allDrivers)
		}},
		{"merge driver", "[merge \"evil\"]\ndriver = %s %%O %%A %%B\n", attributes},
		{"gpg", "[gpg]\nprogram = %s\n[commit]\ngpgSign = true\n[tag]\ngpgSign = true\n[push]\ngpgSign = if-asked\n[user]\nsigningKey = x\n", nil},
		{"show signature", "[gpg]\nprogram = %s\n[log]\nshowSignature = true\n[gpg \"openpgp\"]\nprogram = %s\n", signedCommit},
		{"hooks", "", func(t *testing.T, root, program string) { plantHooks(t, filepath.Join(root, ".git", "hooks"), program) }},
		{"hooksPath", "[core]\nhooksPath = evil-hooks\n", func(t *testing.T, root, program string) { plantHooks(t, filepath.Join(root, "evil-hooks"), program) }},
		{"credential helper", "[credential]\nhelper = %s\n[credential \"https://127.0.0.1:1\"]\nhelper = %s\n[remote \"origin\"]\nurl = https://127.0.0.1:1/x\n", nil},
		{"askPass", "[core]\naskPass = %s\n[remote \"origin\"]\nurl = https://127.0.0.1:1/x\n", nil},
		{"insteadOf ext", "[protocol \"ext\"]\nallow = always\n[url \"ext::%s \"]\ninsteadOf = evil:\n[remote \"origin\"]\nurl = evil:x\n", nil},
		{"receivepack", "[remote \"origin\"]\nreceivepack = %s\nuploadpack = %s\n", nil},
		{"vcs", "[remote \"origin\"]\nvcs = ext\nurl = %s\n[protocol \"ext\"]\nallow = always\n", nil},
		{"gitProxy", "[core]\ngitProxy = %s\n[protocol \"git\"]\nallow = always\n[remote \"origin\"]\nurl = git://127.0.0.1:1/x\n", nil},
		{"alternateRefsCommand", "[core]\nalternateRefsCommand = %s\n", func(t *testing.T, root, _ string) {
			other := repository(t)
			write(t, root, ".git/objects/info/alternates", filepath.Join(other, ".git", "objects")+"\n")
		}},
		{"packObjectsHook", "[uploadpack]\npackObjectsHook = %s\n", nil},
		{"trailer", "[trailer \"evil\"]\ncommand = %s\ncmd = %s\nkey = Evil\n", nil},
		{"diffFilter", "[interactive]\ndiffFilter = %s\n", nil},
		{"alias", "[alias]\nstatus = !%s\nlog = !%s\ndiff = !%s\nls-files = !%s\ncommit = !%s\n", nil},
		{"gc", "[gc]\nauto = 1\nautoDetach = false\nrecentObjectsHook = %s\n[maintenance]\nauto = true\n", nil},
	}
}

// signedCommit makes HEAD a commit with a signature that only a program could
// check.
func signedCommit(t *testing.T, root, _ string) {
	raw := plain(t, root, "cat-file", "commit", "HEAD")
	head, body, _ := strings.Cut(raw, "\n\n")
	write(t, root, ".git/signed", head+"\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n"+body)
	plain(t, root, "update-ref", "HEAD", strings.TrimSpace(plain(t, root, "hash-object", "-t", "commit", "-w", ".git/signed")))
}

func appendFile(t testing.TB, path, text string) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o644)
	must(t, err)
	_, err = file.WriteString(text)
	must(t, err)
	must(t, file.Close())
}

const patch = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1,2 @@\n one\n+two\n"

// commands are the 18 that every vector is tried with, in this order.
func commands(root string) [][]string {
	linked := filepath.Join(filepath.Dir(root), "linked")
	return [][]string{
		{"status", "--porcelain=v2", "-z"},
		{"diff"},
		{"diff", "HEAD"},
		{"log", "-1", "-p"},
		{"show", "HEAD"},
		{"ls-files", "-z", "--cached", "--others", "--exclude-standard"},
		{"branch", "--list"},
		{"branch", "--no-track", "new"},
		{"apply", "--check", "-"},
		{"apply", "-"},
		{"add", "--", "a.txt"},
		{"commit", "-q", "-m", "message", "--", "a.txt"},
		{"switch", "-q", "other"},
		{"switch", "-q", "main"},
		{"worktree", "add", "-q", "--no-track", "-b", "linked", linked},
		{"worktree", "remove", "--force", linked},
		{"fetch", "-q", "origin"},
		{"push", "-q", "origin", "main"},
	}
}

// model is what every world begins as: a repository with a second branch and
// a change that is not committed.
func model(t *testing.T) string {
	base := t.TempDir()
	root := filepath.Join(base, "repo")
	must(t, os.MkdirAll(root, 0o755))
	plain(t, root, "init", "-q", "-b", "main", "--template=")
	for _, name := range []string{"a.txt", "b.txt", "c.txt"} {
		write(t, root, name, "one\n")
	}
	plain(t, root, "add", "-A")
	plain(t, root, "commit", "-q", "-m", "first")
	plain(t, root, "switch", "-q", "-c", "other")
	write(t, root, "b.txt", "two\n")
	plain(t, root, "commit", "-q", "-a", "-m", "second")
	plain(t, root, "switch", "-q", "main")
	plain(t, base, "clone", "-q", "--bare", "--template=", "repo", "remote.git")
	return base
}

// world is a copy of the model with its remote, and a program that leaves a
// mark when it is run.
func world(t *testing.T, model string) (root, program, mark string) {
	base := t.TempDir()
	must(t, os.CopyFS(base, os.DirFS(model)))
	root, mark, program = filepath.Join(base, "repo"), filepath.Join(base, "mark"), filepath.Join(base, "program")
	must(t, os.WriteFile(program, []byte("#!/bin/sh\necho \"$0 $*\" >>"+mark+"\ncat\n"), 0o755))
	must(t, os.MkdirAll(filepath.Join(root, ".git", "hooks"), 0o755))
	appendFile(t, filepath.Join(root, ".git", "config"), "[remote \"origin\"]\nurl = "+filepath.Join(base, "remote.git")+"\nfetch = +refs/heads/*:refs/remotes/origin/*\n")
	return root, program, mark
}

func tryAll(t *testing.T, r *Runner, root string, list [][]string) (worked int, failures []string) {
	// The remote is a directory here; the protocol for it is the host's to allow.
	opts := &RunOptions{Stdin: []byte(patch), Timeout: 20 * time.Second, Config: []string{"user.name=a", "user.email=a@b", "protocol.file.allow=always"}}
	for _, args := range list {
		if _, err := r.Run(t.Context(), root, args, opts); err != nil {
			failures = append(failures, err.Error())
		} else {
			worked++
		}
	}
	return worked, failures
}

// TestCleanRepository: the settings do not get in the way of the commands.
func TestCleanRepository(t *testing.T) {
	root, _, _ := world(t, model(t))
	config, err := os.ReadFile(filepath.Join(root, ".git", "config"))
	must(t, err)
	worked, failures := tryAll(t, newRunner(t, nil), root, commands(root))
	if worked != 18 {
		t.Errorf("%d of 18 commands work: %s", worked, strings.Join(failures, "\n"))
	}
	if after, err := os.ReadFile(filepath.Join(root, ".git", "config")); err != nil || !bytes.Equal(config, after) {
		t.Errorf("the configuration has become %q (%v)", after, err)
	}
}

// arm makes a repository in which the vector is at work, and a change that is in no
// commit. The mark is where the program would leave a trace.
func (v *hostile) arm(t *testing.T, base string) (root, mark string) {
	t.Helper()
	root, program, mark := world(t, base)
	if v.prepare != nil {
		v.prepare(t, root, program)
	}
	config := strings.ReplaceAll(strings.ReplaceAll(v.config, "%s", program), "%%", "%")
	if strings.Contains(config, "url = ") { // the vector's remote is the only one
		plain(t, root, "config", "--remove-section", "remote.origin")
	}
	if config != "" {
		appendFile(t, filepath.Join(root, ".git", "config"), config)
	}
	write(t, root, "c.txt", "changed\n")
	_ = os.Remove(mark) // what setting up may have run
	return root, mark
}

// TestHostileRepositories: no vector has its program run by any command.
func TestHostileRepositories(t *testing.T) {
	r, base := newRunner(t, nil), model(t)
	vectors := hostileVectors()
	if len(vectors) < 32 {
		t.Fatalf("%d vectors, want at least 32", len(vectors))
	}
	for _, v := range vectors {
		t.Run(v.name, func(t *testing.T) {
			root, mark := v.arm(t, base)
			_, failures := tryAll(t, r, root, commands(root))
			if ran, err := os.ReadFile(mark); err == nil {
				t.Errorf("ran:\n%s", ran)
			}
			if testing.Verbose() && len(failures) > 0 {
				t.Logf("failed: %s", strings.Join(failures, "\n"))
			}
		})
	}
}

// TestHostileVectorsWork: plain git runs the program of most vectors, so that
// the test above shows something.
func TestHostileVectorsWork(t *testing.T) {
	root, program, mark := world(t, model(t))
	attributes(t, root, program)
	appendFile(t, filepath.Join(root, ".git", "config"), fmt.Sprintf("[core]\nfsmonitor = %s\n[filter \"evil\"]\nclean = %s\n", program, program))
	write(t, root, "b.txt", "changed\n")
	plain(t, root, "status")
	if _, err := os.Stat(mark); err != nil {
		t.Fatal("plain git did not run the program either")
	}
}
