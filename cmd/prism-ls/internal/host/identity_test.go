package host_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/config"
	"github.com/prism-ls/prism-ls/cmd/prism-ls/internal/host"
)

// Clients share language servers unless something that those depend on differs.
func TestIdentityFits(t *testing.T) {
	root, state, user := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "user.toml")
	empty, tool := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(tool, "gopls"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	put := func(text string) {
		t.Helper()
		if err := os.WriteFile(user, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	identify := func(flags config.Flags, environ ...string) host.Identity {
		t.Helper()
		flags.Root, flags.StateDir, flags.File = root, state, user
		cfg, err := config.Load(config.System{Environ: environ}, flags)
		if err != nil {
			t.Fatal(err)
		}
		id, err := host.Identify(cfg)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	put("")
	path := "PATH=/usr/bin:/bin"
	first := identify(config.Flags{}, path, "TERM=xterm", "GOPROXY=https://a.example")
	for name, other := range map[string]struct {
		id   host.Identity
		fits bool
	}{
		"profile and tools are a client's own":   {identify(config.Flags{Profile: "read-only", ReadOnly: true, ExcludeTools: []string{"read"}}, path), true},
		"a terminal decides nothing":             {identify(config.Flags{}, path, "TERM=dumb", "LC_ALL=C", "XDG_SESSION_ID=7"), true},
		"a variable that only one has":           {identify(config.Flags{}, path), true},
		"a variable that says something else":    {identify(config.Flags{}, path, "GOPROXY=off"), false},
		"another Python":                         {identify(config.Flags{}, path, "VIRTUAL_ENV=/venv"), false},
		"a path that leads to the same programs": {identify(config.Flags{}, path+":"+empty), true},
		"a path that leads to another one":       {identify(config.Flags{}, "PATH="+tool+":/usr/bin:/bin"), false},
	} {
		if got := first.Fits(other.id); got != other.fits {
			t.Errorf("%s: fits is %v", name, got)
		}
		if !first.SameSettings(other.id) {
			t.Errorf("%s: the settings are not the same", name)
		}
	}
	put("[language]\nmax_servers = 2\n")
	if changed := identify(config.Flags{}, path); first.SameSettings(changed) || first.Fits(changed) {
		t.Error("settings of language servers changed, and the clients share")
	}
	put("")
	other := filepath.Join(filepath.Dir(root), "other")
	for _, step := range []error{os.Mkdir(other, 0o700), os.Remove(root), os.Rename(other, root)} {
		if step != nil {
			t.Fatal(step)
		}
	}
	if again := identify(config.Flags{}, path); first.Fits(again) {
		t.Error("the workspace was made anew, and the clients share the old one")
	}
}
