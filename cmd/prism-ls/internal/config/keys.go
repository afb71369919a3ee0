package config

import (
	"reflect"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/prism-ls/prism-ls/tools"
)

// key is one key of the configuration.
type key struct {
	name, doc, who string
	kind           reflect.Type
}

// settable tells a key from a table of keys.
func (k key) settable() bool { return k.who != "" }

// keys returns every key by its dotted name, derived from Settings.
func keys() map[string]key {
	found := map[string]key{}
	collectKeys(reflect.TypeFor[Settings](), "", found)
	return found
}

func collectKeys(t reflect.Type, prefix string, into map[string]key) {
	for i := range t.NumField() {
		field := t.Field(i)
		name := prefix + field.Tag.Get("toml")
		into[name] = key{name, field.Tag.Get("doc"), field.Tag.Get("who"), field.Type}
		switch {
		case field.Type.Kind() == reflect.Struct:
			collectKeys(field.Type, name+".", into)
		case field.Type.Kind() == reflect.Slice && field.Type.Elem().Kind() == reflect.Struct:
			collectKeys(field.Type.Elem(), name+".", into)
		}
	}
}

// lookup returns the key of exactly that spelling; one below a map is the map's.
func lookup(name toml.Key) (key, bool) {
	known := keys()
	if found, ok := known[strings.Join(name, ".")]; ok {
		return found, true
	}
	found, ok := known[strings.Join(name[:len(name)-1], ".")]
	return found, ok && found.kind.Kind() == reflect.Map
}

// nearestKey suggests a known key of the same table, else of any.
func nearestKey(unknown toml.Key) string {
	table := strings.Join(unknown[:len(unknown)-1], ".")
	var near, all []string
	for name := range keys() {
		parent, last := "", name
		if i := strings.LastIndexByte(name, '.'); i >= 0 {
			parent, last = name[:i], name[i+1:]
		}
		all = append(all, last)
		if parent == table {
			near = append(near, last)
		}
	}
	slices.Sort(all)
	if hint := tools.Nearest(unknown[len(unknown)-1], near); hint != "" {
		return hint
	}
	return tools.Nearest(unknown[len(unknown)-1], slices.Compact(all))
}
