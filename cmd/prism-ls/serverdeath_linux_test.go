package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// stubborn starts gopls as a server that will not go: TERM and HUP are ignored, and
// beside it there are a child, a child of its own session, and one whose parent is
// gone.
const stubborn = `#!/bin/sh
trap "" TERM HUP
sleep %[1]s </dev/null >/dev/null 2>&1 &
setsid sleep %[1]s </dev/null >/dev/null 2>&1 &
(setsid sh -c 'sleep %[1]s & sleep %[1]s' </dev/null >/dev/null 2>&1 &)
exec %[2]s "$@"
`

// However a prism-ls that works alone ends, nothing of its language servers is
// left. Those of a daemon are the daemon's.
func TestLanguageServersEndWithUs(t *testing.T) {
	gopls := installedGopls(t)
	rounds := 1
	if soak() {
		rounds = 100
	}
	for _, way := range ends {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			for range rounds {
				keeps(t, func() time.Duration {
					mark := fmt.Sprintf("8%08d", rand.IntN(100_000_000))
					s := startWithServer(t, fmt.Sprintf(stubborn, mark, gopls))
					s.eventually("the server's children run", func() bool { return len(running(t, "sleep\x00"+mark)) >= 4 })
					way.end(s)
					return s.gone(mark)
				})
			}
		})
	}
}

// installedGopls is the pinned gopls, installed as a person would.
func installedGopls(t *testing.T) string {
	t.Helper()
	state := t.TempDir()
	shared := shareServers(t, state)
	if out, err := exec.Command("prism-ls", "servers", "install", "gopls", "--yes", "--state-dir", state).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	found, err := filepath.Glob(filepath.Join(shared, "gopls@*", "gopls"))
	if err != nil || len(found) == 0 {
		t.Fatalf("no gopls in %s, %v", shared, err)
	}
	return found[len(found)-1]
}

// startWithServer is a server that has asked gopls, which a script starts, something.
func startWithServer(t *testing.T, script string) *server {
	t.Helper()
	dir, root := t.TempDir(), t.TempDir()
	files := map[string]string{
		filepath.Join(dir, "server"):        script,
		filepath.Join(dir, "prism-ls.toml"): fmt.Sprintf("[language.servers.gopls]\ncommand = [%q]\n", filepath.Join(dir, "server")),
		filepath.Join(root, "go.mod"):       "module example.com/m\n\ngo 1.26\n",
		filepath.Join(root, "m.go"):         "package m\n\nfunc F() {}\n",
	}
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s := startIn(t, root, "--no-daemon", "--config", filepath.Join(dir, "prism-ls.toml"))
	s.initialize()
	s.startCall(1, "lsp_hover", `{"path":"m.go","line":3,"symbol":"F"}`)
	for {
		if r := s.receive(); string(r.ID) == "1" {
			if r.Result.IsError || r.Error != nil {
				t.Fatal(r.raw)
			}
			return s
		}
	}
}
