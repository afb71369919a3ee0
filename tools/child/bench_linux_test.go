package child_test

import (
	"os/exec"
	"testing"

	"github.com/prism-ls/prism-ls/tools/child"
)

// BenchmarkStartAndWait is what a command costs through an owner, beside what
// os/exec needs for the same.
func BenchmarkStartAndWait(b *testing.B) {
	b.Run("os-exec", func(b *testing.B) {
		for b.Loop() {
			if err := (&exec.Cmd{Path: "/bin/true"}).Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	for name, sandbox := range map[string]*child.Sandbox{
		"owner":           nil,
		"owner-sandboxed": {Mode: child.Require, WriteRoots: []string{b.TempDir()}},
	} {
		b.Run(name, func(b *testing.B) {
			owner := newOwner(b)
			for b.Loop() {
				process, err := owner.Start(b.Context(), child.Command{Path: "/bin/true", Sandbox: sandbox})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := process.Wait(b.Context()); err != nil {
					b.Fatal(err)
				}
				if _, err := process.Release(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkFirstStart includes guardian and reaper, and their end.
func BenchmarkFirstStart(b *testing.B) {
	for b.Loop() {
		owner := child.NewOwner(nil)
		process, err := owner.Start(b.Context(), child.Command{Path: "/bin/true"})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := process.Wait(b.Context()); err != nil {
			b.Fatal(err)
		}
		if err := owner.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
