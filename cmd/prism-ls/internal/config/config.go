package config

import (
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/check"
	"github.com/prism-ls/prism-ls/tools/policy"
	"github.com/prism-ls/prism-ls/tools/state"
)

// Settings are what a configuration file may say. The doc tag is the text of
// the reference; who says who may set a key: "" anybody who may, "user" only
// the user's file, and "narrow" also a workspace, to narrow.
type Settings struct {
	Profile         string            `toml:"profile" who:"narrow" doc:"What is allowed, asked and denied: read-only, unattended, guarded or trusted. A workspace may choose a stricter one."`
	ReadOnly        bool              `toml:"read_only" who:"narrow" doc:"Hide every tool that can change anything. A workspace may turn it on."`
	ReadBeforeWrite bool              `toml:"read_before_write" who:"narrow" doc:"Refuse to change a file that exists and that the same session has not read, unless the call says force. A workspace may turn it on."`
	Toolsets        []string          `toml:"toolsets" who:"narrow" doc:"The groups of tools on offer; empty means the default groups. A workspace may leave some out."`
	ExcludeTools    []string          `toml:"exclude_tools" who:"narrow" doc:"Tools that are not on offer, by name. A workspace adds to the user's list."`
	Sandbox         string            `toml:"sandbox" who:"narrow" doc:"How commands are confined: require (or do not run), prefer (where it works), or off; empty means off under the profile trusted and prefer under the others. A workspace may choose a stricter one."`
	SandboxNetwork  bool              `toml:"sandbox_network" who:"user" doc:"Leave confined commands the network. The profile guarded then asks before each command."`
	Rules           []policy.Rule     `toml:"rules" who:"narrow" doc:"Exceptions to the profile; the strictest that matches counts. A workspace adds rules that ask or forbid."`
	AllowUnattended []string          `toml:"allow_unattended" who:"user" doc:"Operations that need no approval under the profile unattended."`
	Approvals       Approvals         `toml:"approvals"`
	ReadRoots       []string          `toml:"read_roots" who:"user" doc:"Further directories, as absolute paths, whose files may be read."`
	Environment     map[string]string `toml:"environment" who:"user" doc:"Variables that programs get in addition to the usual ones. LD_* and BASH_ENV are refused."`
	SecretVariables []string          `toml:"secret_variables" who:"user" doc:"Environment variables whose values are taken out of every result, beside those whose names say TOKEN, SECRET, KEY or PASSWORD."`
	Shell           Shell             `toml:"shell"`
	Git             Git               `toml:"git"`
	Undo            Undo              `toml:"undo"`
	CheckSlots      int64             `toml:"check_concurrency" who:"user" doc:"How many checks of one client run at once, 1 to 4."`
	Checks          map[string]Check  `toml:"checks"`
	State           State             `toml:"state"`
	Effects         Effects           `toml:"effects"`
	Repositories    map[string]string `toml:"repositories" who:"user" doc:"Repositories that tasks may have work trees of, by an ID of your choice, as absolute paths. The one that the workspace root lies in is there as root."`
	Workspaces      Workspaces        `toml:"workspaces"`
	Language        Language          `toml:"language"`
	Daemon          Daemon            `toml:"daemon"`
	Log             Log               `toml:"log"`
}

// Approvals say how a person's word counts.
type Approvals struct {
	Scope          string `toml:"scope" who:"user" doc:"How long an approval stands for the same exact action: none (once), run or session."`
	TimeoutSeconds int64  `toml:"timeout_seconds" who:"user" doc:"How long a person is waited for, 1 to 600."`
}

// Shell is the program behind the shell tool.
type Shell struct {
	Path string `toml:"path" who:"user" doc:"The shell, as an absolute path; empty means the system's."`
}

// Undo bounds what can be taken back.
type Undo struct {
	Transactions int   `toml:"transactions" who:"user" doc:"How many changes can be undone, 1 to 10000."`
	Bytes        int64 `toml:"bytes" who:"user" doc:"How much is kept for that in all."`
}

