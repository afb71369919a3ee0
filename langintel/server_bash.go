package langintel

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// bashFiles is how many scripts the server reads in advance; by itself it stops
// at 500 and does not say so.
const bashFiles = 10_000

// bash serves shell scripts. All problems that it reports are shellcheck's.
func bash() Spec {
	return Spec{
		Name: "bash", Title: "bash-language-server",
		Languages: []Language{{ID: "shellscript", Patterns: []string{"*.sh", "*.bash", "*.bats", "*.command", "*.inc.sh"}}},
		Program:   "bash-language-server", Args: []string{"start"},
		Local:     []string{"node_modules/.bin/bash-language-server"},
		Install:   &Install{NPM: []string{"bash-language-server@5.8.1"}, Version: "5.8.1"},
		Section:   "bashIde",
		Configure: bashSettings,
		Ready:     Indexed(AfterLog("BackgroundAnalysis: Completed", 20*time.Second)),
		Fresh:     Limited(bashUnchecked, Pushes(0)),
		Degraded:  bashUnchecked,
		Incomplete: func(p Project) string {
			n := 0
			for _, pattern := range []string{"*.sh", "*.bash", "*.inc", "*.command"} {
				n += len(p.Files.Match(pattern))
			}
			if n > bashFiles {
				return fmt.Sprintf("there are %d scripts, and it reads %d", n, bashFiles)
			}
			return ""
		},
	}
}

// bashUnchecked says why the server finds no problems at all, not even in syntax.
func bashUnchecked(p Project) string {
	if p.Command("shellcheck") != "" {
		return ""
	}
	return "shellcheck is not in PATH, and without it bash-language-server finds no problems; install shellcheck from the system's packages"
}

func bashSettings(p Project) (jsontext.Value, error) {
	return json.Marshal(struct {
		MaxFiles   int    `json:"backgroundAnalysisMaxFiles"`
		Glob       string `json:"globPattern"`
		Shellcheck string `json:"shellcheckPath"` // empty: none
		Explain    string `json:"explainshellEndpoint"`
		LogLevel   string `json:"logLevel"` // it says on "info" when it has read all scripts
	}{bashFiles, "**/*@(.sh|.inc|.bash|.command|.bats)", p.Command("shellcheck"), "", "info"})
}
