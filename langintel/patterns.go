package langintel

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// patterns finds the specs that serve a file without trying each pattern of the
// catalogue: most are an ending or a whole name.
type patterns struct {
	order   map[*Spec]int
	endings map[string][]*Spec // ".go"
	names   map[string][]*Spec // "go.mod"
	globs   []patternSpec
}

type patternSpec struct {
	pattern string
	spec    *Spec
}

func newPatterns(servers []Spec) *patterns {
	p := &patterns{order: map[*Spec]int{}, endings: map[string][]*Spec{}, names: map[string][]*Spec{}}
	for i := range servers {
		spec := &servers[i]
		p.order[spec] = i
		for _, language := range spec.Languages {
			for _, pattern := range language.Patterns {
				p.add(pattern, spec)
			}
		}
	}
	return p
}

func (p *patterns) add(pattern string, spec *Spec) {
	const special = "*?[]{}\\!"
	ending, isEnding := strings.CutPrefix(pattern, "*.")
	switch {
	case !strings.ContainsAny(pattern, special):
		p.names[pattern] = append(p.names[pattern], spec)
	case isEnding && !strings.ContainsAny(ending, special+"."):
		p.endings["."+ending] = append(p.endings["."+ending], spec)
	default:
		p.globs = append(p.globs, patternSpec{pattern, spec})
	}
}

// specs returns those that serve a file, in the catalogue's order.
func (p *patterns) specs(file string) []*Spec {
	base := path.Base(file)
	out := slices.Concat(p.endings[path.Ext(base)], p.names[base])
	for _, g := range p.globs {
		if doublestar.MatchUnvalidated(g.pattern, base) {
			out = append(out, g.spec)
		}
	}
	slices.SortFunc(out, func(a, b *Spec) int { return p.order[a] - p.order[b] })
	return slices.Compact(out)
}

func (p *patterns) rank(spec *Spec) int { return p.order[spec] }
