package builtin_test

import (
	"encoding/json"
	"testing"

	"github.com/prism-ls/prism-ls/tools/builtin"
)

// TestSchemaSize measures what every conversation pays for the core tools.
func TestSchemaSize(t *testing.T) {
	h := newHost(t, nil)
	total := 0
	for _, tool := range h.registry.Tools() {
		text, err := json.Marshal(struct {
			Name, Description string
			InputSchema       json.RawMessage
		}{tool.Spec().Name, tool.Spec().Description, tool.InputSchema()})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%-18s %5d bytes", tool.Spec().Name, len(text))
		total += len(text)
	}
	const most = 9 << 10
	if total > most {
		t.Errorf("names, descriptions and schemas of the core tools have %d bytes, at most %d", total, most)
	}
	t.Logf("%-18s %5d bytes", "together", total)
}

func TestLists(t *testing.T) {
	h := newHost(t, nil)
	for _, c := range []struct {
		name string
		list func(*builtin.Deps) (int, error)
		want int
	}{
		{"Core", func(d *builtin.Deps) (int, error) { l, err := builtin.Core(d); return len(l), err }, 11},
		{"Default", func(d *builtin.Deps) (int, error) { l, err := builtin.Default(d); return len(l), err }, 9},
		{"ReadOnly", func(d *builtin.Deps) (int, error) { l, err := builtin.ReadOnly(d); return len(l), err }, 4},
	} {
		if got, err := c.list(h.deps); err != nil || got != c.want {
			t.Errorf("%s has %d tools, want %d (%v)", c.name, got, c.want, err)
		}
	}
}
