package langintel

import (
	"slices"
	"testing"
)

func TestPlainJSON(t *testing.T) {
	got := string(plainJSON([]byte("{ // a comment, \"x\": 1\n\"a\": \"// no, /* comment */ \\\" here,}\", /* one\n*/ \"b\": [1, 2,\n], }")))
	var read struct {
		A string `json:"a"`
		B []int  `json:"b"`
	}
	if err := decodeJSON([]byte(got), &read); err != nil || read.A != `// no, /* comment */ " here,}` || !slices.Equal(read.B, []int{1, 2}) {
		t.Errorf("%s: %+v, %v", got, read, err)
	}
}

func TestTSConfigHas(t *testing.T) {
	for _, c := range []struct {
		config tsconfig
		file   string
		want   bool
	}{
		{tsconfig{name: "a/tsconfig.json"}, "a/b/c.ts", true},
		{tsconfig{name: "a/tsconfig.json"}, "ab/c.ts", false},
		{tsconfig{name: "a/tsconfig.json", out: "a/dist"}, "a/dist/c.d.ts", false},
		{tsconfig{name: "tsconfig.json", hasFiles: true}, "a.ts", false}, // a solution
		{tsconfig{name: "tsconfig.json", hasFiles: true, files: []string{"a.ts"}}, "a.ts", true},
		{tsconfig{name: "tsconfig.json", hasInclude: true, include: []string{"src"}}, "src/x/y.ts", true},
		{tsconfig{name: "tsconfig.json", hasInclude: true, include: []string{"src/*"}}, "src/x/y.ts", false},
		{tsconfig{name: "tsconfig.json", hasInclude: true, include: []string{"src/**/*"}, exclude: []string{"src/**/*.test.ts"}}, "src/x/y.test.ts", false},
	} {
		if got := c.config.has(c.file); got != c.want {
			t.Errorf("%+v has %s: %v", c.config, c.file, got)
		}
	}
}

func TestImports(t *testing.T) {
	ts := tsImports([]byte("import { a } from './a.js'\nimport \"b\";\nexport * from \"../c\"\nconst d = require('d/e')\nawait import(\n'./f')\nconst from = 'text'\n"))
	if want := []string{"./a.js", "b", "../c", "d/e", "./f"}; !slices.Equal(ts, want) {
		t.Errorf("%q, want %q", ts, want)
	}
	py := pyImports([]byte("import a.b, c as d\nfrom .e import (f,\n g)\n    from .. import h\nfrom i.j import *\n"))
	for _, want := range []string{"a.b", "c", ".e", ".e.f", ".e.g", "..", "..h", "i.j"} {
		if !slices.Contains(py, want) {
			t.Errorf("%q has no %s", py, want)
		}
	}
}
