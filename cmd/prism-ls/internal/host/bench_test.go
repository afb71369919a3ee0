package host_test

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/config"
	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/host"
	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/mcpserver"
	"github.com/prism-ls/prism-ls/tools"
)

// BenchmarkStart is what a server does between its first instruction and its
// answer to tools/list.
func BenchmarkStart(b *testing.B) {
	state, root := b.TempDir(), b.TempDir()
	for b.Loop() {
		cfg, err := config.Load(config.ReadSystem(), config.Flags{Root: root, StateDir: state})
		if err != nil {
			b.Fatal(err)
		}
		var opened *host.Host
		server := mcpserver.New(&mcpserver.Options{Open: func(context.Context, string) (*tools.Registry, error) {
			opened, err = host.Open(cfg, slog.New(slog.DiscardHandler))
			if err != nil {
				return nil, err
			}
			return opened.Registry(), nil
		}})
		in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"b","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`)
		if err := server.Serve(b.Context(), mcpserver.NewConn(in, io.Discard, nil)); err != nil {
			b.Fatal(err)
		}
		if opened == nil {
			b.Fatal("tools/list was not answered")
		}
		if err := opened.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
