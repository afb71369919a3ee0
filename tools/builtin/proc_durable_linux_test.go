package builtin_test

import (
	"context"
	"os"
	"testing"

	"github.com/prism-ls/prism-ls/procsess"
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/builtin"
)

// TestProcTakenUpAgain: a durable session that somebody else took up in between (a
// person's `ps`, for instance) is not lost to the agent that has started it.
func TestProcTakenUpAgain(t *testing.T) {
	state := t.TempDir()
	h := newProcHost(t, func(d *builtin.ProcessDeps, _ *tools.RegistryOptions) {
		registry, err := procsess.New(d.Owner, &procsess.Options{Env: os.Environ(), Dir: d.Workspace.Root(), StateDir: state})
		must(t, err)
		t.Cleanup(func() { must(t, registry.Close()) })
		d.Sessions = registry
		d.TakeUp = func(ctx context.Context, caller procsess.Caller, again bool) {
			if again {
				_, err := registry.Recover(ctx, caller)
				must(t, err)
			}
		}
	})
	id := h.proc(args{"command": "echo up; cat", "durable": true})
	h.matched(id, "up", 0)

	other, err := procsess.New(h.owner, &procsess.Options{Env: os.Environ(), Dir: h.root, StateDir: state})
	must(t, err)
	found, err := other.Recover(t.Context(), procsess.Caller{Operator: true})
	if err != nil || len(found) != 1 || found[0].Err != nil || found[0].Info.State != procsess.Running {
		t.Fatalf("taken up: %+v, %v", found, err)
	}
	must(t, other.Close())

	if page, _ := h.output(args{"id": id, "cursor": 0}); page.Data != "up\n" || page.State != "running" {
		t.Errorf("afterwards: %+v", page)
	}
	h.ok("proc_input", args{"id": id, "text": "still here\n"}, nil)
	h.matched(id, "still here", 0)
	h.ok("proc_kill", args{"id": id}, nil)
}
