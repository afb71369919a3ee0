package child

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// inherited lists, by group, the names that a program gets from its parent.
// Everything else stays behind.
func inherited(name string) bool {
	switch name {
	case "PATH", "HOME", "LANG", "TERM", "TMPDIR", "USER",
		// Caches and homes of tool chains, so that builds stay warm.
		"GOPATH", "GOCACHE", "GOMODCACHE", "GOLANGCI_LINT_CACHE", "STATICCHECK_CACHE",
		"CARGO_HOME", "CARGO_TARGET_DIR", "RUSTUP_HOME",
		"NPM_CONFIG_CACHE", "npm_config_cache", "YARN_CACHE_FOLDER",
		// Where modules and certificates come from.
		"GOPROXY", "GOPRIVATE", "NO_PROXY", "no_proxy", "NODE_EXTRA_CA_CERTS",
		"VIRTUAL_ENV":
		return true
	}
	return isProxy(name) || strings.HasPrefix(name, "LC_") ||
		strings.HasPrefix(name, "XDG_") || strings.HasPrefix(name, "SSL_CERT_") || inheritedHere(name)
}

func isProxy(name string) bool {
	switch strings.ToUpper(name) {
	case "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY":
		return true
	}
	return false
}

// neverInherited says which names stay behind even if a rule above would let
// them through: secrets by their usual names, and what makes programs load or
// run something.
func neverInherited(name string) bool {
	upper := strings.ToUpper(name)
	for _, secret := range []string{"TOKEN", "SECRET", "KEY", "PASSWORD"} {
		if strings.Contains(upper, secret) {
			return true
		}
	}
	for _, prefix := range []string{"GIT_", "LD_", "PYTHON"} {
		if strings.HasPrefix(upper, prefix) {
			return true
		}
	}
	switch upper {
	case "NODE_OPTIONS", "BASH_ENV", "GOFLAGS", "SSH_AUTH_SOCK":
		return true
	}
	return false
}

// neverPassed says which names are refused even when a caller names them:
// they make every dynamically linked program, or every shell, run other code.
func neverPassed(name string) bool {
	upper := strings.ToUpper(name)
	return strings.HasPrefix(upper, "LD_") || upper == "BASH_ENV"
}

// Environment returns the environment for a program, sorted by name: from
// parent (as os.Environ gives it) what may be inherited, and extra, which wins.
// Of parent that is PATH, HOME, the language, TERM, TMPDIR, USER, caches of
// tool chains, proxies without their credentials, certificates, module sources
// and XDG_*. Names that look like secrets, GIT_*, LD_*, PYTHON*, NODE_OPTIONS,
// BASH_ENV, GOFLAGS and SSH_AUTH_SOCK never are inherited; extra may set them
// on purpose, except LD_* and BASH_ENV, which are left out ([Refused] tells).
// An entry of extra that is empty, or has "=" or NUL in its name or NUL in its
// value, is left out too. A last setting is core.fsmonitor=false for every git
// that runs below (git-config(1), GIT_CONFIG_COUNT), after those of extra.
func Environment(parent []string, extra map[string]string) []string {
	values := map[string]string{}
	for _, entry := range parent {
		name, value, ok := strings.Cut(entry, "=")
		if !ok || name == "" || neverInherited(name) || !inherited(name) {
			continue
		}
		switch {
		case isProxy(name):
			value = withoutUser(value)
		case name == "GOPROXY":
			value = eachWithoutUser(value)
		}
		values[name] = value
	}
	refused := Refused(extra)
	for name, value := range extra {
		if !slices.Contains(refused, name) {
			values[name] = value
		}
	}
	addGitConfig(values, "core.fsmonitor", "false")

	env := make([]string, 0, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		env = append(env, name+"="+values[name])
	}
	return env
}

// Refused returns, sorted, the names in extra that Environment leaves out.
func Refused(extra map[string]string) []string {
	var names []string
	for name, value := range extra {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0) || neverPassed(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// addGitConfig appends one setting to those that values already carries. A
// count that git itself would refuse is replaced.
func addGitConfig(values map[string]string, key, value string) {
	const most = 1000
	count, err := strconv.Atoi(values["GIT_CONFIG_COUNT"])
	if err != nil || count < 0 || count > most {
		count = 0
	}
	number := strconv.Itoa(count)
	values["GIT_CONFIG_KEY_"+number] = key
	values["GIT_CONFIG_VALUE_"+number] = value
	values["GIT_CONFIG_COUNT"] = strconv.Itoa(count + 1)
}

// eachWithoutUser removes the user part of every address in GOPROXY's list,
// which is separated by commas and bars (go help goproxy).
func eachWithoutUser(list string) string {
	var out strings.Builder
	for list != "" {
		item, separator := list, ""
		if end := strings.IndexAny(list, ",|"); end >= 0 {
			item, separator = list[:end], list[end:end+1]
		}
		list = list[len(item)+len(separator):]
		out.WriteString(withoutUser(item))
		out.WriteString(separator)
	}
	return out.String()
}

// withoutUser removes the user part of an address, which need not have a
// scheme (curl(1)). One that cannot be read as a URL loses everything between
// its scheme and its last "@".
func withoutUser(address string) string {
	if !strings.Contains(address, "@") {
		return address
	}
	scheme, rest, found := strings.Cut(address, "://")
	if !found {
		return address[strings.LastIndex(address, "@")+1:]
	}
	if parsed, err := url.Parse(address); err == nil {
		parsed.User = nil
		return parsed.String()
	}
	return scheme + "://" + rest[strings.LastIndex(rest, "@")+1:]
}