// State is where what has to last is kept, beside the state directory.
type State struct {
	DSN string `toml:"dsn" who:"user" doc:"A PostgreSQL database for records, leases, effects and artifacts, as postgres://USER@HOST:5432/DATABASE; empty means state.db in the state directory. PRISM_LS_STATE_DSN says it where the password should be in no file, and wins."`
}

// Effects adjust the account of what tools have changed.
type Effects struct {
	ClaimSeconds int64 `toml:"claim_seconds" who:"user" doc:"After how long a call that was begun and is not heard of again counts as one in doubt, 1 to 3600."`
	KeepDays     int64 `toml:"keep_days" who:"user" doc:"How long what has ended stays on record, 1 to 3650. Until then a run that goes on finds what it has done."`
}

// keepDays bounds Effects.KeepDays: a week, at most ten years.
func keepDays() tools.Limit {
	return tools.Limit{Name: "effects.keep_days", Default: 7, Hard: 3650}
}

// Daemon is the process that serves all clients of a workspace.
type Daemon struct {
	Enabled     bool  `toml:"enabled" who:"user" doc:"Whether the commands mcp and call work through the daemon of the workspace, and start it. Without it each does everything by itself, as with --no-daemon or PRISM_LS_NO_DAEMON=1."`
	IdleSeconds int64 `toml:"idle_seconds" who:"user" doc:"After how long without a client and without a live process session the daemon ends, 1 to 86400."`
}

// idleSeconds bounds Daemon.IdleSeconds: half an hour, at most a day.
func idleSeconds() tools.Limit {
	return tools.Limit{Name: "daemon.idle_seconds", Default: 30 * 60, Hard: 24 * 60 * 60}
}

// Log is what prism-ls writes for the person who runs it.
type Log struct {
	Level string `toml:"level" who:"user" doc:"The least level that is logged: debug, info, warn or error."`
}

// Defaults are the built-in settings.
func Defaults() Settings {
	return Settings{
		Profile:    string(policy.Guarded),
		Approvals:  Approvals{Scope: string(tools.ApproveOnce), TimeoutSeconds: tools.ApprovalTime.Default / 1000},
		Undo:       Undo{Transactions: 100, Bytes: 256 << 20},
		CheckSlots: check.CheckConcurrency.Default,
		Effects:    Effects{ClaimSeconds: state.EffectTime.Default, KeepDays: keepDays().Default},
		Language:   defaultLanguage(),
		Daemon:     Daemon{Enabled: true, IdleSeconds: idleSeconds().Default},
		Log:        Log{Level: "warn"},
	}
}

// Flags are what a command line says about settings; zero fields say nothing.
type Flags struct {
	// Root is the workspace root; "" is the working directory.
	Root string
	// File is the user's file; "" is the usual place, where it may be missing.
	File         string
	StateDir     string
	Profile      string
	Toolsets     []string
	ExcludeTools []string
	ReadOnly     bool
	LogLevel     string
}

// Config is what prism-ls runs with.
type Config struct {
	Settings
	// Root is the workspace root's real path.
	Root string
	// StateDir is where prism-ls keeps its state; "" where there is no place.
	StateDir string
	// Trusted: a person trusts this workspace to run code of its own.
	Trusted bool
	System  System
}

// SandboxMode is how commands are confined under the profile in force.
func (s *Settings) SandboxMode() string {
	switch {
	case s.Sandbox != "":
		return s.Sandbox
	case s.Profile == string(policy.Trusted):
		return "off"
	}
	return "prefer"
}

// ApprovalTimeout is how long a person is waited for.
func (c *Config) ApprovalTimeout() time.Duration {
	return time.Duration(c.Approvals.TimeoutSeconds) * time.Second
}

// DaemonIdle is after how long without work the daemon ends.
func (c *Config) DaemonIdle() time.Duration {
	return time.Duration(c.Daemon.IdleSeconds) * time.Second
}
