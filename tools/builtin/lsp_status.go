package builtin

import (
	"context"
	"fmt"
	"strings"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/tools"
)

type lspStatusInput struct {
	Restart string `json:"restart,omitempty" jsonschema:"name of a server to start anew"`
}

// LSPServer is what is known of one server.
type LSPServer struct {
	Name        string   `json:"name"`
	Languages   []string `json:"languages"`
	State       string   `json:"state"`
	Version     string   `json:"version"`
	RootPath    string   `json:"rootPath"`
	PID         int      `json:"pid"`
	MemoryBytes int64    `json:"memoryBytes"`
	Restarts    int64    `json:"restarts"`
	Degraded    string   `json:"degraded,omitempty"`
	LastError   string   `json:"lastError,omitempty"`
	Progress    string   `json:"progress,omitempty"`
}

// LSPStatus is the metadata of `lsp_status`.
type LSPStatus struct {
	Status  string      `json:"status"`
	Servers []LSPServer `json:"servers"`
}

func (l *language) status() (*tools.Tool, error) {
	spec := lspSpec("lsp_status", "Language servers", "State of the language servers; restarts one.")
	spec.Kind = tools.KindOther
	return lspTool(l, spec, func(ctx context.Context, _ *tools.Call, in lspStatusInput) (*tools.Outcome[LSPStatus], error) {
		if in.Restart != "" {
			if err := l.client.Restart(ctx, in.Restart); err != nil {
				return nil, err
			}
		}
		servers, err := l.client.Status(ctx)
		if err != nil {
			return nil, err
		}
		metadata := LSPStatus{Status: string(langintel.Complete), Servers: []LSPServer{}}
		var b strings.Builder
		for _, s := range servers {
			server := LSPServer{
				Name: s.Name, Languages: orEmpty(s.Languages), State: s.State, Version: s.Version, RootPath: s.RootPath, PID: s.PID,
				MemoryBytes: s.MemoryBytes, Restarts: s.Restarts, Degraded: s.Degraded, LastError: s.LastError, Progress: s.Progress,
			}
			metadata.Servers = append(metadata.Servers, server)
			b.WriteString(server.line())
		}
		return tools.Answer(strings.TrimSuffix(b.String(), "\n"), metadata), nil
	})
}

func (s *LSPServer) line() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s): %s", s.Name, strings.Join(s.Languages, ", "), s.State)
	if s.PID != 0 {
		fmt.Fprintf(&b, ", %s, pid %d, %d MiB, %d restarts", s.Version, s.PID, s.MemoryBytes>>20, s.Restarts)
	}
	for _, note := range []string{s.Degraded, s.LastError, s.Progress} {
		if note != "" {
			b.WriteString("; " + note)
		}
	}
	return b.String() + "\n"
}
