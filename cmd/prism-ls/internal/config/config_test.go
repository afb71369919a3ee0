package config

import (
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
		line, heading := "`"+name[strings.LastIndexByte(name, '.')+1:]+"`", "## `["+name+"."
		if page := Reference(); !strings.Contains(page, line) && !strings.Contains(page, heading) || !strings.Contains(page, key.doc) {
			t.Errorf("%s is not in the reference", name)
		}
	}
}

func TestDirectories(t *testing.T) {
	root := t.TempDir()
	for _, c := range []struct {
		name    string
		system  System
		flags   Flags
		state   string
		sockets []string
	}{
		{"XDG", System{StateHome: "/s", RuntimeHome: "/r"}, Flags{}, "/s/prism-ls", []string{"/r/prism-ls", "/s/prism-ls/run"}},
		{"no runtime directory", System{StateHome: "/s"}, Flags{}, "/s/prism-ls", []string{"/s/prism-ls/run"}},
		{"not told of the runtime directory", System{StateHome: "/s", LoginRuntime: "/l"}, Flags{}, "/s/prism-ls", []string{"/s/prism-ls/run", "/l/prism-ls"}},
		{"flag", System{StateHome: "/s"}, Flags{StateDir: "/f"}, "/f", []string{"/f/run"}},
		{"no home", System{}, Flags{}, "", nil},
	} {
		c.flags.Root = root
		cfg, err := Locate(c.system, c.flags)
		if err != nil || cfg.StateDir != c.state || !slices.Equal(cfg.SocketDirs(), c.sockets) {
			t.Errorf("%s: state %q, sockets %q, %v", c.name, cfg.StateDir, cfg.SocketDirs(), err)
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

func TestSecrets(t *testing.T) {
	system := System{Environ: []string{"GITHUB_TOKEN=one", "DB_PASSWORD=two", "API_KEY=three", "KEYBOARD=us", "EMPTY_SECRET=", "PLAIN=four", "NAMED=five"}}
	if got := system.Secrets([]string{"NAMED"}); !slices.Equal(got, []string{"one", "two", "three", "five"}) {
		t.Errorf("%q", got)
	}
}

// TestSecretsOfTheDSN: all of it, and its password, wherever it is.
func TestSecretsOfTheDSN(t *testing.T) {
	for _, dsn := range []string{
		"postgres://ann:pass%20word@db/prism", "postgres://db/prism?user=ann&password=pass+word", "postgres://ann@db/prism?password=pass%20word",
	} {
		cfg := &Config{}
		cfg.State.DSN = dsn
		if got := cfg.StateSecrets(); len(got) != 2 || got[0] != dsn || got[1] != "pass word" {
			t.Errorf("%s: %q", dsn, got)
		}
	}
	cfg := &Config{}
	cfg.State.DSN = "host=db password='word' user=ann"
	if got := cfg.StateSecrets(); len(got) != 2 || got[1] != "word" {
		t.Errorf("%q", got)
	}
}
