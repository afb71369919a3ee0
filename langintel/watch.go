package langintel

import (
	"context"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
)

// watcher finds out what changed on disk since the servers were told, by looking
// at the times of all files before a question. A look costs milliseconds; it is
// left out when the last one is so recent that looking would take more than a
// twentieth of the time.
type watcher struct {
	client *Client

	mu    sync.Mutex
	seen  map[string]fileID // nil: not looked yet
	names []string          // sorted keys of seen
	// touched are the files that were made or changed since the client began.
	touched map[string]bool
	next    time.Time
}

const (
	maxWatched  = 200_000
	sweepShare  = 20
	defaultKind = 7 // create, change and delete (LSP 3.17 §watchKind)
)

func newWatcher(c *Client) *watcher { return &watcher{client: c, touched: map[string]bool{}} }

// skipped directories hold no sources that a server watches, and may be huge.
func skipped(name string) bool {
	return name == ".git" || name == "node_modules" || name == ".hg" || name == ".svn"
}

// look walks the workspace.
func (w *watcher) look(ctx context.Context) map[string]fileID {
	out := make(map[string]fileID, len(w.seen)+64)
	root := w.client.work.Root()
	// What cannot be read is not there for the servers either.
	_ = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || ctx.Err() != nil || len(out) >= maxWatched {
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			if skipped(d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		out[filepath.ToSlash(name[min(len(name), len(root)+1):])] = identify(info)
		return nil
	})
	return out
}

// baseline notes the state that a starting server will find.
func (w *watcher) baseline(ctx context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen == nil {
		w.take(w.look(ctx))
	}
}

func (w *watcher) take(now map[string]fileID) {
	w.seen = now
	w.names = slices.Sorted(maps.Keys(now))
}

// match returns the files whose base name a pattern matches.
func (w *watcher) match(pattern string) []string {
	files := Files{all: w.all(context.Background())}
	return files.Match(pattern)
}

// all returns every file, sorted; the caller must not change the list.
func (w *watcher) all(ctx context.Context) []string {
	w.baseline(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.names
}

// change is one file that is not as it was.
type change struct {
	path string
	kind protocol.FileChangeType
}

// sweep finds what others changed and tells the servers.
func (w *watcher) sweep(ctx context.Context) error {
	w.mu.Lock()
	if w.seen == nil || time.Now().Before(w.next) {
		w.mu.Unlock()
		return nil
	}
	began := time.Now()
	now := w.look(ctx)
	if ctx.Err() != nil {
		w.mu.Unlock()
		return ctx.Err()
	}
	var changes []change
	for name, id := range now {
		old, known := w.seen[name]
		switch {
		case !known:
			changes = append(changes, change{name, protocol.FileChangeTypeCreated})
		case old.size != id.size || old.mtime != id.mtime || old.ctime != id.ctime || !old.settled:
			changes = append(changes, change{name, protocol.FileChangeTypeChanged})
		}
	}
	for name := range w.seen {
		if _, there := now[name]; !there {
			changes = append(changes, change{name, protocol.FileChangeTypeDeleted})
		}
	}
	w.touch(changes)
	w.take(now)
	w.next = time.Now().Add(sweepShare * time.Since(began))
	w.mu.Unlock()
	return w.client.announce(ctx, changes)
}

// note records the state of files that were changed through us, and returns the
// changes to announce.
func (w *watcher) note(paths []string) []change {
	w.mu.Lock()
	defer w.mu.Unlock()
	var changes []change
	for _, name := range paths {
		_, known := w.seen[name]
		p, err := w.client.work.Resolve(name)
		var info fs.FileInfo
		if err == nil {
			info, err = w.client.work.Lstat(p)
		}
		switch {
		case err != nil:
			for inner := range w.seen {
				if inner == name || strings.HasPrefix(inner, name+"/") {
					changes = append(changes, change{inner, protocol.FileChangeTypeDeleted})
					delete(w.seen, inner)
				}
			}
		case info.IsDir():
			w.next = time.Time{} // look into it at the next question
		default:
			kind := protocol.FileChangeTypeCreated
			if known {
				kind = protocol.FileChangeTypeChanged
			}
			changes = append(changes, change{name, kind})
			if w.seen != nil {
				w.seen[name] = identify(info)
			}
		}
	}
	w.touch(changes)
	if w.seen != nil {
		w.take(w.seen)
	}
	return changes
}

// touch remembers changes; w.mu is held.
func (w *watcher) touch(changes []change) {
	for _, ch := range changes {
		if ch.kind == protocol.FileChangeTypeDeleted {
			delete(w.touched, ch.path)
		} else if len(w.touched) < maxWatched {
			w.touched[ch.path] = true
		}
	}
}

// changed returns the files that were made or changed since the client began, and
// are there, sorted.
func (w *watcher) changed() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Sorted(maps.Keys(w.touched))
}

