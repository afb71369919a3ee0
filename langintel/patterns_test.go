package langintel

import (
	"slices"
	"testing"
)

// The index finds what trying every pattern finds, for the whole catalogue.
func TestPatternsFindWhatTheCatalogueSays(t *testing.T) {
	servers := Catalogue()
	index := newPatterns(servers)
	files := []string{"a/b.go", "go.mod", "x/Dockerfile", "Dockerfile.dev", "tsconfig.json", ".bashrc", "a.d.ts", "noending", ".hidden.", "CMakeLists.txt"}
	for _, spec := range servers {
		for _, language := range spec.Languages {
			for _, pattern := range language.Patterns {
				files = append(files, "d/x"+pattern, "d/"+pattern)
			}
		}
	}
	for _, file := range files {
		var want, got []string
		for i := range servers {
			if servers[i].language(file) != "" {
				want = append(want, servers[i].Name)
			}
		}
		for _, spec := range index.specs(file) {
			got = append(got, spec.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}
