package langintel_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/prism-ls/prism-ls/langintel"
	"github.com/prism-ls/prism-ls/tools/child"
)

// realServer is one server of the catalogue and what it must answer about its
// fixture. What is empty is not asked, which is for servers that do not do it.
type realServer struct {
	name    string            // in the catalogue
	fixture string            // below testdata/workspaces
	path    []string          // more directories of PATH, absolute
	links   map[string]string // programs by another name: "pyright-langserver": "pyright/langserver.index.js" below node_modules
	require []string          // commands that the server or the checks need, beside its own program
	trusted bool
	program string // another name of its program; empty: the catalogue's
	env     map[string]string
	// prepare makes what the fixture needs of its place.
	prepare func(t testing.TB, dir string)

	outline     string // a file
	symbols     []string
	definition  realQuery
	references  realQuery
	hover       langintel.Place
	hoverText   string
	workspace   string // a query for the symbols of the workspace, and one of the answers
	workspaceIs string
	wide        realWide
	rename      realRename
	delta       realDelta
}

// realWide is a file whose symbol stands behind é, 日本 and 😀; its lines end in
// CRLF when it is asked about. What the rename writes in it, in place of what, is
// compared byte by byte.
type realWide struct {
	file     string
	at       [][2]int // line and column, in code points
	means    string   // "path:line:column-end"
	old, new string
}

// realQuery is a place and the answer, each "path:line:column-end".
type realQuery struct {
	place langintel.Place
	want  []string
}

// realRename is a rename across files; checks are commands that must succeed
// in the directory of the workspace afterwards.
type realRename struct {
	place  langintel.Place
	name   string
	files  []string
	checks [][]string
	// partial: the server cannot say what became of the problems, and says that.
	partial bool
}

// realDelta is an edit of a file, and the problems it introduces, each
// "path:line text of the message".
type realDelta struct {
	file, old, new string
	want           []string
}

// asAsked adds servers that stand for others of their language, where the full
// sizes are asked for.
func asAsked(list []realServer, more ...realServer) []realServer {
	if soak() {
		return append(list, more...)
	}
	return list
}

// realServers are all servers with a conformance suite; each server's file adds
// its own.
func realServers() []realServer {
	return slices.Concat(typescriptServers(), pythonServers(), clangdServers(), rustServers(), smallServers())
}

// nodeModules is where the pinned language servers of npm are.
func nodeModules(t testing.TB) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", "testdata", "servers", "language", "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	missing(t, "the language servers of npm are not installed; testdata/servers/install.sh does it")
	return ""
}

// missing skips a test for want of a component, which a machine that builds
// releases must have.
func missing(t testing.TB, text string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(text)
	}
	t.Skip(text)
}

// real makes a client for a directory with one server of the catalogue alone.
func (s *realServer) open(t testing.TB, dir string, opts *langintel.Options) *bench {
	t.Helper()
	if opts == nil {
		opts = &langintel.Options{}
	}
	opts.Trusted = opts.Trusted || s.trusted
	for _, spec := range langintel.Catalogue() {
		if spec.Name == s.name {
			spec.Program = cmp.Or(s.program, spec.Program)
			opts.Servers = []langintel.Spec{spec}
		}
	}
	if len(opts.Servers) != 1 {
		t.Fatalf("the catalogue has no server %q", s.name)
	}
	dirs := slices.Clone(s.path)
	if len(s.links) > 0 {
		dirs = append(dirs, s.linked(t))
	}
	dirs = append(dirs, filepath.Join(nodeModules(t), ".bin"))
	search := strings.Join(append(dirs, os.Getenv("PATH")), string(filepath.ListSeparator))
	opts.Env = child.Environment(child.Environment(os.Environ(), s.env), map[string]string{"PATH": search})
	for _, name := range append([]string{opts.Servers[0].Program}, s.require...) {
		if !found(search, name) {
			missing(t, name+" is not installed; testdata/servers/install.sh does it")
		}
	}
	return open(t, dir, opts)
}

