package langintel

import (
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
)

// docURI is a document's URI as a server wrote it (LSP 3.17 §uri). The type of
// package protocol refuses spellings that servers use, and with one of them the
// whole message that it stands in.
type docURI string

// path returns the absolute path of a file URI (RFC 8089), or "". One file has
// many spellings: an authority of localhost or none, percent-encoding of any
// character, doubled slashes, drive letters in either case.
func (u docURI) path() string {
	const scheme = "file:"
	if len(u) < len(scheme) || !strings.EqualFold(string(u[:len(scheme)]), scheme) {
		return ""
	}
	rest := string(u[len(scheme):])
	if i := strings.IndexAny(rest, "?#"); i >= 0 {
		rest = rest[:i]
	}
	host := ""
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		slash := strings.IndexByte(after, '/')
		if slash < 0 {
			// A host alone, or one that an encoded slash follows.
			slash = strings.Index(strings.ToLower(after), "%2f")
		}
		if slash < 0 {
			return ""
		}
		host, rest = after[:slash], after[slash:]
	}
	name, err := url.PathUnescape(rest)
	if err != nil || strings.ContainsRune(name, 0) {
		return ""
	}
	if strings.EqualFold(host, "localhost") {
		host = ""
	}
	if runtime.GOOS == "windows" {
		return windowsPath(host, name)
	}
	if host != "" || !strings.HasPrefix(name, "/") {
		return ""
	}
	return filepath.Clean(name)
}

// windowsPath takes a drive as a letter before a colon, and a host as that of a
// share.
func windowsPath(host, name string) string {
	switch trimmed := strings.TrimLeft(name, "/"); {
	case len(host) == 2 && host[1] == ':': // file://c:/…
		name = host + name
	case host != "":
		name = "//" + host + name
	case len(trimmed) >= 2 && trimmed[1] == ':':
		name = trimmed
	default:
		return ""
	}
	if len(name) >= 2 && name[1] == ':' {
		name = strings.ToUpper(name[:1]) + name[1:]
	}
	return filepath.Clean(filepath.FromSlash(name))
}
