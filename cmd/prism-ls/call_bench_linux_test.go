package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// BenchmarkCall is one call of the command line, from starting the program to its
// end: with a daemon that is warm, and alone. References are asked of gopls in the
// example workspace; alone, it starts for every call.
func BenchmarkCall(b *testing.B) {
	program, root, state := shipped(b), b.TempDir(), b.TempDir()
	shareServers(b, state)
	if err := os.CopyFS(root, os.DirFS(filepath.Join("..", "..", "testdata", "workspaces", "go-shop"))); err != nil {
		b.Fatal(err)
	}
	endAfter(b, root, state)
	read := []string{"call", "read", "path=go.mod"}
	refs := []string{"refs", "Shelf.Add"}
	for _, c := range []struct {
		name string
		args []string
	}{
		{"read/warm", read}, {"read/alone", append(slices.Clip(read), "--no-daemon")},
		{"refs/warm", refs}, {"refs/alone", append(slices.Clip(refs), "--no-daemon")},
	} {
		b.Run(c.name, func(b *testing.B) {
			run := func() time.Duration {
				cmd := exec.Command(program, append(c.args, "--root", root, "--state-dir", state)...)
				begin := time.Now()
				if out, err := cmd.CombinedOutput(); err != nil {
					b.Fatalf("%v: %s", err, out)
				}
				return time.Since(begin)
			}
			run() // whatever has to start
			best := time.Hour
			for b.Loop() {
				best = min(best, run())
			}
			b.ReportMetric(float64(best.Microseconds())/1e3, "min-ms")
		})
	}
}
