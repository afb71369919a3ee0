package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/tools"
)

// Language is about language servers.
type Language struct {
	Install     string                    `toml:"install" who:"user" doc:"Which servers are installed when they are needed, without being asked for: gopls (Go's alone), never (none) or auto (every one that has a pinned Go or npm package)."`
	MaxServers  int64                     `toml:"max_servers" who:"user" doc:"How many servers run for one workspace, 1 to 8."`
	MemoryMiB   int64                     `toml:"memory_mib" who:"user" doc:"How much memory one server may hold, in MiB, before it is started anew when nobody waits for it; 64 to 65536."`
	IdleMinutes int64                     `toml:"idle_minutes" who:"user" doc:"After how long without a question a server is stopped, 1 to 1440."`
	Servers     map[string]LanguageServer `toml:"servers"`
}

// LanguageServer changes one server of the catalogue.
type LanguageServer struct {
	Enabled  *bool          `toml:"enabled" who:"narrow" doc:"Whether the server is used at all. A workspace may turn it off."`
	Prefer   bool           `toml:"prefer" who:"user" doc:"Use it before the others that serve the same language."`
	Command  []string       `toml:"command" who:"user" doc:"The program, as an absolute path or a name on PATH, and its arguments, instead of the catalogue's."`
	Settings map[string]any `toml:"settings" who:"user" doc:"The server's own settings; they go over those that prism-ls gives it."`
}

// The values of Language.Install.
const (
	installGopls = "gopls"
	installNever = "never"
	installAuto  = "auto"
)

func defaultLanguage() Language {
	limits := languageLimits()
	return Language{
		Install: installGopls, MaxServers: limits[0].Default,
		MemoryMiB: limits[1].Default, IdleMinutes: limits[2].Default,
	}
}

// languageLimits are langintel's, in the units of the configuration.
func languageLimits() [3]tools.Limit {
	servers, memory, idle := langintel.HouseLimits()
	minutes := int64(time.Minute / time.Millisecond)
	return [3]tools.Limit{
		{Name: "language.max_servers", Default: servers.Default, Hard: servers.Hard},
		{Name: "language.memory_mib", Default: memory.Default >> 20, Hard: memory.Hard >> 20},
		{Name: "language.idle_minutes", Default: idle.Default / minutes, Hard: idle.Hard / minutes},
	}
}

// leastMemory is, in MiB, what no server comes to life below.
const leastMemory = 64

func (l *Language) check() error {
	values := []string{installGopls, installNever, installAuto}
	if !slices.Contains(values, l.Install) {
		return tools.Errorf(tools.CodeToolInput, "language.install is %q, must be one of %q%s", l.Install, values, tools.Nearest(l.Install, slices.Clone(values)))
	}
	for i, value := range []int64{l.MaxServers, l.MemoryMiB, l.IdleMinutes} {
		limit := languageLimits()[i]
		if _, err := limit.Of(&value); err != nil {
			return err
		}
	}
	if l.MemoryMiB < leastMemory {
		return tools.Errorf(tools.CodeToolInput, "language.memory_mib is %d, must be at least %d", l.MemoryMiB, leastMemory)
	}
	_, err := l.Catalogue()
	return err
}

// Catalogue is langintel's with the changes that the configuration makes.
func (l *Language) Catalogue() ([]langintel.Spec, error) {
	changes := map[string]langintel.Override{}
	for name, server := range l.Servers {
		change := langintel.Override{
			Disabled: server.Enabled != nil && !*server.Enabled, Prefer: server.Prefer, Command: server.Command,
		}
		if server.Settings != nil {
			settings, err := json.Marshal(server.Settings)
			if err != nil {
				return nil, tools.Errorf(tools.CodeToolInput, "language.servers.%s.settings: %w", name, err)
			}
			change.Settings = jsontext.Value(settings)
		}
		changes[name] = change
	}
	list, err := langintel.Overridden(langintel.Catalogue(), changes)
	if err != nil {
		return nil, tools.Errorf(tools.CodeToolInput, "language.servers: %s", tools.AsError(err).Message)
	}
	return list, nil
}

// Options puts the settings into those of a client.
func (l *Language) Options(opts *langintel.Options) error {
	list, err := l.Catalogue()
	if err != nil {
		return err
	}
	opts.Servers = list
	opts.MaxServers, opts.MemoryBudget = l.MaxServers, l.MemoryMiB<<20
	opts.IdleTimeout = time.Duration(l.IdleMinutes) * time.Minute
	switch l.Install {
	case installNever:
		opts.InstallUnasked = langintel.UnaskedNone
	case installAuto:
		opts.InstallUnasked = langintel.UnaskedAll
	}
	return nil
}

// mergeServers completes what a file says about servers with what an earlier one
// did: the decoder replaces an entry of a map as a whole.
func mergeServers(before, now map[string]LanguageServer, meta toml.MetaData) {
	for name, server := range now {
		old, ok := before[name]
		if !ok {
			continue
		}
		said := func(key string) bool { return meta.IsDefined("language", "servers", name, key) }
		if !said("enabled") {
			server.Enabled = old.Enabled
		}
		if !said("prefer") {
			server.Prefer = old.Prefer
		}
		if !said("command") {
			server.Command = old.Command
		}
		if !said("settings") {
			server.Settings = old.Settings
		} else {
			server.Settings = mergeTables(old.Settings, server.Settings)
		}
		now[name] = server
	}
}

func mergeTables(before, now map[string]any) map[string]any {
	out := maps.Clone(before)
	if out == nil {
		out = map[string]any{}
	}
	for name, value := range now {
		under, isTable := out[name].(map[string]any)
		if over, ok := value.(map[string]any); ok && isTable {
			value = mergeTables(under, over)
		}
		out[name] = value
	}
	return out
}

// narrowServers takes from a workspace's file which servers it does without.
func (c *Config) narrowServers(said *Language) error {
	for _, name := range slices.Sorted(maps.Keys(said.Servers)) {
		enabled := said.Servers[name].Enabled
		if enabled == nil {
			continue
		}
		server := c.Language.Servers[name]
		if *enabled && server.Enabled != nil && !*server.Enabled {
			return fmt.Errorf("language.servers.%s.enabled = true would give back what the user's file took away", name)
		}
		server.Enabled = enabled
		servers := maps.Clone(c.Language.Servers)
		if servers == nil {
			servers = map[string]LanguageServer{}
		}
		servers[name] = server
		c.Language.Servers = servers
	}
	return nil
}
