package host_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/config"
	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/host"
	"github.com/prism-ls/prism-ls/procsess"
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/child"
	"github.com/prism-ls/prism-ls/tools/state"
)

func TestMain(m *testing.M) {
	child.Main()
	procsess.Main()
	os.Exit(m.Run())
}

type args map[string]any

// yard is a small Go workspace under git, with all tools and a real store.
type yard struct {
	t    *testing.T
	root string
	host *host.Host
}

func newYard(t *testing.T) *yard {
	t.Helper()
	y := &yard{t: t, root: t.TempDir()}
	stateDir := t.TempDir()
	y.must(os.CopyFS(y.root, os.DirFS(filepath.Join("..", "..", "..", "..", "testdata", "workspaces", "go-shop"))))
	for _, command := range [][]string{
		{"init", "-q", "-b", "main"}, {"config", "user.name", "A"}, {"config", "user.email", "a@example.org"},
		{"add", "-A"}, {"commit", "-q", "-m", "first"},
	} {
		cmd := exec.Command("git", command...)
		cmd.Dir = y.root
		if output, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v, %s", command, err, output)
		}
	}
	servers := os.Getenv("PRISM_TEST_SERVERS") // where the tests of all packages share them
	if servers == "" {
		cache, err := os.UserCacheDir()
		y.must(err)
		servers = filepath.Join(cache, "prism-ls-test", "servers")
	}
	y.must(os.MkdirAll(servers, 0o755))
	y.must(os.Symlink(servers, filepath.Join(stateDir, "servers")))
	settings := t.TempDir() // whose commits the tools make is in git's own
	y.must(os.MkdirAll(filepath.Join(settings, "git"), 0o755))
	y.must(os.WriteFile(filepath.Join(settings, "git", "config"), []byte("[user]\nname = A\nemail = a@example.org\n"), 0o644))
	t.Setenv("XDG_CONFIG_HOME", settings)
	system := config.ReadSystem()
	cfg, err := config.Load(system, config.Flags{
		Root: y.root, StateDir: stateDir, Profile: "trusted", Toolsets: []string{"core", "git", "lsp", "proc", "plan"},
	})
	y.must(err)
	cfg.Checks = map[string]config.Check{"fine": {File: "true"}}
	y.host, err = host.Open(cfg, slog.New(slog.DiscardHandler))
	y.must(err)
	t.Cleanup(func() {
		if err := y.host.Close(); err != nil {
			t.Error(err)
		}
	})
	return y
}

func (y *yard) must(err error) {
	y.t.Helper()
	if err != nil {
		y.t.Fatal(err)
	}
}

func (y *yard) write(name, text string) {
	y.t.Helper()
	y.must(os.MkdirAll(filepath.Dir(filepath.Join(y.root, name)), 0o755))
	y.must(os.WriteFile(filepath.Join(y.root, name), []byte(text), 0o644))
}

func (y *yard) call(tool, run string, in args) *tools.Result {
	y.t.Helper()
	text, err := json.Marshal(in)
	y.must(err)
	return y.host.Registry().Call(y.t.Context(), tool, text, tools.CallOptions{Owner: "agent-1", Session: "s", Run: run})
}

// done makes a call that has to succeed, and returns a member of its metadata.
func (y *yard) done(tool string, in args, member string) any {
	y.t.Helper()
	result := y.call(tool, "", in)
	if result.Err != nil {
		y.t.Fatalf("%s: %v", tool, result.Err)
	}
	var metadata map[string]any
	y.must(json.Unmarshal(result.Metadata, &metadata))
	return metadata[member]
}

// session starts a program that waits for its input.
func (y *yard) session() any { return y.done("proc_start", args{"command": "cat"}, "id") }

