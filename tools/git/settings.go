package git

import (
	"slices"
	"strings"
)

// settings are the configuration of every call. Each one switches off a way in
// which a repository's own configuration makes git run a program, reach a
// server, or write where it was not asked to (git-config(1)).
func settings(safeDirectories []string) []string {
	list := []string{
		"core.hooksPath=/dev/null",
		"core.fsmonitor=false",
		"core.attributesFile=/dev/null",
		"core.askPass=true",
		"core.editor=true",
		"sequence.editor=true",
		"core.pager=cat",
		"core.sshCommand=ssh",
		"core.gitProxy=",
		"core.alternateRefsCommand=true",
		"credential.helper=",
		"commit.gpgSign=false",
		"tag.gpgSign=false",
		"tag.forceSignAnnotated=false",
		"push.gpgSign=false",
		"gpg.program=false",
		"gpg.x509.program=false",
		"gpg.ssh.program=false",
		"gpg.ssh.defaultKeyCommand=",
		"log.showSignature=false",
		"diff.external=",
		"interactive.diffFilter=cat",
		"protocol.allow=never",
		"protocol.https.allow=always",
		"protocol.ssh.allow=always",
		"protocol.ext.allow=never",
		"protocol.git.allow=never",
		"protocol.http.allow=never",
		"protocol.file.allow=never",
		"submodule.recurse=false",
		"fetch.recurseSubmodules=false",
		"push.recurseSubmodules=no",
		"status.submoduleSummary=false",
		"diff.ignoreSubmodules=dirty",
		"diff.orderFile=/dev/null",
		"gc.auto=0",
		"maintenance.auto=false",
		"transfer.fsckObjects=true",
		"safe.bareRepository=explicit",
	}
	for _, dir := range safeDirectories {
		list = append(list, "safe.directory="+dir)
	}
	return list
}

// arguments puts the fixed options and settings before the caller's arguments.
func arguments(safeDirectories, config, args []string) []string {
	list := []string{"--no-pager", "--no-optional-locks", "--literal-pathspecs"}
	for _, setting := range slices.Concat(settings(safeDirectories), config) {
		list = append(list, "-c", setting)
	}
	return append(list, withFlags(args)...)
}

// withFlags adds, behind the command's name, the switches for programs that no
// configuration value can turn off: drivers for diff and for showing text, and
// looking into submodules, whose configuration is somebody else's.
func withFlags(args []string) []string {
	if len(args) == 0 {
		return args
	}
	var flags []string
	switch args[0] {
	case "diff":
		flags = []string{"--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty"}
	case "log", "show", "whatchanged", "format-patch", "diff-tree", "diff-index", "diff-files":
		flags = []string{"--no-ext-diff", "--no-textconv"}
	case "blame", "annotate", "grep":
		flags = []string{"--no-textconv"}
	case "fetch", "pull", "ls-remote", "clone":
		// Of remote.<name>.uploadpack git takes the first value, the repository's.
		flags = []string{"--upload-pack=git-upload-pack"}
	case "push":
		flags = []string{"--receive-pack=git-receive-pack"}
	case "status":
		flags = []string{"--ignore-submodules=dirty"}
	}
	return slices.Concat(args[:1], flags, args[1:])
}

// fixedEnvironment is added to what the host lets git inherit (git(1),
// "ENVIRONMENT VARIABLES").
func fixedEnvironment() []string {
	return []string{
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_ATTR_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_OPTIONAL_LOCKS=0",
		"GIT_NO_REPLACE_OBJECTS=1",
		"GIT_ASKPASS=true",
		"SSH_ASKPASS=true",
		"GIT_EDITOR=true",
		"GIT_SEQUENCE_EDITOR=true",
		"GIT_PAGER=cat",
		"PAGER=cat",
		"LC_ALL=C",
	}
}

// local is the environment of a command that is no conversation with a remote: what a
// partial clone lacks is not fetched from the one that its configuration names (git(1)).
// The second variable is for git before 2.44, which does not know the first.
func local(command string) []string {
	switch command {
	case "fetch", "pull", "push", "clone", "ls-remote", "remote", "submodule":
		return nil
	}
	return []string{"GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none"}
}

// inherited is base without what could undo the fixed environment: git's own
// variables and the locale.
func inherited(base []string) []string {
	return slices.DeleteFunc(slices.Clone(base), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return strings.HasPrefix(name, "GIT_") || name == "LC_ALL" || name == "LANGUAGE" ||
			name == "PAGER" || name == "SSH_ASKPASS"
	})
}
