package workspace

import (
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
)

// maxPath is the longest path Linux takes (limits.h PATH_MAX, less the NUL).
const maxPath = 4095

// Path names a file of a workspace. Make one with [Workspace.Parse] or
// [Workspace.Resolve]; a literal Path{Rel: "a/b"} works as well and is
// contained like any other.
type Path struct {
	// Rel is the path as given, cleaned: slash-separated and relative to the
	// root, "." for the root itself. For a file of a read-only root it is absolute.
	Rel string
	// Real is the path relative to the root after symbolic links; [Workspace.Resolve] sets it.
	Real string

	area   int8   // index into Workspace.areas
	within string // relative to the area's directory; only for area > 0
	slash  bool   // written with a trailing slash: must be a directory
}

// sub returns the path relative to its area.
func (p Path) sub() string {
	if p.area > 0 {
		return p.within
	}
	if p.Rel == "" {
		return "."
	}
	return p.Rel
}

// ReadOnly reports whether p lies in one of the read-only roots.
func (p Path) ReadOnly() bool { return p.area > 0 }

var userHome = regexp.MustCompile(`^~[A-Za-z_][A-Za-z0-9._-]*(/|$)`)

// Parse reads a path as a caller writes it: relative to the root, absolute
// inside it (as the root was given, or its real path) or inside a read-only
// root, "~/…", or a file URI (RFC 8089, percent-decoded). It looks at the text
// alone. A path that leaves the root, or holds a NUL byte, is
// [tools.CodePathEscape]; an empty or overlong one is [tools.CodeToolInput].
func (w *Workspace) Parse(given string) (Path, error) {
	text := given
	if text == "" {
		return Path{}, tools.Errorf(tools.CodeToolInput, "the path is empty; the workspace root is \".\"")
	}
	if hasScheme(text) {
		decoded, err := fileURI(text)
		if err != nil {
			return Path{}, err
		}
		text = decoded
	} else if text == "~" || strings.HasPrefix(text, "~/") {
		if w.home == "" {
			return Path{}, tools.Errorf(tools.CodePathEscape, "%q: no home directory is configured here; write the path relative to the workspace root", given)
		}
		text = w.home + text[1:]
	} else if userHome.MatchString(text) {
		return Path{}, tools.Errorf(tools.CodePathEscape, "%q names a user's home directory; for a file of that name write %q", given, "./"+text)
	}
	if strings.IndexByte(text, 0) >= 0 {
		return Path{}, tools.Errorf(tools.CodePathEscape, "the path %q holds a NUL byte; no file name does", given)
	}
	if len(text) > maxPath {
		return Path{}, tools.Errorf(tools.CodeToolInput, "the path is %d bytes long, at most %d are possible", len(text), maxPath)
	}
	slash := strings.HasSuffix(text, "/") || strings.HasSuffix(text, "/.")
	if filepath.IsAbs(text) || strings.HasPrefix(text, "/") {
		return w.parseAbsolute(given, text, slash)
	}
	rel := path.Clean(filepath.ToSlash(text))
	if rel == ".." || strings.HasPrefix(rel, "../") || !filepath.IsLocal(filepath.FromSlash(rel)) {
		return Path{}, tools.Errorf(tools.CodePathEscape, "%q leaves the workspace root through \"..\"; paths are relative to the root", given)
	}
	return Path{Rel: rel, slash: slash && rel != "."}, nil
}

func (w *Workspace) parseAbsolute(given, text string, slash bool) (Path, error) {
	clean := filepath.Clean(text)
	for index, a := range w.areas {
		sub, ok := a.contains(clean)
		if !ok {
			continue
		}
		p := Path{Rel: sub, slash: slash && sub != "."}
		if index > 0 {
			p = Path{Rel: filepath.ToSlash(clean), area: int8(index), within: sub, slash: p.slash}
		}
		return p, nil
	}
	return Path{}, tools.Errorf(tools.CodePathEscape, "%q is an absolute path outside the workspace root %s", given, w.Root())
}

// contains returns a cleaned absolute path relative to the area, if its text
// lies there. It decides about spelling only: what is opened is opened
// relative to the area's descriptor.
func (a *area) contains(absolute string) (string, bool) {
	for _, name := range a.names {
		if absolute == name {
			return ".", true
		}
		prefix := name
		if !strings.HasSuffix(prefix, string(filepath.Separator)) {
			prefix += string(filepath.Separator)
		}
		if rest, ok := strings.CutPrefix(absolute, prefix); ok {
			return filepath.ToSlash(rest), true
		}
	}
	return "", false
}

func hasScheme(text string) bool {
	return len(text) >= 6 && strings.EqualFold(text[:5], "file:") && text[5] == '/' ||
		len(text) >= 6 && strings.EqualFold(text[:5], "file:") && text[5] == '%'
}

// fileURI decodes a file URI. Only local ones are taken: an empty authority or
// "localhost" (RFC 8089 §2).
func fileURI(text string) (string, error) {
	rest := text[len("file:"):]
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		host, tail, found := strings.Cut(after, "/")
		if host != "" && !strings.EqualFold(host, "localhost") {
			return "", tools.Errorf(tools.CodePathEscape, "%q names the host %q; only files of this machine can be opened", text, host)
		}
		if !found {
			return "", tools.Errorf(tools.CodeToolInput, "%q has no path", text)
		}
		rest = "/" + tail
	}
	if strings.ContainsAny(rest, "?#") {
		return "", tools.Errorf(tools.CodeToolInput, "%q has a query or a fragment; write ? as %%3F and # as %%23", text)
	}
	decoded, err := url.PathUnescape(rest)
	if err != nil {
		return "", tools.Errorf(tools.CodeToolInput, "%q is not a valid file URI: %w", text, err)
	}
	if !strings.HasPrefix(decoded, "/") {
		return "", tools.Errorf(tools.CodePathEscape, "%q is a file URI with a relative path; file URIs are absolute", text)
	}
	return decoded, nil
}

// Abs returns the absolute path of p: of p.Real if it is set, else of p.Rel. It
// is for showing and for handing to other programs; opening it again would
// give up containment.
func (w *Workspace) Abs(p Path) string {
	sub := p.sub()
	if p.Real != "" {
		sub = p.Real
	}
	return filepath.Join(w.areas[p.area].real, filepath.FromSlash(sub))
}
