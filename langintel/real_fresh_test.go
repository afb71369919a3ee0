package langintel_test

import (
	"cmp"
	"context"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/langintel"
)

// freshCase is a mistake that can be made in a file, and made once more.
type freshCase struct {
	server         realServer
	file, old, new string
	again          string // a line to add that makes the same mistake
	want           string // what the server says, without the line
}

func freshCases() []freshCase {
	var out []freshCase
	for _, s := range typescriptServers() {
		out = append(out, freshCase{s, "till/till.ts", "price(0)", "prise(0)", "export const more = prise(0);\n", "Cannot find name 'prise'. Did you mean 'price'?"})
	}
	for _, s := range pythonServers() {
		out = append(out, freshCase{s, "till/till.py", "price(0)", "prise(0)", "more = prise(0)\n", `"prise" is not defined`})
	}
	for _, s := range asAsked(clangdServers()[1:], clangdServers()[0]) {
		out = append(out, freshCase{s, "src/till.cpp", "return true", "return maybe", "int more = maybe;\n", "Use of undeclared identifier 'maybe'"})
	}
	for _, s := range rustServers() {
		out = append(out, freshCase{s, "label/src/wide.rs", "    two\r\n", "    to\r\n", "pub fn more() -> i64 { to }\n", "cannot find value `to`"})
	}
	return out
}

// A file that is changed faster than a server publishes is never spoken of as it
// was before.
func TestRealFresh(t *testing.T) {
	t.Parallel()
	for _, c := range freshCases() {
		t.Run(cmp.Or(c.server.program, c.server.name), func(t *testing.T) {
			t.Parallel()
			b := c.server.open(t, c.server.copied(t), nil)
			ctx := within(t, startTime)
			good := b.read(c.file)
			bad := strings.Replace(good, c.old, c.new, 1)
			for range 4 {
				c.says(ctx, t, b, good, 0)
				c.says(ctx, t, b, bad, 1)
				c.says(ctx, t, b, bad+"\n", 1)
			}
			c.says(ctx, t, b, good, 0)
			c.says(ctx, t, b, good, 0) // the same text once more
			c.moves(ctx, t, b, bad)
			c.repeats(ctx, t, b, bad)
		})
	}
}

// says writes a text and checks what is said of it.
func (c *freshCase) says(ctx context.Context, t *testing.T, b *bench, text string, mistakes int) {
	t.Helper()
	b.write(c.file, text)
	got, err := b.Diagnostics(ctx, langintel.DiagnosticsQuery{Path: c.file})
	if err != nil || got.Status != langintel.Complete {
		t.Fatalf("%+v, %v", got, err)
	}
	if count(got.Problems, c.want) != mistakes || mistakes == 0 && len(got.Problems) != 0 {
		t.Fatalf("of a text with %d mistakes: %q", mistakes, problems(got.Problems))
	}
}

func count(list []langintel.Problem, message string) int {
	n := 0
	for _, p := range list {
		if strings.HasPrefix(p.Message, message) {
			n++
		}
	}
	return n
}

// moves puts lines above a mistake that is there already.
func (c *freshCase) moves(ctx context.Context, t *testing.T, b *bench, bad string) {
	t.Helper()
	b.write(c.file, bad)
	base, err := b.Baseline(ctx, c.file)
	if err != nil {
		t.Fatal(err)
	}
	b.write(c.file, "\n\n\n"+bad)
	got, err := base.Delta(ctx)
	if err != nil || got.Status != langintel.Complete || len(got.Introduced)+len(got.Fixed) != 0 || got.Delta.Counts.Unknown != 0 {
		t.Errorf("three lines above a mistake: %+v, %v", got, err)
	}
}

// repeats makes the same mistake a second time.
func (c *freshCase) repeats(ctx context.Context, t *testing.T, b *bench, bad string) {
	t.Helper()
	b.write(c.file, bad)
	base, err := b.Baseline(ctx, c.file)
	if err != nil {
		t.Fatal(err)
	}
	b.write(c.file, bad+c.again)
	got, err := base.Delta(ctx)
	if err != nil || got.Status != langintel.Complete || len(got.Introduced) != 1 || len(got.Fixed) != 0 || count(got.Introduced, c.want) != 1 {
		t.Errorf("a second mistake: %+v, %v", got, err)
	}
}
