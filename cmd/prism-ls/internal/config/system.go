package config

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// System is what the environment says.
type System struct {
	// Environ is the whole environment, as os.Environ gives it.
	Environ []string
	Home    string
	// Path is the list of directories that programs are looked for in.
	Path string
	// Shell is the user's login shell.
	Shell      string
	ConfigHome string
	StateHome  string
	// RuntimeHome is $XDG_RUNTIME_DIR, or "".
	RuntimeHome string
	// LoginRuntime is where a login session has its RuntimeHome (pam_systemd(8)),
	// whether or not this process was told of it.
	LoginRuntime string
	// NoDaemon is $PRISM_LS_NO_DAEMON: a script, or a machine that must be left as
	// it was found, wants nothing to stay behind.
	NoDaemon bool
	WorkDir  string
	TempDir  string
	// StateDSN is $PRISM_LS_STATE_DSN: the stores' database, with its password, where
	// that should be in no file.
	StateDSN string
}

// ReadSystem reads the environment. Directories of the XDG base directory
// specification (0.8) count only when they are absolute, as it says.
func ReadSystem() System {
	home, _ := os.UserHomeDir() // "" means that there is none
	workDir, _ := os.Getwd()    // "" makes a relative root an error later
	config, state := xdg("XDG_CONFIG_HOME"), xdg("XDG_STATE_HOME")
	if config == "" && home != "" {
		config = filepath.Join(home, ".config")
	}
	if state == "" && home != "" {
		state = filepath.Join(home, ".local", "state")
	}
	return System{
		Environ: os.Environ(), Home: home, Path: os.Getenv("PATH"), Shell: os.Getenv("SHELL"), WorkDir: workDir,
		ConfigHome: config, StateHome: state, RuntimeHome: xdg("XDG_RUNTIME_DIR"), TempDir: os.TempDir(),
		LoginRuntime: loginRuntime(), NoDaemon: os.Getenv("PRISM_LS_NO_DAEMON") != "", StateDSN: os.Getenv("PRISM_LS_STATE_DSN"),
	}
}

func loginRuntime() string {
	if runtime.GOOS != "linux" {
		return ""
	}
	return filepath.Join("/run/user", strconv.Itoa(os.Getuid()))
}

func xdg(name string) string {
	if dir := os.Getenv(name); filepath.IsAbs(dir) {
		return dir
	}
	return ""
}

// Secrets returns the values of the variables that hold secrets: those whose
// names say so, and the named ones.
func (s System) Secrets(named []string) []string {
	var secrets []string
	for _, entry := range s.Environ {
		name, value, _ := strings.Cut(entry, "=")
		if value != "" && (secretName(name) || contains(named, name)) {
			secrets = append(secrets, value)
		}
	}
	return secrets
}

func contains(list []string, name string) bool {
	for _, entry := range list {
		if entry == name {
			return true
		}
	}
	return false
}

func secretName(name string) bool {
	upper := strings.ToUpper(name)
	for _, word := range []string{"TOKEN", "SECRET", "PASSWORD"} {
		if strings.Contains(upper, word) {
			return true
		}
	}
	return strings.HasSuffix(upper, "KEY") || strings.Contains(upper, "_KEY_")
}
