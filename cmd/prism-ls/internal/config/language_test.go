package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/tools/policy"
)

// loadWith loads a user's and a workspace's file.
func loadWith(t *testing.T, user, workspace string, trusted bool) (*Config, error) {
	t.Helper()
	root, state := t.TempDir(), t.TempDir()
	file := filepath.Join(t.TempDir(), "user.toml")
	for name, text := range map[string]string{file: user, filepath.Join(root, FileName): workspace} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	flags := Flags{Root: root, File: file, StateDir: state}
	if trusted {
		cfg, err := Locate(System{}, flags)
		if err != nil {
			t.Fatal(err)
		}
		if err := cfg.TrustFile(true); err != nil {
			t.Fatal(err)
		}
		if !policy.NewTrust(cfg.TrustDir()).Trusted(cfg.Root) {
			t.Fatal("not trusted")
		}
	}
	return Load(System{}, flags)
}

func TestLanguageSettings(t *testing.T) {
	cfg, err := loadWith(t, `
[language]
install = "auto"
max_servers = 8
memory_mib = 2048
idle_minutes = 5
[language.servers.gopls]
prefer = true
command = ["gopls", "-remote=auto"]
[language.servers.gopls.settings]
gofumpt = true
analyses = { shadow = true, deep = { er = [1, "x"] } }
`, "[language.servers.gopls]\nenabled = false\n", false)
	if err != nil {
		t.Fatal(err)
	}
	var opts langintel.Options
	if err := cfg.Language.Options(&opts); err != nil {
		t.Fatal(err)
	}
	if opts.MaxServers != 8 || opts.MemoryBudget != 2<<30 || opts.IdleTimeout.Minutes() != 5 || opts.InstallUnasked != langintel.UnaskedAll {
		t.Errorf("%+v", opts)
	}
	for _, spec := range opts.Servers {
		if spec.Name == "gopls" {
			t.Error("the workspace could not turn gopls off")
		}
	}
	*cfg.Language.Servers["gopls"].Enabled = true
	if err := cfg.Language.Options(&opts); err != nil {
		t.Fatal(err)
	}
	gopls := opts.Servers[0]
	settings, err := gopls.Configure(langintel.Project{})
	if gopls.Name != "gopls" || gopls.Args[0] != "-remote=auto" || err != nil ||
		!strings.Contains(string(settings), `"deep":{"er":[1,"x"]}`) || !strings.Contains(string(settings), `"pullDiagnostics":true`) {
		t.Errorf("%s %q: %s, %v", gopls.Name, gopls.Args, settings, err)
	}
}

func TestLanguageSettingsMerge(t *testing.T) {
	cfg, err := loadWith(t,
		"[language.servers.gopls]\ncommand = [\"/opt/gopls\"]\nsettings = { a = 1, b = { c = 2, d = 3 } }\n",
		"[language.servers.gopls]\nsettings = { b = { c = 4 } }\nprefer = true\n", true)
	if err != nil {
		t.Fatal(err)
	}
	got := cfg.Language.Servers["gopls"]
	b, _ := got.Settings["b"].(map[string]any)
	if len(got.Command) != 1 || !got.Prefer || got.Settings["a"] != int64(1) || b["c"] != int64(4) || b["d"] != int64(3) {
		t.Errorf("%+v", got)
	}
}

func TestLanguageSettingsRefused(t *testing.T) {
	off := "[language.servers.gopls]\nenabled = false\n"
	for name, c := range map[string]struct{ user, workspace, want string }{
		"unknown server":               {user: "[language.servers.gopsl]\nenabled = false\n", want: `did you mean "gopls"`},
		"unknown server, of workspace": {workspace: "[language.servers.gopsl]\nenabled = true\n", want: `did you mean "gopls"`},
		"unknown key":                  {user: "[language.servers.gopls]\nenbled = false\n", want: `did you mean "enabled"`},
		"unknown key above":            {user: "[language]\nmax_server = 2\n", want: `did you mean "max_servers"`},
		"install":                      {user: "[language]\ninstall = \"nevr\"\n", want: `did you mean "never"`},
		"too many servers":             {user: "[language]\nmax_servers = 9\n", want: "must be 1 to 8"},
		"no servers":                   {user: "[language]\nmax_servers = 0\n", want: "must be 1 to 8"},
		"too much memory":              {user: "[language]\nmemory_mib = 70000\n", want: "must be 1 to 65536"},
		"too little memory":            {user: "[language]\nmemory_mib = 1\n", want: "at least 64"},
		"idle too long":                {user: "[language]\nidle_minutes = 2000\n", want: "must be 1 to 1440"},
		"relative command":             {user: "[language.servers.gopls]\ncommand = [\"./gopls\"]\n", want: "absolute path"},
		"workspace's command":          {workspace: "[language.servers.gopls]\ncommand = [\"/bin/sh\"]\n", want: "user's file only"},
		"workspace's settings":         {workspace: "[language.servers.gopls.settings]\na = 1\n", want: "user's file only"},
		"workspace's preference":       {workspace: "[language.servers.gopls]\nprefer = true\n", want: "user's file only"},
		"workspace's installation":     {workspace: "[language]\ninstall = \"auto\"\n", want: "user's file only"},
		"workspace turns on":           {user: off, workspace: "[language.servers.gopls]\nenabled = true\n", want: "give back"},
	} {
		if _, err := loadWith(t, c.user, c.workspace, false); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
