package mcpserver_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/mcpserver"
	"github.com/prism-ls/prism-ls/tools"
)

// BenchmarkCall is one call after another over a pair of pipes.
func BenchmarkCall(b *testing.B) {
	type sized struct {
		Size int `json:"size"`
	}
	texts := map[int]string{}
	for _, size := range []int{0, 50 << 10, 1 << 20} {
		texts[size] = strings.Repeat("some <text> of a \"file\"\n", size/24+1)[:size]
	}
	spec := tools.Spec{Name: "text", Title: "t", Description: "d", Toolset: "core", Kind: tools.KindRead, Effect: tools.Observes}
	tool, err := tools.New(spec, nil, tools.RunFunc[sized, struct{}](func(ctx context.Context, _ *tools.Call, in sized) (*tools.Outcome[struct{}], error) {
		return tools.Answer(texts[in.Size], struct{}{}), nil
	}))
	if err != nil {
		b.Fatal(err)
	}
	registry, err := tools.NewRegistry([]*tools.Tool{tool}, nil)
	if err != nil {
		b.Fatal(err)
	}
	for _, size := range []int{0, 50 << 10, 1 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			inR, inW, err := os.Pipe()
			if err != nil {
				b.Fatal(err)
			}
			outR, outW, err := os.Pipe()
			if err != nil {
				b.Fatal(err)
			}
			ended := make(chan error, 1)
			server := mcpserver.New(&mcpserver.Options{Open: func(context.Context, string) (*tools.Registry, error) { return registry, nil }})
			go func() { ended <- server.Serve(b.Context(), mcpserver.NewConn(inR, outW, nil)) }()
			lines := bufio.NewReaderSize(outR, 1<<20)
			read := func() {
				for {
					if _, err := lines.ReadSlice('\n'); err == nil {
						return
					} else if err != bufio.ErrBufferFull {
						b.Fatal(err)
					}
				}
			}
			fmt.Fprintln(inW, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"b","version":"1"}}}`)
			read()
			b.SetBytes(int64(size))
			id := 1
			for b.Loop() {
				id++
				fmt.Fprintf(inW, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"text","arguments":{"size":%d}}}`+"\n", id, size)
				read()
			}
			inW.Close()
			if err := <-ended; err != nil {
				b.Fatal(err)
			}
		})
	}
}
