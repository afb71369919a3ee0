package config

import (
	"fmt"
	"slices"

	"github.com/BurntSushi/toml"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/policy"
)

// narrow takes from a workspace's file what takes authority away, and refuses
// the file when it says anything else.
func (c *Config) narrow(said *Settings, meta toml.MetaData) error {
	for _, key := range meta.Keys() {
		if known, _ := lookup(key); known.settable() && known.who != "narrow" {
			return fmt.Errorf("%s may be set by the user's file only, or by `prism-ls trust` in this workspace", key)
		}
	}
	if err := c.narrowProfile(said, meta); err != nil {
		return err
	}
	if meta.IsDefined("read_only") {
		if !said.ReadOnly && c.ReadOnly {
			return fmt.Errorf("read_only = false would give back what the user's file took away")
		}
		c.ReadOnly = said.ReadOnly
	}
	if meta.IsDefined("read_before_write") {
		if !said.ReadBeforeWrite && c.ReadBeforeWrite {
			return fmt.Errorf("read_before_write = false would lift what the user's file asks for")
		}
		c.ReadBeforeWrite = said.ReadBeforeWrite
	}
	if meta.IsDefined("toolsets") {
		for _, set := range said.Toolsets {
			if len(c.Toolsets) > 0 && !slices.Contains(c.Toolsets, set) {
				return fmt.Errorf("toolsets has %q, which is not among those that the user's file allows", set)
			}
			if len(c.Toolsets) == 0 && !slices.Contains(DefaultToolsets(), set) {
				return fmt.Errorf("toolsets has %q, which only the user's file can add to the default ones%s", set, tools.Nearest(set, DefaultToolsets()))
			}
		}
		if len(said.Toolsets) == 0 {
			return fmt.Errorf("toolsets is empty; name those that are wanted")
		}
		c.Toolsets = said.Toolsets
	}
	for _, name := range said.ExcludeTools {
		if !slices.Contains(c.ExcludeTools, name) {
			c.ExcludeTools = append(c.ExcludeTools, name)
		}
	}
	if err := c.narrowServers(&said.Language); err != nil {
		return err
	}
	return c.narrowRules(said.Rules)
}

func (c *Config) narrowProfile(said *Settings, meta toml.MetaData) error {
	mode := c.SandboxMode()
	if meta.IsDefined("profile") && said.Profile != c.Profile {
		profile, err := policy.ParseProfile(said.Profile)
		switch {
		case err != nil:
			return err
		case !profile.StricterThan(policy.Profile(c.Profile)):
			return fmt.Errorf("profile %q allows more than %q; a workspace may only narrow (`prism-ls trust` lifts this)", said.Profile, c.Profile)
		case profile == policy.Unattended && len(c.AllowUnattended) > 0:
			return fmt.Errorf("profile %q would take up the user's allow_unattended list, which only the user may", said.Profile)
		}
		c.Profile = said.Profile
	}
	if meta.IsDefined("sandbox") {
		given, current := slices.Index(sandboxes, said.Sandbox), slices.Index(sandboxes, mode)
		if given < 0 || given > current {
			return fmt.Errorf("sandbox %q is not stricter than %q", said.Sandbox, mode)
		}
		c.Sandbox = said.Sandbox
	}
	return nil
}

func (c *Config) narrowRules(rules []policy.Rule) error {
	for i, rule := range rules {
		if rule.Verdict == tools.Allow {
			return fmt.Errorf("rules[%d] allows; a workspace's rules may ask or forbid", i)
		}
	}
	c.Rules = append(slices.Clip(c.Rules), rules...)
	return nil
}

// DefaultToolsets are the groups of tools on offer when nothing else is said.
func DefaultToolsets() []string { return []string{"core", "git", "lsp", "proc"} }