// mutations has, for every tool that can change anything, how to get it to.
var mutations = map[string]func(*yard) args{
	"write": func(*yard) args { return args{"path": "w.txt", "content": "w"} },
	"edit": func(y *yard) args {
		y.write("e.txt", "one two")
		return args{"path": "e.txt", "edits": []args{{"oldText": "two", "newText": "three"}}}
	},
	"move": func(y *yard) args {
		y.write("m.txt", "m")
		return args{"from": "m.txt", "to": "n.txt"}
	},
	"delete": func(y *yard) args {
		y.write("d.txt", "d")
		return args{"path": "d.txt"}
	},
	"undo": func(y *yard) args {
		return args{"undoId": y.done("write", args{"path": "u.txt", "content": "u"}, "undoId")}
	},
	"coding_check": func(*yard) args { return args{"name": "fine"} },
	"shell":        func(*yard) args { return args{"command": "echo x >> shell.txt"} },

	"lsp_rename":      func(*yard) args { return args{"symbol": "Shelf.Add", "newName": "Put"} },
	"lsp_symbol_body": func(*yard) args { return args{"symbol": "dotty.Make", "op": "delete"} },
	"lsp_format": func(y *yard) args {
		y.write("till/odd.go", "package till\n\nfunc  Odd( ) { }\n")
		return args{"path": "till/odd.go"}
	},
	"lsp_code_actions": func(y *yard) args {
		y.write("till/more.go", "package till\n\nimport \"os\"\n")
		list := y.done("lsp_code_actions", args{"path": "till/more.go", "line": 1, "kinds": []string{"source.organizeImports"}}, "actions")
		return args{"apply": list.([]any)[0].(map[string]any)["id"]}
	},

	"proc_start":   func(*yard) args { return args{"command": "cat"} },
	"proc_input":   func(y *yard) args { return args{"id": y.session(), "text": "hello\n"} },
	"proc_resize":  func(y *yard) args { return args{"id": y.session(), "columns": 100, "rows": 30} },
	"proc_signal":  func(y *yard) args { return args{"id": y.session(), "signal": "SIGINT"} },
	"proc_kill":    func(y *yard) args { return args{"id": y.session()} },
	"proc_release": func(y *yard) args { return args{"id": y.done("proc_start", args{"command": "sleep 1"}, "id")} },

	"git_apply": func(*yard) args {
		patch := "diff --git a/p.txt b/p.txt\nnew file mode 100644\n--- /dev/null\n+++ b/p.txt\n@@ -0,0 +1 @@\n+p\n"
		return args{"op": "apply", "patch": patch, "createCheckpoint": true}
	},
	"git_branch": func(*yard) args { return args{"op": "create", "name": "another"} },
	"git_commit": func(y *yard) args {
		y.write("c.txt", "c")
		return args{"message": "a commit", "paths": []string{"c.txt"}, "createCheckpoint": true}
	},
	"git_restore": func(y *yard) args {
		y.write("label/label.go", "package label\n")
		return args{"paths": []string{"label/label.go"}, "from": "HEAD"}
	},
	"git_worktree": func(*yard) args { return args{"op": "add", "path": "tree", "branch": "side"} },

	"workspace_create": func(*yard) args { return space("one") },
	"workspace_cleanup": func(y *yard) args {
		y.done("workspace_create", space("two"), "id")
		return args{"taskId": "two"}
	},

	"plan_write": func(*yard) args {
		return args{"taskId": "t1", "title": "T", "goal": "G", "todos": []args{{"id": "a", "text": "A"}}}
	},
	"plan_update": func(y *yard) args {
		y.done("plan_write", args{"taskId": "t2", "title": "T", "goal": "G", "todos": []args{{"id": "a", "text": "A"}}}, "sha256")
		return args{"taskId": "t2", "id": "a", "done": true}
	},
}

// space is a task's workspace.
func space(task string) args {
	return args{"taskId": task, "repositories": []args{{"repositoryId": "root", "branch": "task/" + task}}}
}

// TestEveryMutationIsOnRecord: there is no tool that changes anything without an
// effect on record, and none that does it twice in a run.
func TestEveryMutationIsOnRecord(t *testing.T) {
	y := newYard(t)
	var mutating []string
	for _, tool := range y.host.Registry().Tools() {
		if tool.Spec().Effect.Mutates() {
			mutating = append(mutating, tool.Spec().Name)
		}
	}
	for _, name := range mutating {
		make := mutations[name]
		if make == nil {
			t.Errorf("%s changes things, and this test has no call of it", name)
			continue
		}
		t.Run(name, func(t *testing.T) {
			y.t = t
			in := make(y)
			before := y.effects(name)
			first := y.call(name, "run of "+name, in)
			if first.Err != nil {
				t.Fatal(first.Err)
			}
			after := y.effects(name)
			if len(after) != len(before)+1 {
				t.Fatalf("%d effects on record before, %d after", len(before), len(after))
			}
			for key, e := range after {
				if before[key].Key == "" {
					y.looksRight(name, e)
				}
			}
			again := y.call(name, "run of "+name, in)
			one, _ := json.Marshal(first)
			two, _ := json.Marshal(again)
			if string(one) != string(two) {
				t.Errorf("asked again: %s\nwant %s", two, one)
			}
			if n := len(y.effects(name)); n != len(after) {
				t.Errorf("asked again: %d effects on record, want %d", n, len(after))
			}
		})
	}
}

func (y *yard) looksRight(name string, e state.Effect) {
	y.t.Helper()
	if e.State != state.EffectCompleted || len(e.Witnesses) == 0 {
		y.t.Errorf("on record is %+v", e)
	}
	if !y.host.Registry().Tool(name).Spec().Effect.Witnessed() {
		return
	}
	account, err := y.host.Effects()
	y.must(err)
	if found, why := state.Compare(y.t.Context(), e.Witnesses, account.Look); found != state.FoundCommitted {
		y.t.Errorf("witnesses say %s, %s: %+v", found, why, e.Witnesses)
	}
}

// effects are those of a tool's runs, by key.
func (y *yard) effects(tool string) map[string]state.Effect {
	y.t.Helper()
	found := map[string]state.Effect{}
	cursor := ""
	for {
		account, err := y.host.Effects()
		y.must(err)
		page, err := account.Store.List(y.t.Context(), account.Owner, nil, cursor, 0)
		y.must(err)
		for _, e := range page.Effects {
			if e.Operation == tool && len(e.Result) > 0 {
				found[e.Key] = e
			}
		}
		if cursor = page.Next; cursor == "" {
			return found
		}
	}
}

// TestAChangeOfManyFilesIsKnownFileByFile, as many as one call of edit may change.
func TestAChangeOfManyFilesIsKnownFileByFile(t *testing.T) {
	y := newYard(t)
	var files []args
	for i := range 100 {
		name := fmt.Sprintf("some/longer/path/of/a/package/file%d.txt", i)
		y.write(name, "one two")
		files = append(files, args{"path": name, "edits": []args{{"oldText": "two", "newText": "three"}}})
	}
	if got := y.call("edit", "many", args{"files": files}); got.Err != nil {
		t.Fatal(got.Err)
	}
	for _, e := range y.effects("edit") {
		if len(e.Witnesses) != 100 {
			t.Errorf("%d witnesses", len(e.Witnesses))
		}
		y.looksRight("edit", e)
	}
}
