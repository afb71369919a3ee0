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

// anyName stands for the name of an entry of a map of tables.
const anyName = "NAME"

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
		case field.Type.Kind() == reflect.Map && field.Type.Elem().Kind() == reflect.Struct:
			into[name+"."+anyName] = key{name: name + "." + anyName, kind: field.Type.Elem()}
			collectKeys(field.Type.Elem(), name+"."+anyName+".", into)
		}
	}
}

// lookup returns the key of exactly that spelling. One below a map is the map's:
// of a map of tables the entry's, of one of anything at whatever depth.
func lookup(name toml.Key) (key, bool) {
	known := keys()
	if found, ok := known[strings.Join(name, ".")]; ok {
		return found, true
	}
	for i := len(name) - 1; i > 0; i-- {
		found, ok := known[strings.Join(name[:i], ".")]
		if !ok || found.kind.Kind() != reflect.Map {
			continue
		}
		switch found.kind.Elem().Kind() {
		case reflect.Struct:
			if name[i] != anyName {
				general := slices.Clone(name)
				general[i] = anyName
				return lookup(general)
			}
		case reflect.Interface:
			return found, true
		default:
			return found, i == len(name)-1
		}
	}
	return key{}, false
}

// nearestKey suggests a known key of the same table, else of any.
func nearestKey(unknown toml.Key) string {
	table := strings.Join(unknown[:len(unknown)-1], ".")
	var near, all []string
	known := keys()
	if len(unknown) > 3 { // within an entry of a map of tables
		general := slices.Clone(unknown)
		general[len(general)-2] = anyName
		if parent := strings.Join(general[:len(general)-1], "."); known[parent].kind != nil {
			table = parent
		}
	}
	for name := range known {
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
