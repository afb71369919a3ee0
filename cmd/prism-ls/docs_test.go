package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the generated pages of docs/ anew")

// The pages that are made from the code are as the code is now.
func TestGeneratedDocs(t *testing.T) {
	t.Parallel()
	for _, page := range []string{"config", "tools"} {
		var out, stderr bytes.Buffer
		if status := run([]string{"docs", page, "--root", t.TempDir(), "--state-dir", t.TempDir()}, nil, &out, &stderr); status != 0 {
			t.Fatalf("docs %s: %s", page, stderr.String())
		}
		file := filepath.Join("..", "..", "docs", page+".md")
		if *update {
			if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		have, err := os.ReadFile(file)
		if err != nil || !bytes.Equal(have, out.Bytes()) {
			t.Errorf("docs/%s.md is stale (%v); write it anew with: go test ./cmd/prism-ls -run GeneratedDocs -update", page, err)
		}
	}
}

// The table of servers in docs/languages.md is the catalogue's.
func TestGeneratedDocsServers(t *testing.T) {
	t.Parallel()
	const begin, end = "<!-- made by `make docs` -->\n\n", "\n<!-- until here -->"
	var out, stderr bytes.Buffer
	if status := run([]string{"docs", "servers"}, nil, &out, &stderr); status != 0 {
		t.Fatal(stderr.String())
	}
	file := filepath.Join("..", "..", "docs", "languages.md")
	have, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(have), begin)
	_, tail, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatal("docs/languages.md has no place for the table")
	}
	want := head + begin + out.String() + end + tail
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(have) {
		t.Error("the table in docs/languages.md is stale; write it anew with: go test ./cmd/prism-ls -run GeneratedDocs -update")
	}
}

// What a model pays for in every conversation stays small.
func TestToolsAreShort(t *testing.T) {
	t.Parallel()
	var out, stderr bytes.Buffer
	if status := run([]string{"tools", "--json", "--root", t.TempDir(), "--state-dir", t.TempDir()}, nil, &out, &stderr); status != 0 {
		t.Fatal(stderr.String())
	}
	var listed struct {
		Tools []struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Toolset     string          `json:"toolset"`
			InputSchema json.RawMessage `json:"inputSchema"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(out.Bytes(), &listed); err != nil {
		t.Fatal(err)
	}
	total, lsp, proc := 0, 0, 0
	for _, tool := range listed.Tools {
		size := len(tool.Name) + len(tool.Description) + len(tool.InputSchema)
		total += size
		if tool.Toolset == "lsp" {
			lsp += size
		}
		if tool.Toolset == "proc" {
			proc += size
		}
	}
	if len(listed.Tools) < 31 || total >= 24<<10 || lsp >= 8<<10 || proc >= 5<<10 {
		t.Errorf("%d tools, %d bytes (at most 24 KiB), of them lsp %d (at most 8 KiB) and proc %d (at most 5 KiB)", len(listed.Tools), total, lsp, proc)
	}
	t.Logf("%d tools, %d bytes, of them lsp %d and proc %d", len(listed.Tools), total, lsp, proc)
}