// Changed tells the servers about files that were just created, changed or
// removed; paths are relative to the root. Without it the next question finds
// out by itself, a moment later.
func (c *Client) Changed(ctx context.Context, paths ...string) error {
	var real []string
	for _, name := range paths {
		if p, err := c.work.Resolve(name); err == nil && p.Real != "" {
			name = p.Real
		}
		real = append(real, name)
	}
	return c.announce(ctx, c.watch.note(real))
}

// announce sends changes to every live server: to open documents as such, and
// as file events to those that registered for them.
func (c *Client) announce(ctx context.Context, changes []change) error {
	if len(changes) == 0 {
		return nil
	}
	var first error
	for _, v := range c.sessions() {
		var events []*protocol.FileEvent
		for _, ch := range changes {
			if v.dynamic.watches(v, ch) {
				events = append(events, &protocol.FileEvent{URI: v.uriOf(ch.path), Type: ch.kind})
				v.changes.note(ch.path)
			}
		}
		if len(events) > 0 {
			if err := v.rpc.notify("workspace/didChangeWatchedFiles", protocol.DidChangeWatchedFilesParams{Changes: events}); err != nil && first == nil {
				first = err
			}
		}
		for _, ch := range changes {
			if err := v.docs.refresh(ctx, ch.path); err != nil && first == nil {
				first = err
			}
		}
	}
	return first
}

// sessions returns the live ones.
func (c *Client) sessions() []*session {
	c.mu.Lock()
	servers := c.list()
	c.mu.Unlock()
	var out []*session
	for _, s := range servers {
		s.mu.Lock()
		if s.live != nil {
			out = append(out, s.live)
		}
		s.mu.Unlock()
	}
	return out
}

// watched is one registered pattern.
type watched struct {
	base    string // absolute; "": the pattern is matched against absolute and root-relative names
	pattern string
	kind    int
}

func parseWatched(r watchRegistration) []watched {
	var out []watched
	for _, w := range r.Watchers {
		one := watched{kind: defaultKind}
		if w.Kind != nil {
			one.kind = *w.Kind
		}
		var relative struct {
			Base    any    `json:"baseUri"` // a URI or a WorkspaceFolder
			Pattern string `json:"pattern"`
		}
		if decodeJSON(w.Pattern, &one.pattern) != nil {
			if decodeJSON(w.Pattern, &relative) != nil {
				continue
			}
			one.pattern = relative.Pattern
			switch base := relative.Base.(type) {
			case string:
				one.base = pathOf(protocol.DocumentURI(base))
			case map[string]any:
				folder, _ := base["uri"].(string)
				one.base = pathOf(protocol.DocumentURI(folder))
			}
		}
		if doublestar.ValidatePattern(one.pattern) {
			out = append(out, one)
		}
	}
	return out
}

// matches reports whether the pattern takes in a file (LSP 3.17
// §didChangeWatchedFilesRegistrationOptions: braces, ** and relative patterns).
func (w *watched) matches(root, rel string, kind protocol.FileChangeType) bool {
	if w.kind&(1<<(int(kind)-1)) == 0 {
		return false
	}
	absolute := path.Join(filepath.ToSlash(root), rel)
	if w.base != "" {
		inner, ok := strings.CutPrefix(absolute, strings.TrimSuffix(filepath.ToSlash(w.base), "/")+"/")
		return ok && doublestar.MatchUnvalidated(w.pattern, inner)
	}
	return doublestar.MatchUnvalidated(w.pattern, rel) || doublestar.MatchUnvalidated(w.pattern, absolute)
}

// pathOf returns the path of a file URI, or "". Servers spell URIs in different
// ways (drive letters, percent-encoding); the parsed path is the same.
func pathOf(u protocol.DocumentURI) string {
	parsed, err := uri.Parse(string(u))
	if err != nil || !parsed.IsFile() {
		return ""
	}
	return filepath.Clean(parsed.FsPath())
}
