package plan

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/prism-ls/prism-ls/tools"
)

func parse(t testing.TB, text string) *Document {
	t.Helper()
	d, err := Parse([]byte(text), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestAnEditChangesItsItemAndNothingElse(t *testing.T) {
	yes, no := true, false
	for _, c := range []struct {
		name, before string
		edit         Edit
		after        string
	}{
		{"tick", "# T\n\n- [ ] [a] x  \n- [ ] [b] y\n", Edit{ID: "a", Done: &yes}, "# T\n\n- [x] [a] x  \n- [ ] [b] y\n"},
		{"open", "- [X] [a] x", Edit{ID: "a", Done: &no}, "- [ ] [a] x"},
		{"ticked already", "- [X] [a] x", Edit{ID: "a", Done: &yes}, "- [X] [a] x"},
		{"text", "*  [ ]  [a]   old text \t\r\n   more\r\n\tlast\xff", Edit{ID: "a", Text: new("new")}, "*  [ ]  [a]   new \t\r\n   more\r\n\tlast\xff"},
		{"text where was none", "- [ ] [a]\n- [ ] [b] \n", Edit{ID: "a", Text: new("new")}, "- [ ] [a] new\n- [ ] [b] \n"},
		{"both", "- [ ] [a] x\n", Edit{ID: "a", Text: new("longer"), Done: &yes}, "- [x] [a] longer\n"},
		{"not in code", "```\n- [ ] [a] x\n```\n- [ ] [a] y\n", Edit{ID: "a", Done: &yes}, "```\n- [ ] [a] x\n```\n- [x] [a] y\n"},
		{"add", "- [ ] [a] x\n  - [ ] [b] y\n  more\n\nnotes\n", Edit{ID: "c", Text: new("z"), Add: true}, "- [ ] [a] x\n  - [ ] [b] y\n  more\n- [ ] [c] z\n\nnotes\n"},
		{"add, windows", "a\n\n- [ ] [a] x\r\n\r\nnotes\r\n", Edit{ID: "c", Text: new("z"), Add: true}, "a\n\n- [ ] [a] x\r\n- [ ] [c] z\r\n\r\nnotes\r\n"},
		{"add at the end", "* [ ] [a] x", Edit{ID: "c", Text: new("z"), Add: true, Done: &yes}, "* [ ] [a] x\n* [x] [c] z"},
		{"add with a number", "1. [ ] [a] x\n2. [ ] [b] x\n", Edit{ID: "c", Text: new("z"), Add: true}, "1. [ ] [a] x\n2. [ ] [b] x\n3. [ ] [c] z\n"},
		{"add the first", "# T\n\n## Todos\n\n## Notes\n", Edit{ID: "c", Text: new("z"), Add: true}, "# T\n\n## Todos\n\n- [ ] [c] z\n\n## Notes\n"},
		{"add the first above text", "## Tasks\r\ntext", Edit{ID: "c", Text: new("z"), Add: true}, "## Tasks\r\n\r\n- [ ] [c] z\r\n\r\ntext"},
		{"add without a place", "# T", Edit{ID: "c", Text: new("z"), Add: true}, "# T\n\n## Todos\n\n- [ ] [c] z"},
		{"add to nothing", "", Edit{ID: "c", Text: new("z"), Add: true}, "\n## Todos\n\n- [ ] [c] z\n"},
	} {
		d, err := parse(t, c.before).Edit(c.edit)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if got := string(d.Bytes()); got != c.after {
			t.Errorf("%s: %q, want %q", c.name, got, c.after)
		}
	}
}

func TestEditsThatAreRefused(t *testing.T) {
	yes := true
	long := strings.Repeat("x", 513)
	for _, c := range []struct {
		name string
		edit Edit
		want tools.Code
	}{
		{"unknown", Edit{ID: "tset", Done: &yes}, tools.CodeNotFound},
		{"there already", Edit{ID: "test", Text: new("x"), Add: true}, tools.CodeExists},
		{"add without text", Edit{ID: "new", Done: &yes, Add: true}, tools.CodeToolInput},
		{"nothing", Edit{ID: "test"}, tools.CodeToolInput},
		{"no id", Edit{Done: &yes}, tools.CodeToolInput},
		{"bad id", Edit{ID: "a]b", Text: new("x"), Add: true}, tools.CodeToolInput},
		{"empty", Edit{ID: "test", Text: new(" ")}, tools.CodeToolInput},
		{"two lines", Edit{ID: "test", Text: new("x\n- [ ] [evil] y")}, tools.CodeToolInput},
		{"control", Edit{ID: "test", Text: new("x\x1b[2J")}, tools.CodeToolInput},
		{"not UTF-8", Edit{ID: "test", Text: new("x\xff")}, tools.CodeToolInput},
		{"too long", Edit{ID: "test", Text: &long}, tools.CodePlanInvalid},
	} {
		if d, err := parse(t, "- [ ] [test] x\n").Edit(c.edit); !errors.Is(err, c.want) || d != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	_, err := parse(t, "- [ ] [test] x\n").Edit(Edit{ID: "tset", Done: &yes})
	if !strings.Contains(err.Error(), `"test"`) {
		t.Errorf("no hint: %v", err)
	}
}

func TestPlansThatAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		text   string
		limits Limits
		words  string
	}{
		"twice":          {"- [ ] [a] x\n\n- [x] [a] y\n", Limits{}, "lines 1 and 3"},
		"too large":      {strings.Repeat("x", 11), Limits{PlanBytes: 10}, "at most 10"},
		"too many items": {"- [ ] [a] x\n- [ ] [b] x\n", Limits{Todos: 1}, "at most 1"},
		"too long":       {"- [ ] [a] xxxx\n", Limits{TodoBytes: 3}, "at most 3"},
	} {
		_, err := Parse([]byte(c.text), c.limits)
		if !errors.Is(err, tools.CodePlanInvalid) || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, limits := range []Limits{{PlanBytes: 1<<20 + 1}, {Todos: 10_001}, {TodoBytes: 4<<10 + 1}, {Todos: -1}} {
		if _, err := Parse(nil, limits); !errors.Is(err, tools.CodeToolInput) {
			t.Errorf("%+v: %v", limits, err)
		}
	}
}

func TestPlanLimits(t *testing.T) {
	var b strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&b, "- [ ] [i%d] x\n", i)
	}
	d, err := Parse([]byte(b.String()), Limits{Todos: 10_000})
	if err != nil || len(d.Todos()) != 10_000 {
		t.Fatal(err)
	}
	if _, err := d.Edit(Edit{ID: "more", Text: new("x"), Add: true}); !errors.Is(err, tools.CodePlanInvalid) {
		t.Errorf("one too many: %v", err)
	}
	if _, err := Parse([]byte(b.String()), Limits{}); !errors.Is(err, tools.CodePlanInvalid) {
		t.Errorf("beyond the default: %v", err)
	}
}