// linked makes a directory with the server's programs under the names by which
// they are looked for.
func (s *realServer) linked(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for name, target := range s.links {
		if err := os.Symlink(filepath.Join(nodeModules(t), target), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func found(search, name string) bool {
	if filepath.IsAbs(name) {
		search, name = filepath.Dir(name), filepath.Base(name)
	}
	return slices.ContainsFunc(filepath.SplitList(search), func(dir string) bool {
		info, err := os.Stat(filepath.Join(dir, name))
		return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
	})
}

// copied is a copy of the server's fixture.
func (s *realServer) copied(t testing.TB) string {
	dir := copyTree(t, filepath.Join("..", "testdata", "workspaces", s.fixture))
	if s.prepare != nil {
		s.prepare(t, dir)
	}
	return dir
}

// run runs commands in the workspace that must succeed; the first word may be a
// program of the npm components.
func (b *bench) run(commands ...[]string) {
	b.t.Helper()
	for _, argv := range commands {
		cmd := exec.Command(argv[0], argv[1:]...)
		if local := filepath.Join(nodeModules(b.t), ".bin", argv[0]); !filepath.IsAbs(argv[0]) && found(filepath.Dir(local), argv[0]) {
			cmd = exec.Command(local, argv[1:]...)
		}
		cmd.Dir = b.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			b.t.Errorf("%s: %v\n%s", strings.Join(argv, " "), err, out)
		}
	}
}

func spans(list []langintel.Location) []string {
	var out []string
	for _, l := range list {
		out = append(out, fmt.Sprintf("%s:%d:%d-%d", l.Path, l.Line, l.Column, l.EndColumn))
	}
	return out
}

func problems(list []langintel.Problem) []string {
	var out []string
	for _, p := range list {
		out = append(out, fmt.Sprintf("%s:%d %s", p.Path, p.Line, p.Message))
	}
	return out
}

func same(t testing.TB, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestReal asks every server the same things about a small workspace. One client
// serves all the steps: starts take most of the time.
func TestReal(t *testing.T) {
	t.Parallel()
	for _, s := range realServers() {
		t.Run(cmp.Or(s.program, s.name), func(t *testing.T) {
			t.Parallel()
			b := s.open(t, s.copied(t), nil)
			ctx := within(t, startTime)
			s.queries(ctx, t, b)
			if s.delta.file != "" {
				s.introduces(ctx, t, b)
			}
			s.survives(ctx, t, b)
			if s.wide.file != "" {
				s.widens(ctx, t, b)
			}
			if s.rename.name != "" {
				s.renames(ctx, t, b)
			}
		})
	}
}

func (s *realServer) queries(ctx context.Context, t *testing.T, b *bench) {
	t.Helper()
	if s.workspace != "" {
		got, err := b.Symbols(ctx, langintel.SymbolsQuery{Query: s.workspace})
		if err != nil || got.Status != langintel.Complete || !slices.ContainsFunc(got.Symbols, func(one langintel.Symbol) bool {
			return fmt.Sprintf("%s:%d %s", one.Path, one.Line, one.Name) == s.workspaceIs
		}) {
			t.Errorf("symbols of the workspace: %+v, %v", got, err)
		}
	}
	if s.outline != "" {
		got, err := b.Symbols(ctx, langintel.SymbolsQuery{Path: s.outline})
		if err != nil || got.Status != langintel.Complete {
			t.Fatalf("outline: %+v, %v", got, err)
		}
		same(t, "outline", flatten(nil, "", got.Symbols), s.symbols)
	}
	if s.definition.want != nil {
		got, err := b.Definition(ctx, langintel.DefinitionQuery{Place: s.definition.place})
		if err != nil || got.Status != langintel.Complete {
			t.Fatalf("definition: %+v, %v", got, err)
		}
		same(t, "definition", spans(got.Locations), s.definition.want)
	}
	if s.references.want != nil {
		got, err := b.References(ctx, langintel.ReferencesQuery{Place: s.references.place})
		if err != nil || got.Status != langintel.Complete {
			t.Fatalf("references: %+v, %v", got, err)
		}
		same(t, "references", spans(got.Locations), s.references.want)
	}
	if s.hoverText != "" {
		got, err := b.Hover(ctx, s.hover)
		if err != nil || got.Status != langintel.Complete || !strings.Contains(got.Text, s.hoverText) {
			t.Errorf("hover: %+v, %v", got, err)
		}
	}
}

func flatten(out []string, indent string, list []langintel.Symbol) []string {
	for _, one := range list {
		out = append(out, fmt.Sprintf("%s%s %s:%d", indent, one.Kind, one.Name, one.Line))
		out = flatten(out, indent+"  ", one.Children)
	}
	return out
}

// introduces makes an edit as anybody could, asks what it did, and takes it back.
func (s *realServer) introduces(ctx context.Context, t *testing.T, b *bench) {
	t.Helper()
	good := b.read(s.delta.file)
	bad := strings.Replace(good, s.delta.old, s.delta.new, 1)
	if bad == good {
		t.Fatalf("%s does not hold %q", s.delta.file, s.delta.old)
	}
	base, err := b.Baseline(ctx, s.delta.file)
	if err != nil {
		t.Fatal(err)
	}
	b.write(s.delta.file, bad)
	got, err := base.Delta(ctx)
	if err != nil || got.Status != langintel.Complete {
		t.Fatalf("delta: %+v, %v", got, err)
	}
	list := problems(got.Introduced)
	slices.SortFunc(list, cmp.Compare)
	if len(list) != len(s.delta.want) || len(got.Fixed) != 0 {
		t.Errorf("introduced:\n%s\nfixed: %+v", strings.Join(list, "\n"), got.Fixed)
	}
	for i, want := range s.delta.want {
		if i < len(list) && !strings.HasPrefix(list[i], want) {
			t.Errorf("introduced %s, want %s…", list[i], want)
		}
	}
	b.write(s.delta.file, good)
	got, err = base.Delta(ctx)
	if err != nil || got.Status != langintel.Complete || len(got.Introduced)+len(got.Fixed) != 0 {
		t.Errorf("after the edit was taken back: %+v, %v", got, err)
	}
}

// survives kills the server and asks again.
func (s *realServer) survives(ctx context.Context, t *testing.T, b *bench) {
	t.Helper()
	before, err := b.Status(ctx)
	if err != nil || len(before) != 1 || before[0].PID == 0 {
		t.Fatalf("%+v, %v", before, err)
	}
	if err := syscall.Kill(before[0].PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for { // a question that meets the dying server may fail, and only once
		_, err = b.Symbols(ctx, langintel.SymbolsQuery{Path: cmp.Or(s.outline, s.references.place.Path)})
		after, _ := b.Status(ctx)
		if err == nil && len(after) == 1 && after[0].PID != 0 && after[0].PID != before[0].PID {
			break
		}
		if ctx.Err() != nil {
			t.Fatalf("%+v, %v", after, err)
		}
	}
	s.queries(ctx, t, b)
}

func (s *realServer) widens(ctx context.Context, t *testing.T, b *bench) {
	t.Helper()
	b.write(s.wide.file, strings.ReplaceAll(b.read(s.wide.file), "\n", "\r\n"))
	for _, at := range s.wide.at {
		got, err := b.Definition(ctx, langintel.DefinitionQuery{Place: langintel.Place{Path: s.wide.file, Line: at[0], Column: at[1]}})
		if err != nil || got.Status != langintel.Complete {
			t.Fatalf("%v: %+v, %v", at, got, err)
		}
		same(t, fmt.Sprint(at), spans(got.Locations), []string{s.wide.means})
	}
}

func (s *realServer) renames(ctx context.Context, t *testing.T, b *bench) {
	t.Helper()
	before := ""
	if s.wide.file != "" {
		before = b.read(s.wide.file)
	}
	query := langintel.RenameQuery{Place: s.rename.place, NewName: s.rename.name, RejectIf: langintel.RejectNewErrors}
	want := langintel.Complete
	if s.rename.partial {
		query.RejectIf, want = "", langintel.Partial
	}
	got, err := b.Rename(ctx, query)
	if err != nil {
		t.Fatalf("rename: %v", err)
	}
	same(t, "files of the rename", got.Files, s.rename.files)
	if got.DeltaOf.Status != want || len(got.Introduced) != 0 {
		t.Errorf("rename: %+v, introduced %+v", got.DeltaOf, got.Introduced)
	}
	if s.wide.file != "" {
		if got, want := b.read(s.wide.file), strings.ReplaceAll(before, s.wide.old, s.wide.new); got != want {
			t.Errorf("after the rename\n%q, want\n%q", got, want)
		}
	}
	b.run(s.rename.checks...)
}
