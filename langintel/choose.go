package langintel

import (
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// choice is a server of the catalogue for a file, at a project root.
type choice struct {
	spec *Spec
	root string // relative to the workspace
}

// choices returns what serves a file: of each group the first that is available
// here, of a group with none its first, so that the error says what is missing.
// Those that know symbols come before linters.
func (c *Client) choices(file string) []choice {
	var out []choice
	taken := map[string]bool{} // group → an available one was found
	for _, spec := range c.patterns.specs(file) {
		if taken[spec.group()] {
			continue
		}
		root, marked := c.projectRoot(spec, file)
		if spec.NeedsRoot && !marked {
			continue
		}
		there := c.there(spec, root)
		if spec.Lint && !there {
			continue // it adds to another, which can do without
		}
		at := slices.IndexFunc(out, func(o choice) bool { return o.spec.group() == spec.group() })
		switch {
		case at < 0:
			out = append(out, choice{spec, root})
		case there:
			out[at] = choice{spec, root}
		}
		taken[spec.group()] = there
	}
	slices.SortStableFunc(out, func(a, b choice) int { return lintRank(a.spec) - lintRank(b.spec) })
	return out
}

// availableFor is how long it is taken for true that a server is there, or not.
const availableFor = 2 * time.Second

// there is available, remembered for a moment: it is asked before each question.
func (c *Client) there(spec *Spec, root string) bool {
	key := serverKey{root, spec.Name}
	c.mu.Lock()
	s, known := c.servers[key], c.found[key]
	c.mu.Unlock()
	if s != nil && s.running() {
		return true
	}
	if time.Now().Before(known.until) {
		return known.there
	}
	there := c.available(spec, root)
	c.mu.Lock()
	c.found[key] = availability{there, time.Now().Add(availableFor)}
	c.mu.Unlock()
	return there
}

// availability is whether a server could be started, as far as known.
type availability struct {
	there bool
	until time.Time
}

func lintRank(s *Spec) int {
	if s.Lint {
		return 1
	}
	return 0
}

func (s *Spec) group() string {
	if s.Group == "" {
		return s.Name
	}
	return s.Group
}

// serversFor returns the servers for a file, not yet started; the first is the
// one that knows its symbols, unless there are linters only.
func (c *Client) serversFor(p workspace.Path) ([]*server, error) {
	choices := c.choices(p.Real)
	if len(choices) == 0 {
		return nil, tools.Errorf(tools.CodeLSPUnsupported, "no language server of the catalogue serves %s", p.Rel)
	}
	var out []*server
	for _, choice := range choices {
		s, err := c.serverAt(choice)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// serverAt is the server of a choice.
func (c *Client) serverAt(choice choice) (*server, error) {
	if !choice.spec.MultiRoot {
		return c.server(choice.spec, choice.root)
	}
	s, err := c.server(choice.spec, ".")
	if err == nil {
		s.want(choice.root)
	}
	return s, err
}

// projectRoot is the directory above a file with one of the spec's markers: the
// nearest for a server that wants a root each, the topmost for one that takes
// many folders; and whether there is one. Else it is the workspace.
func (c *Client) projectRoot(spec *Spec, file string) (root string, marked bool) {
	if !spec.PerRoot && !spec.MultiRoot && !spec.NeedsRoot {
		return ".", true
	}
	top := ""
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		if c.marked(spec, dir) {
			top = dir
			if spec.PerRoot {
				break
			}
		}
		if dir == "." || dir == "/" {
			break
		}
	}
	if top != "" && (spec.PerRoot || spec.MultiRoot) {
		return top, true
	}
	return ".", top != ""
}

// marked reports whether a directory holds one of the spec's markers.
func (c *Client) marked(spec *Spec, dir string) bool {
	return slices.ContainsFunc(spec.Roots, func(marker string) bool { return c.watch.has(c.ctx, path.Join(dir, marker)) })
}

// server returns the one for a spec and a root. Where as many run as may, the
// one that was unused for longest is stopped.
func (c *Client) server(spec *Spec, root string) (*server, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, tools.Errorf(tools.CodeLSPServer, "the language client is closed")
	}
	key := serverKey{root, spec.Name}
	if s := c.servers[key]; s != nil {
		return s, nil
	}
	s := &server{client: c, spec: spec, root: root, state: stateStopped}
	c.servers[key] = s
	if len(c.servers) == 1 {
		c.running.Go(c.keepHouse)
	}
	return s, nil
}

// makeRoom lets a server start, and stops the one that was unused for longest when
// as many run as may. Of several that start at once as many are let in as there is
// room for.
func (c *Client) makeRoom(starting *server) error {
	c.admission.Lock()
	defer c.admission.Unlock()
	for {
		c.mu.Lock()
		servers := c.list()
		c.mu.Unlock()
		var running int64
		var oldest *server
		var since time.Time
		for _, s := range servers {
			up, busy, used := s.load()
			if s == starting || !up {
				continue
			}
			running++
			if !busy && (oldest == nil || used.Before(since)) {
				oldest, since = s, used
			}
		}
		switch {
		case running < c.opts.MaxServers:
			starting.admit()
			return nil
		case oldest == nil:
			return tools.Errorf(tools.CodeLSPLimit, "%d language servers are at work for this workspace already; ask again when one of them is done", running)
		}
		oldest.retire("")
	}
}

// projectOf is what a spec's functions may know of a server's project.
func (c *Client) projectOf(s *server, program string) Project {
	if real, err := filepath.EvalSymlinks(program); err == nil {
		program = real
	}
	return Project{
		Root: filepath.Join(c.work.Root(), filepath.FromSlash(s.root)), Path: s.root, Program: program,
		Trusted: c.opts.Trusted, Files: c.filesNow(c.ctx),
		Cache:   c.cacheDir(s.spec.Name),
		command: func(name string) string { path, _ := c.lookPath(name); return path },
		outside: func(path string) bool { return !c.inside(path) },
	}
}

// cacheDir is where a server may keep what it can make again.
func (c *Client) cacheDir(name string) string {
	if c.opts.ServerDir == "" || c.inside(c.opts.ServerDir) {
		return ""
	}
	return filepath.Join(c.opts.ServerDir, "cache", name)
}

// workspaceServers returns the servers that a question about the whole workspace
// concerns: those that know symbols and either run already, or serve one of its
// files. Those that are missing here are named; they count as servers only when
// there is nothing else, so that the error says what is missing.
func (c *Client) workspaceServers() (out []*server, absent []string, err error) {
	var missing []*server
	add := func(list *[]*server, s *server) {
		if !slices.Contains(*list, s) {
			*list = append(*list, s)
		}
	}
	c.mu.Lock()
	servers := c.list()
	c.mu.Unlock()
	for _, s := range servers {
		if s.spec.searches() && s.running() {
			add(&out, s)
		}
	}
	for _, example := range c.examples() {
		for _, choice := range c.choices(example.file) {
			if choice.spec != example.spec || !choice.spec.searches() {
				continue
			}
			s, err := c.serverAt(choice)
			if err != nil {
				return nil, nil, err
			}
			if c.there(choice.spec, choice.root) {
				add(&out, s)
			} else {
				add(&missing, s)
			}
		}
	}
	for _, s := range missing {
		if !slices.Contains(absent, s.spec.Name) {
			absent = append(absent, s.spec.Name)
		}
	}
	if len(out) == 0 {
		out, absent = missing, nil
	}
	if len(out) == 0 {
		return nil, nil, tools.Errorf(tools.CodeLSPUnsupported, "no file of this workspace belongs to a language server that searches workspaces")
	}
	slices.SortStableFunc(out, func(a, b *server) int { return c.patterns.rank(a.spec) - c.patterns.rank(b.spec) })
	return out, absent, nil
}

// searches reports whether the server is asked about the workspace.
func (s *Spec) searches() bool { return !s.Lint && !s.FilesOnly }

// strayShare is how many files of the most frequent language there are, at least,
// to one of a language that counts as a stray.
const strayShare = 20

// strays tells servers of languages of which the workspace has but a few files,
// test data mostly, from the others: by counts of files.
func strays(servers []*server, counts map[*Spec]int) (main, stray []*server) {
	most := 0
	for _, s := range servers {
		most = max(most, counts[s.spec])
	}
	for _, s := range servers {
		if counts[s.spec]*strayShare < most {
			stray = append(stray, s)
		} else {
			main = append(main, s)
		}
	}
	return main, stray
}

// counts is how many files of the workspace each spec serves.
func (c *Client) counts() map[*Spec]int {
	out := map[*Spec]int{}
	for _, name := range c.watch.all(c.ctx) {
		for _, spec := range c.patterns.specs(name) {
			out[spec]++
		}
	}
	return out
}

// example is a file that a spec is about, one for each project root.
type example struct {
	spec       *Spec
	root, file string
}

// examples returns what the workspace has for the specs of the catalogue.
func (c *Client) examples() []example {
	var out []example
	seen, asked := map[serverKey]bool{}, map[serverKey]bool{}
	for _, name := range c.watch.all(c.ctx) {
		for _, spec := range c.patterns.specs(name) {
			// The files of a directory have their root in common.
			here := serverKey{path.Dir(name), spec.Name}
			if asked[here] {
				continue
			}
			asked[here] = true
			root, marked := c.projectRoot(spec, name)
			key := serverKey{root, spec.Name}
			if !seen[key] && (marked || !spec.NeedsRoot) {
				seen[key] = true
				out = append(out, example{spec, root, name})
			}
		}
	}
	return out
}
