package host_test

import (
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/config"
	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/host"
	"github.com/prism-ls/prism-ls/tools"
)

// One client's profile and choice of tools change nothing of another's.
func TestAgentsAreApart(t *testing.T) {
	root, state := t.TempDir(), t.TempDir()
	open := func(shared *host.Shared, flags config.Flags) *host.Host {
		t.Helper()
		flags.Root, flags.StateDir = root, state
		cfg, err := config.Load(config.System{}, flags)
		if err != nil {
			t.Fatal(err)
		}
		agent, err := shared.Agent(cfg, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		return agent
	}
	cfg, err := config.Load(config.System{}, config.Flags{Root: root, StateDir: state})
	if err != nil {
		t.Fatal(err)
	}
	shared := openShared(t, cfg)
	write := func(h *host.Host, name string) *tools.Error {
		input, err := json.Marshal(map[string]string{"path": name, "content": "x"})
		if err != nil {
			t.Fatal(err)
		}
		return h.Registry().Call(t.Context(), "write", input, tools.CallOptions{}).Err
	}
	narrow := open(shared, config.Flags{Profile: "read-only", Toolsets: []string{"core"}})
	wide := open(shared, config.Flags{Profile: "trusted"})
	if failure := write(narrow, "a.txt"); failure == nil || failure.Code != tools.CodeExecutionDenied {
		t.Errorf("the narrow client wrote: %v", failure)
	}
	if failure := write(wide, "a.txt"); failure != nil {
		t.Errorf("the wide client did not write: %v", failure)
	}
	if failure := write(narrow, "b.txt"); failure == nil {
		t.Error("the narrow client wrote after the wide one")
	}
	if narrow.Registry().Tool("lsp_hover") != nil || wide.Registry().Tool("lsp_hover") == nil {
		t.Error("the choice of tools is not the client's own")
	}
	if err := wide.Close(); err != nil {
		t.Fatal(err)
	}
	if got := narrow.Registry().Call(t.Context(), "read", []byte(`{"path": "a.txt"}`), tools.CallOptions{}); got.Err != nil {
		t.Errorf("one client's end ended another: %v", got.Err)
	}
	if err := narrow.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "b.txt")); err == nil {
		t.Error("b.txt is there")
	}
}

// BenchmarkAgent is what a further client of an open workspace costs.
func BenchmarkAgent(b *testing.B) {
	cfg, err := config.Load(config.ReadSystem(), config.Flags{Root: b.TempDir(), StateDir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	shared := openShared(b, cfg)
	for b.Loop() {
		agent, err := shared.Agent(cfg, slog.New(slog.DiscardHandler))
		if err != nil {
			b.Fatal(err)
		}
		if err := agent.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func openShared(t testing.TB, cfg *config.Config) *host.Shared {
	t.Helper()
	logger := slog.New(slog.DiscardHandler)
	sessions, err := host.OpenSessions(cfg, logger, 0)
	if err != nil {
		t.Fatal(err)
	}
	shared, err := host.OpenShared(cfg, logger, sessions)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(sessions.Close(), shared.Close()); err != nil {
			t.Error(err)
		}
	})
	return shared
}
