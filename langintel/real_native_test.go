package langintel_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/langintel"
)

// A declaration that changes breaks files that nobody has opened: the delta names
// their errors, or says that it does not know all.
func TestRealDependents(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		server         realServer
		file, old, new string
		in             string // another file that has an error from it
		partial        bool   // the compiler does not get to all of them
	}{
		{clangdServers()[0], "include/shelf.hpp", "void add(int n);", "void put(int n);", "src/main.cpp", false},
		{clangdServers()[1], "include/shelf.hpp", "void add(int n);", "void put(int n);", "src/main.cpp", false},
		{rustServers()[0], "stock/src/lib.rs", "pub fn add(&mut self", "pub fn put(&mut self", "till/src/lib.rs", true},
	} {
		if c.server.program == "clangd-14" && !soak() {
			continue // the newer one stands for it
		}
		name := c.server.name
		if c.server.program != "" {
			name = c.server.program
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := c.server.open(t, c.server.copied(t), nil)
			ctx := within(t, startTime)
			base, err := b.Baseline(ctx, c.file)
			if err != nil {
				t.Fatal(err)
			}
			good := b.read(c.file)
			for range 2 { // good → bad → good, twice: nothing is of an earlier text
				b.write(c.file, strings.Replace(good, c.old, c.new, 1))
				got, err := base.Delta(ctx)
				if err != nil || got.Status != langintel.Complete && !(c.partial && got.Status == langintel.Partial) {
					t.Fatalf("%+v, %v", got, err)
				}
				if !slices.ContainsFunc(got.Introduced, func(p langintel.Problem) bool { return p.Path == c.in && p.Severity == "error" }) {
					t.Errorf("%s is not among %q (%s)", c.in, problems(got.Introduced), got.Reason)
				}
				b.write(c.file, good)
				got, err = base.Delta(ctx)
				if err != nil || got.Status != langintel.Complete || len(got.Introduced)+len(got.Fixed) != 0 {
					t.Errorf("taken back: %+v, %v", got, err)
				}
			}
		})
	}
}

// A server that reads files once is told of those that change afterwards, also
// where nobody has opened them.
func TestRealChangedUnopened(t *testing.T) {
	t.Parallel()
	servers := asAsked([]realServer{clangdServers()[1], smallServers()[0]}, clangdServers()[0])
	for _, s := range servers {
		name := s.name
		if s.program != "" {
			name = s.program
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := s.open(t, s.copied(t), nil)
			ctx := within(t, startTime)
			ask := func(more ...string) {
				t.Helper()
				got, err := b.References(ctx, langintel.ReferencesQuery{Place: s.references.place})
				want := slices.Concat(s.references.want, more)
				list := spans(got.Locations)
				slices.Sort(list)
				slices.Sort(want)
				if err != nil || got.Status != langintel.Complete || !slices.Equal(list, want) {
					t.Fatalf("%+v, %v\n%s\nwant\n%s", got.Answer, err, strings.Join(list, "\n"), strings.Join(want, "\n"))
				}
			}
			ask()
			if s.name == "bash" {
				b.write("more.sh", "#!/usr/bin/env bash\nsource ./lib.sh\ncount more 1\n")
				ask("more.sh:3:1-6")
				b.write("more.sh", "#!/usr/bin/env bash\nsource ./lib.sh\n\ncount more 1\n")
				ask("more.sh:4:1-6")
				return
			}
			b.write("src/more.cpp", "#include \"shelf.hpp\"\nvoid more(shop::Shelf &s) { s.add(1); }\n")
			ask("src/more.cpp:2:31-34")
			b.write("src/more.cpp", "#include \"shelf.hpp\"\n\nvoid more(shop::Shelf &s) { s.add(1); }\n")
			ask("src/more.cpp:3:31-34")
		})
	}
}

// Where a server cannot know everything it says so, and what would help.
func TestRealIncomplete(t *testing.T) {
	t.Parallel()
	t.Run("clangd without a compilation database", func(t *testing.T) {
		s := clangdServers()[1]
		b := s.open(t, copyTree(t, filepath.Join("..", "testdata", "workspaces", s.fixture)), nil)
		got, err := b.References(within(t, startTime), langintel.ReferencesQuery{Place: s.references.place})
		if err != nil || got.Status != langintel.Partial || !strings.Contains(got.Reason, "compile_commands.json") {
			t.Errorf("%+v, %v", got, err)
		}
		found, err := b.Diagnostics(within(t, startTime), langintel.DiagnosticsQuery{Path: "src/shelf.cpp"})
		if err != nil || found.Status != langintel.Partial || !strings.Contains(found.Reason, "compile_commands.json") {
			t.Errorf("%+v, %v", found, err)
		}
	})
	t.Run("rust-analyzer without trust", func(t *testing.T) {
		s := rustServers()[0]
		s.trusted = false
		b := s.open(t, s.copied(t), nil)
		got, err := b.References(within(t, startTime), langintel.ReferencesQuery{Place: s.references.place})
		if err != nil || got.Status != langintel.Complete || !slices.Equal(spans(got.Locations), s.references.want) {
			t.Errorf("%+v, %v", got, err)
		}
		found, err := b.Diagnostics(within(t, startTime), langintel.DiagnosticsQuery{Path: "till/src/lib.rs"})
		if err != nil || found.Status != langintel.Partial || !strings.Contains(found.Reason, "not trusted") {
			t.Errorf("%+v, %v", found, err)
		}
	})
	t.Run("bash without shellcheck", func(t *testing.T) {
		s := smallServers()[0]
		b := s.open(t, s.copied(t), nil)
		if found(os.Getenv("PATH"), "shellcheck") {
			t.Skip("shellcheck is there")
		}
		b.write("lib.sh", "if true; then\n")
		got, err := b.Diagnostics(within(t, startTime), langintel.DiagnosticsQuery{Path: "lib.sh"})
		if err != nil || got.Status != langintel.Partial || !strings.Contains(got.Reason, "shellcheck") {
			t.Errorf("%+v, %v", got, err)
		}
	})
	t.Run("intelephense without a licence", func(t *testing.T) {
		s := smallServers()[5]
		b := s.open(t, s.copied(t), nil)
		_, err := b.Rename(within(t, startTime), langintel.RenameQuery{Place: s.references.place, NewName: "put"})
		if err == nil || !strings.Contains(err.Error(), "rename") {
			t.Errorf("%v", err)
		}
	})
}
