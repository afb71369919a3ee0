package langintel

import (
	"bytes"
	"maps"
	"path/filepath"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/prism-ls/prism-ls/tools"
)

// Override changes one server of a catalogue, as a host's configuration says.
type Override struct {
	// Disabled takes the server out.
	Disabled bool
	// Command is the program, as an absolute path or a name in PATH, and its
	// arguments; nil: the catalogue's.
	Command []string
	// Settings go over the server's own: objects merge, all else replaces. They are
	// a person's word, and may say what the catalogue keeps from a workspace that is
	// not trusted.
	Settings jsontext.Value
	// Prefer puts the server before the others of its group.
	Prefer bool
}

// Overridden returns a catalogue with changes by the servers' names. A name that
// no server has is refused with the nearest.
func Overridden(catalogue []Spec, changes map[string]Override) ([]Spec, error) {
	names := make([]string, 0, len(catalogue))
	for i := range catalogue {
		names = append(names, catalogue[i].Name)
	}
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		if !slices.Contains(names, name) {
			return nil, tools.Errorf(tools.CodeToolInput, "no language server is called %q%s", oneLine(name, 80), tools.Nearest(name, names))
		}
	}
	var preferred, out []Spec
	for _, spec := range catalogue {
		change := changes[spec.Name]
		if change.Disabled {
			continue
		}
		if err := change.apply(&spec); err != nil {
			return nil, err
		}
		if change.Prefer {
			preferred = append(preferred, spec)
		} else {
			out = append(out, spec)
		}
	}
	return append(preferred, out...), nil
}

func (o *Override) apply(spec *Spec) error {
	if len(o.Command) > 0 {
		program := o.Command[0]
		if !filepath.IsAbs(program) && program != filepath.Base(program) {
			return tools.Errorf(tools.CodeToolInput, "the command of %s is %q, must be an absolute path or a name in PATH", spec.Name, oneLine(program, 200))
		}
		// Whoever names the program does not want another.
		spec.Program, spec.Args = program, o.Command[1:]
		spec.Local, spec.Aliases, spec.Install, spec.Probe = nil, nil, nil, nil
	}
	if o.Settings == nil {
		return nil
	}
	if !isObject(o.Settings) {
		return tools.Errorf(tools.CodeToolInput, "the settings of %s must be a table", spec.Name)
	}
	configure, own, settings := spec.Configure, spec.Settings, o.Settings
	spec.Configure = func(p Project) (jsontext.Value, error) {
		base := own
		if configure != nil {
			var err error
			if base, err = configure(p); err != nil {
				return nil, err
			}
		}
		return mergeSettings(base, settings)
	}
	return nil
}

func isObject(value jsontext.Value) bool {
	return value.IsValid() && value.Kind() == '{'
}

// mergeSettings puts one JSON value over another.
func mergeSettings(base, over jsontext.Value) (jsontext.Value, error) {
	if len(base) == 0 || !isObject(base) || !isObject(over) {
		return bytes.Clone(over), nil
	}
	var under, above map[string]jsontext.Value
	if err := json.Unmarshal(base, &under); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(over, &above); err != nil {
		return nil, err
	}
	for name, value := range above {
		merged, err := mergeSettings(under[name], value)
		if err != nil {
			return nil, err
		}
		under[name] = merged
	}
	return json.Marshal(under, json.Deterministic(true))
}
