package config

import (
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/BurntSushi/toml"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/child"
	"github.com/prism-ls/prism-ls/tools/policy"
	"github.com/prism-ls/prism-ls/tools/state"
)

// FileName is the configuration's name in a workspace root and in the user's
// configuration directory.
const FileName = "prism-ls.toml"

// maxFile bounds a configuration file.
const maxFile = 1 << 20

// Load layers the settings for one workspace. Errors are CodeToolInput, or say
// why a file cannot be read.
func Load(system System, flags Flags) (*Config, error) {
	c, err := Locate(system, flags)
	if err != nil {
		return nil, err
	}
	if err := c.loadUser(flags.File); err != nil {
		return nil, err
	}
	if err := c.loadWorkspace(); err != nil {
		return nil, err
	}
	c.apply(flags)
	return c, c.check()
}

// Locate finds the root and the directories, and reads no file.
func Locate(system System, flags Flags) (*Config, error) {
	c := &Config{Settings: Defaults(), System: system}
	if err := c.setRoot(flags.Root); err != nil {
		return nil, err
	}
	return c, c.setDirs(flags)
}

// loadUser reads the user's file, which must be there if a flag names it.
func (c *Config) loadUser(named string) error {
	file := named
	if file == "" {
		if c.System.ConfigHome == "" {
			return nil
		}
		file = filepath.Join(c.System.ConfigHome, "prism-ls", FileName)
	}
	text, err := readFile(file)
	if errors.Is(err, fs.ErrNotExist) && named == "" {
		return nil
	}
	if err != nil {
		return tools.Errorf(tools.AsError(err).Code, "%s cannot be read: %w", file, err)
	}
	_, err = decode(file, text, &c.Settings)
	return err
}

// loadWorkspace reads the workspace's file: as a whole where that file is
// trusted, else as far as it narrows.
func (c *Config) loadWorkspace() error {
	file := filepath.Join(c.Root, FileName)
	text, err := readFile(file)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return tools.Errorf(tools.AsError(err).Code, "%s cannot be read: %w", file, err)
	}
	c.Trusted = c.StateDir != "" && policy.NewTrust(c.TrustDir()).Trusted(c.Root)
	if missing {
		return nil
	}
	trusted := c.Trusted && trustedText(c.TrustDir(), c.Root, text)
	if trusted {
		_, err = decode(file, text, &c.Settings)
		return err
	}
	var said Settings
	meta, err := decode(file, text, &said)
	if err != nil {
		return err
	}
	err = c.narrow(&said, meta)
	if err != nil && c.Trusted {
		return tools.Errorf(tools.CodeToolInput, "%s: %w (the file has changed since this workspace was trusted; `prism-ls trust` again to take it as it is now)", file, err)
	}
	if err != nil {
		return tools.Errorf(tools.CodeToolInput, "%s: %w", file, err)
	}
	return nil
}

// readFile reads a regular file of bounded size.
func readFile(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, tools.Errorf(tools.CodeNotFile, "it is not a regular file")
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = tools.Errorf(tools.CodeLimit, "it is larger than %d bytes", maxFile)
	}
	return text, err
}

// decode reads TOML over what settings hold already. Keys that no setting has
// are errors.
func decode(file string, text []byte, settings *Settings) (toml.MetaData, error) {
	before := maps.Clone(settings.Language.Servers)
	meta, err := toml.Decode(string(text), settings)
	if err != nil {
		var syntax toml.ParseError
		if errors.As(err, &syntax) {
			return meta, tools.Errorf(tools.CodeToolInput, "%s:%d: %s", file, syntax.Position.Line, syntax.Message)
		}
		return meta, tools.Errorf(tools.CodeToolInput, "%s: %w", file, err)
	}
	for _, key := range meta.Keys() { // the library would take PROFILE for profile
		if _, ok := lookup(key); !ok {
			return meta, tools.Errorf(tools.CodeToolInput, "%s: unknown key %s%s", file, key, nearestKey(key))
		}
	}
	mergeServers(before, settings.Language.Servers, meta)
	return meta, nil
}

func (c *Config) apply(flags Flags) {
	if flags.Profile != "" {
		c.Profile = flags.Profile
	}
	if len(flags.Toolsets) > 0 {
		c.Toolsets = flags.Toolsets
	}
	if len(flags.ExcludeTools) > 0 {
		c.ExcludeTools = flags.ExcludeTools
	}
	if flags.ReadOnly {
		c.ReadOnly = true
	}
	if flags.LogLevel != "" {
		c.Log.Level = flags.LogLevel
	}
}

// The values that some settings may have, strictest first.
var (
	sandboxes = []string{"require", "prefer", "off"}
	scopes    = []string{string(tools.ApproveOnce), string(tools.ApproveRun), string(tools.ApproveSession)}
	levels    = []string{"debug", "info", "warn", "error"}
)

// check refuses values that no setting has, whoever said them.
func (c *Config) check() error {
	if _, err := policy.ParseProfile(c.Profile); err != nil {
		return err
	}
	for _, choice := range []struct {
		key, value string
		values     []string
	}{
		{"sandbox", c.SandboxMode(), sandboxes},
		{"approvals.scope", c.Approvals.Scope, scopes},
		{"log.level", c.Log.Level, levels},
	} {
		if !slices.Contains(choice.values, choice.value) {
			return tools.Errorf(tools.CodeToolInput, "%s is %q, must be one of %q%s", choice.key, choice.value, choice.values, tools.Nearest(choice.value, slices.Clone(choice.values)))
		}
	}
	if seconds := c.Approvals.TimeoutSeconds; seconds < 1 || seconds > tools.ApprovalTime.Hard/1000 {
		return tools.Errorf(tools.CodeToolInput, "approvals.timeout_seconds is %d, must be 1 to %d", seconds, tools.ApprovalTime.Hard/1000)
	}
	for key, path := range map[string]string{"shell.path": c.Shell.Path, "git.path": c.Git.Path} {
		if path != "" && !filepath.IsAbs(path) {
			return tools.Errorf(tools.CodeToolInput, "%s is %q, must be an absolute path", key, path)
		}
	}
	for _, root := range c.ReadRoots {
		if !filepath.IsAbs(root) {
			return tools.Errorf(tools.CodeToolInput, "read_roots has %q, must be absolute paths", root)
		}
	}
	if refused := child.Refused(c.Environment); len(refused) > 0 {
		return tools.Errorf(tools.CodeToolInput, "environment has %q, which no program may be given", refused)
	}
	if err := c.Language.check(); err != nil {
		return err
	}
	if err := c.Git.check(); err != nil {
		return err
	}
	if err := c.checkChecks(); err != nil {
		return err
	}
	if err := c.checkWorkspaces(); err != nil {
		return err
	}
	if _, err := idleSeconds().Of(&c.Daemon.IdleSeconds); err != nil {
		return err
	}
	claim := state.EffectTime
	claim.Name = "effects.claim_seconds"
	if _, err := claim.Of(&c.Effects.ClaimSeconds); err != nil {
		return err
	}
	if _, err := keepDays().Of(&c.Effects.KeepDays); err != nil {
		return err
	}
	return c.checkRules()
}

func (c *Config) checkRules() error {
	_, err := policy.New(&policy.Options{Profile: policy.Profile(c.Profile), Rules: c.Rules, AllowUnattended: c.AllowUnattended})
	return err
}

// Level is the least level that is logged.
func (c *Config) Level() slog.Level {
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.Log.Level)) // checked by Load
	return level
}
