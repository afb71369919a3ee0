package config

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestEveryKeyIsExplained(t *testing.T) {
	for name, key := range keys() {
		if strings.HasPrefix(name, "rules.") || !key.settable() && key.doc == "" {
			continue // a table, or explained by hand
		}
		if key.doc == "" || key.who != "user" && key.who != "narrow" {
			t.Errorf("%s: doc %q, who %q", name, key.doc, key.who)
		}
		if !strings.Contains(Reference(), "`"+name[strings.LastIndexByte(name, '.')+1:]+"`") {
			t.Errorf("%s is not in the reference", name)
		}
	}
}

func TestDirectories(t *testing.T) {
	root := t.TempDir()
	for _, c := range []struct {
		name           string
		system         System
		flags          Flags
		state, runtime string
	}{
		{"XDG", System{StateHome: "/s", RuntimeHome: "/r"}, Flags{}, "/s/prism-ls", "/r/prism-ls"},
		{"no runtime directory", System{StateHome: "/s"}, Flags{}, "/s/prism-ls", "/s/prism-ls/run"},
		{"flag", System{StateHome: "/s"}, Flags{StateDir: "/f"}, "/f", "/f/run"},
		{"no home", System{}, Flags{}, "", ""},
	} {
		c.flags.Root = root
		cfg, err := Locate(c.system, c.flags)
		if err != nil || cfg.StateDir != c.state || cfg.RuntimeDir != c.runtime {
			t.Errorf("%s: state %q, runtime %q, %v", c.name, cfg.StateDir, cfg.RuntimeDir, err)
		}
	}
}

func TestSystemFollowsXDG(t *testing.T) {
	t.Setenv("HOME", "/home/someone")
	t.Setenv("XDG_STATE_HOME", "relative/counts/for/nothing")
	t.Setenv("XDG_CONFIG_HOME", "/elsewhere")
	t.Setenv("XDG_RUNTIME_DIR", "")
	system := ReadSystem()
	if system.StateHome != "/home/someone/.local/state" || system.ConfigHome != "/elsewhere" || system.RuntimeHome != "" {
		t.Errorf("%+v", system)
	}
}

func TestSocketPath(t *testing.T) {
	cfg := &Config{Root: "/" + strings.Repeat("deep/", 200), RuntimeDir: "/run/user/1000/prism-ls"}
	path, err := cfg.SocketPath()
	if err != nil || len(path) > maxSocketPath || filepath.Dir(path) != cfg.RuntimeDir {
		t.Errorf("%q, %v", path, err)
	}
	other := &Config{Root: "/another", RuntimeDir: cfg.RuntimeDir}
	if same, _ := other.SocketPath(); same == path {
		t.Error("two roots share a socket")
	}
	cfg.RuntimeDir = "/" + strings.Repeat("x", 90)
	if path, err := cfg.SocketPath(); err == nil {
		t.Errorf("%q is too long", path)
	}
}

func TestSecrets(t *testing.T) {
	system := System{Environ: []string{"GITHUB_TOKEN=one", "DB_PASSWORD=two", "API_KEY=three", "KEYBOARD=us", "EMPTY_SECRET=", "PLAIN=four", "NAMED=five"}}
	if got := system.Secrets([]string{"NAMED"}); !slices.Equal(got, []string{"one", "two", "three", "five"}) {
		t.Errorf("%q", got)
	}
}
