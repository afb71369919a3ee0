package tools

import "testing"

func TestSensitivePaths(t *testing.T) {
	for _, c := range []struct {
		path            string
		control, secret bool
	}{
		{"main.go", false, false},
		{".git/config", true, false},
		{".git", true, false},
		{"sub/.GIT/hooks/pre-commit", true, false},
		{".gitignore", false, false},
		{".github/workflows/ci.yml", true, false},
		{".github/dependabot.yml", false, false},
		{".github", true, false},
		{"sub/.GitHub", true, false},
		{".vscode/tasks.json", true, false},
		{"web/.npmrc", true, false},
		{"home/.bashrc", true, false},
		{"prism-ls.toml", true, false},
		{".env", false, true},
		{"api/.env.local", false, true},
		{".env.example", false, false},
		{".envrc", true, false},
		{"env", false, false},
		{".ssh/id_ed25519", false, true},
		{"home/.aws/credentials", false, true},
		{"a/../.env", false, true},
	} {
		if got := IsControlPath(c.path); got != c.control {
			t.Errorf("IsControlPath(%q) = %v", c.path, got)
		}
		if got := IsSecretPath(c.path); got != c.secret {
			t.Errorf("IsSecretPath(%q) = %v", c.path, got)
		}
	}
}