func TestCompose(t *testing.T) {
	draft := Draft{Title: "Make it # fast in C#", Goal: "Twice as *fast*.\r\n\r\n- [ ] no id\n\n```\n- [ ] [code] x\n```", Todos: []Todo{{"a", "first", false}, {"b.2", "then `x`", true}}}
	d, err := Compose(draft, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	want := "# Make it # fast in C#\n\n## Goal\n\nTwice as *fast*.\n\n- [ ] no id\n\n```\n- [ ] [code] x\n```\n\n## Todos\n\n- [ ] [a] first\n- [x] [b.2] then `x`\n\n## Notes\n"
	if got := string(d.Bytes()); got != want {
		t.Errorf("%q", got)
	}
	if d.Title() != draft.Title || !slices.Equal(d.Todos(), draft.Todos) {
		t.Errorf("%q %+v", d.Title(), d.Todos())
	}
	for name, c := range map[string]struct {
		draft Draft
		want  tools.Code
	}{
		"open code":      {Draft{"T", "```\nx", []Todo{{"a", "x", false}}}, tools.CodePlanInvalid},
		"open html":      {Draft{"T", "<!-- x", []Todo{{"a", "x", false}}}, tools.CodePlanInvalid},
		"heading":        {Draft{"T", "x\n\n# Other", nil}, tools.CodePlanInvalid},
		"item in goal":   {Draft{"T", "- [ ] [a] x", []Todo{{"b", "x", false}}}, tools.CodePlanInvalid},
		"same id":        {Draft{"T", "x", []Todo{{"a", "x", false}, {"a", "y", false}}}, tools.CodePlanInvalid},
		"no title":       {Draft{"", "x", nil}, tools.CodeToolInput},
		"two line title": {Draft{"T\nU", "x", nil}, tools.CodeToolInput},
		"no goal":        {Draft{"T", " \n", nil}, tools.CodeToolInput},
		"no text":        {Draft{"T", "x", []Todo{{"a", "", false}}}, tools.CodeToolInput},
		"lost sign":      {Draft{"T #", "x", nil}, tools.CodePlanInvalid},
	} {
		if _, err := Compose(c.draft, Limits{}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzEdit edits whatever text: what comes out differs in the item only, or nothing
// comes out.
func FuzzEdit(f *testing.F) {
	for _, seed := range []string{
		"# T\n\n## Todos\n\n- [ ] [a] x\r\n  - [x] [b] y\n\n```\n- [ ] [c] z\n```\n", "1. [ ] [a]\n> - [ ] [b] x", "\ufeff# T\n- - [ ] [a] x\xff\n<!--\n", "-\t[ ]\t[a]\tx\n\n      code\n",
	} {
		f.Add(seed, "text", true)
	}
	f.Fuzz(func(t *testing.T, text, word string, done bool) {
		d, err := Parse([]byte(text), Limits{})
		if err != nil {
			return
		}
		for _, b := range d.scan.found {
			id := b.id.of(d.data)
			if got, err := d.Edit(Edit{ID: id, Done: &done}); err != nil {
				t.Fatalf("%q: ticking %s: %v", text, id, err)
			} else if string(got.data[:b.mark]) != text[:b.mark] || string(got.data[b.mark+1:]) != text[b.mark+1:] {
				t.Fatalf("%q became %q", text, got.data)
			}
			if got, err := d.Edit(Edit{ID: id, Text: &word}); err == nil && (!strings.HasPrefix(string(got.data), text[:b.text.start]) || !strings.HasSuffix(string(got.data), text[b.text.end:])) {
				t.Fatalf("%q became %q", text, got.data)
			}
		}
		got, err := d.Edit(Edit{ID: "zz-new", Text: &word, Add: true})
		if err != nil {
			return
		}
		at := 0
		for at < len(text) && at < len(got.data) && text[at] == got.data[at] {
			at++
		}
		if !bytes.HasSuffix(got.data, []byte(text[at:])) || !strings.Contains(string(got.data), "[zz-new] "+word) {
			t.Fatalf("%q became %q", text, got.data)
		}
	})
}
