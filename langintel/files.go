package langintel

import (
	"container/list"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

const (
	maxFile     = 32 << 20 // a larger file is not for a language server
	cachedBytes = 64 << 20
	// settle is how old a change must be before a file's times are trusted: two
	// writes within one tick of the file system's clock look alike.
	settle = 50 * time.Millisecond
)

// fileID tells one state of a file from another without reading it.
type fileID struct {
	size         int64
	mtime, ctime int64
	inode        uint64
	settled      bool
}

func identify(info fs.FileInfo) fileID {
	now := time.Now()
	id := fileID{size: info.Size(), mtime: info.ModTime().UnixNano()}
	id.ctime, id.inode = ownID(info)
	id.settled = now.Sub(info.ModTime()) > settle && now.Sub(time.Unix(0, id.ctime)) > settle
	return id
}

// same reports whether two identities are certainly of one state.
func (id fileID) same(other fileID) bool { return id.settled && id.like(other) }

// like reports whether two identities differ in nothing but when they were taken.
func (id fileID) like(other fileID) bool {
	return id.size == other.size && id.mtime == other.mtime && id.ctime == other.ctime && id.inode == other.inode
}

// file is one state of one file's content.
type file struct {
	path      string // relative to the root, symlinks resolved; absolute for external files
	id        fileID
	text      *text
	sha       string
	mode      fs.FileMode
	generated bool
	external  bool
}

// fileCache holds the contents that answers are read against.
type fileCache struct {
	work *workspace.Workspace

	mu    sync.Mutex
	files map[string]*list.Element // of *file
	order *list.List               // most recently used first
	bytes int
}

func newFileCache(work *workspace.Workspace) *fileCache {
	return &fileCache{work: work, files: map[string]*list.Element{}, order: list.New()}
}

// get returns the file as it is on disk now; changed says that an earlier state
// of it was known.
func (c *fileCache) get(ctx context.Context, p workspace.Path) (f *file, changed bool, err error) {
	known := c.lookup(p.Real)
	if known != nil {
		// Only times and a size are compared, and what is returned was read inside the
		// root: one system call where a contained look takes three.
		info, err := os.Lstat(c.work.Abs(p))
		if err == nil && info.Mode().IsRegular() && known.id.same(identify(info)) {
			return known, false, nil
		}
	}
	info, err := c.work.Stat(p)
	if err != nil {
		return nil, false, err
	}
	id := identify(info)
	if known != nil && known.id.same(id) {
		return known, false, nil
	}
	content, err := c.work.ReadFile(ctx, p, maxFile)
	if err != nil {
		return nil, false, err
	}
	if known != nil && known.sha == content.SHA256 {
		c.store(&file{path: p.Real, id: id, text: known.text, sha: known.sha, mode: info.Mode(), generated: known.generated})
		return c.lookup(p.Real), false, nil
	}
	f = &file{path: p.Real, id: id, text: newText(content.Data), sha: content.SHA256, mode: info.Mode(), generated: isGenerated(content.Data)}
	c.store(f)
	return f, known != nil, nil
}

// getExternal reads a file outside the root that a server named.
func (c *fileCache) getExternal(path string) (*file, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, tools.AsError(err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, tools.Errorf(tools.CodeNotFile, "%s is no regular file of at most %d bytes", path, maxFile)
	}
	id := identify(info)
	if known := c.lookup(path); known != nil && known.id.same(id) {
		return known, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, tools.AsError(err)
	}
	f := &file{path: path, id: id, text: newText(data), generated: isGenerated(data), external: true}
	c.store(f)
	return f, nil
}

func (c *fileCache) lookup(path string) *file {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.files[path]; e != nil {
		c.order.MoveToFront(e)
		return e.Value.(*file)
	}
	return nil
}

func (c *fileCache) store(f *file) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.files[f.path]; e != nil {
		c.remove(e)
	}
	c.files[f.path] = c.order.PushFront(f)
	c.bytes += len(f.text.data)
	for c.bytes > cachedBytes && c.order.Len() > 1 {
		c.remove(c.order.Back())
	}
}

func (c *fileCache) remove(e *list.Element) {
	f := c.order.Remove(e).(*file)
	delete(c.files, f.path)
	c.bytes -= len(f.text.data)
}

// generatedMark is the line by which generators mark their output
// (https://go.dev/s/generatedcode, with other languages' comment signs).
var generatedMark = regexp.MustCompile(`(?m)^\s*(//|#|/\*|--|;|<!--)\s*(Code generated .* DO NOT EDIT\.|@generated\b)`)

// isGenerated looks at the head of a file only.
func isGenerated(data []byte) bool { return generatedMark.Match(data[:min(len(data), 4<<10)]) }

// Files is what a [Spec] may ask about the workspace's files.
type Files struct {
	client *Client
	ctx    context.Context
	all    []string
}

// filesNow are the workspace's files as last seen.
func (c *Client) filesNow(ctx context.Context) *Files {
	return &Files{client: c, ctx: ctx, all: c.watch.all(ctx)}
}

// Match returns the files whose base name a pattern matches, sorted.
func (f *Files) Match(pattern string) []string {
	var out []string
	for _, name := range f.all {
		if doublestar.MatchUnvalidated(pattern, filepath.Base(name)) {
			out = append(out, name)
		}
	}
	return out
}

// Read returns a file's content; nil when it cannot be had.
func (f *Files) Read(name string) []byte {
	if _, ok := slices.BinarySearch(f.all, name); !ok {
		return nil
	}
	p, err := f.client.work.Resolve(name)
	if err != nil {
		return nil
	}
	file, _, err := f.client.files.get(f.ctx, p)
	if err != nil {
		return nil
	}
	return file.text.data
}

// relative returns the workspace path of an absolute one, or false when it is
// not in the workspace. A name that leads into it through links is of it too.
func (c *Client) relative(absolute string) (string, bool) {
	if rel, ok := c.below(absolute); ok || absolute == "" {
		return rel, ok
	}
	// What the path names may not be there yet, its directory is.
	dir, base := filepath.Split(absolute)
	real, err := filepath.EvalSymlinks(dir)
	if err != nil || real == filepath.Clean(dir) {
		return "", false
	}
	return c.below(filepath.Join(real, base))
}

// below is relative for names as they are written.
func (c *Client) below(absolute string) (string, bool) {
	for _, root := range c.roots {
		if within(root, absolute) {
			return filepath.ToSlash(strings.TrimPrefix(strings.TrimPrefix(absolute, root), string(filepath.Separator))), true
		}
	}
	return "", false
}
