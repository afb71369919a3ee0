package config

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/prism-ls/prism-ls/diagnostics/parse"
	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/check"
)

// Check is a check that an agent may run by its name, and as it is here.
type Check struct {
	File           string            `toml:"file" who:"user" doc:"The program: an absolute path, a name on PATH, or a path below the workspace root with a / in it."`
	Args           []string          `toml:"args" who:"user" doc:"Its arguments. There is no shell."`
	Env            map[string]string `toml:"env" who:"user" doc:"Variables that it gets in addition to the usual ones."`
	CWD            string            `toml:"cwd" who:"user" doc:"The directory it runs in, relative to the root; empty means the root."`
	TimeoutSeconds int64             `toml:"timeout_seconds" who:"user" doc:"How long it may take, 1 to 3600; 0 means 600."`
	Parser         string            `toml:"parser" who:"user" doc:"What turns its output into diagnostics: checkstyle, eslint-json, gcc, go, sarif or tsc; empty means nothing."`
	Network        bool              `toml:"network" who:"user" doc:"Leave it the network when checks are confined."`
}

// Definitions are the checks as a runner takes them, sorted by name.
func (s *Settings) Definitions() []check.Definition {
	var list []check.Definition
	for _, name := range slices.Sorted(maps.Keys(s.Checks)) {
		c := s.Checks[name]
		d := check.Definition{
			Name: name, File: c.File, Args: c.Args, Dir: c.CWD,
			Timeout: time.Duration(c.TimeoutSeconds) * time.Second, Parser: c.Parser, Network: c.Network,
		}
		for _, variable := range slices.Sorted(maps.Keys(c.Env)) {
			d.Env = append(d.Env, variable+"="+c.Env[variable])
		}
		list = append(list, d)
	}
	return list
}

// checkChecks refuses what no check can be, before one is asked for.
func (s *Settings) checkChecks() error {
	slots := check.CheckConcurrency
	slots.Name = "check_concurrency"
	if _, err := slots.Of(&s.CheckSlots); err != nil {
		return err
	}
	if n := int64(len(s.Checks)); n > check.CheckNames.Hard {
		return tools.Errorf(tools.CodeToolInput, "checks has %d entries, at most %d may be declared", n, check.CheckNames.Hard)
	}
	for _, d := range s.Definitions() {
		if seconds := s.Checks[d.Name].TimeoutSeconds; seconds < 0 || seconds > check.CheckTime.Hard {
			return tools.Errorf(tools.CodeToolInput, "checks.%s.timeout_seconds is %d, must be 1 to %d", d.Name, seconds, check.CheckTime.Hard)
		}
		if err := d.Check(); err != nil {
			return err
		}
		if _, ok := parse.Named(d.Parser); d.Parser != "" && !ok {
			return tools.Errorf(tools.CodeToolInput, "checks.%s.parser is %q, must be one of %s%s", d.Name, d.Parser, strings.Join(parse.Names(), ", "), tools.Nearest(d.Parser, parse.Names()))
		}
	}
	return nil
}
