package host

import (
	"maps"
	"os"
	"path/filepath"

	"github.com/prism-ls/prism-ls/tools/builtin"
	"github.com/prism-ls/prism-ls/tools/child"
)

// shellOptions are the shell tool's. A confined command may write to the
// workspace, to temporary files, and to caches of its own: those of the user
// would carry what it wrote into programs that are not confined.
func (h *Host) shellOptions() builtin.ShellOptions {
	opts := builtin.ShellOptions{
		Path: h.cfg.Shell.Path, Preferred: h.cfg.System.Shell,
		Environment: h.cfg.System.Environ, ExtraEnv: maps.Clone(h.cfg.Environment),
		Sandbox: child.Mode(h.cfg.SandboxMode()), AllowNetwork: h.cfg.SandboxNetwork,
		SpillDir: outputDir(h.cfg, h.log), Overreaching: len(h.stateInside()) > 0,
	}
	caches := h.cacheDir()
	if opts.Sandbox == child.Off || caches == "" {
		return opts
	}
	if opts.ExtraEnv == nil {
		opts.ExtraEnv = map[string]string{}
	}
	for name, dir := range map[string]string{
		"XDG_CACHE_HOME": caches, "GOCACHE": filepath.Join(caches, "go-build"), "npm_config_cache": filepath.Join(caches, "npm"),
	} {
		if _, set := opts.ExtraEnv[name]; !set {
			opts.ExtraEnv[name] = dir
		}
	}
	opts.WriteRoots = []string{h.cfg.Root, h.cfg.System.TempDir, caches}
	return opts
}

// cacheDir returns the directory for the caches of confined commands, or ""
// where it cannot be made.
func (h *Host) cacheDir() string {
	if h.cfg.StateDir == "" {
		return ""
	}
	dir := h.cfg.CacheDir()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		h.log.Info("confined commands have no caches", "error", err)
		return ""
	}
	return dir
}
