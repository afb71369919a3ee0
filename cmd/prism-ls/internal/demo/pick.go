package demo

import (
	"cmp"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// candidate is a symbol worth renaming: declared once, and used in a handful of
// files.
type candidate struct {
	name string
	file string // relative to the root
	line int
	used int    // files that hold the word
	text string // how the declaration starts
	user string // another file with a reference, once that is known
}

// fewest and most files that a good symbol is used in; ideal is in between.
const (
	fewest = 3
	most   = 15
	ideal  = 6
)

// pick returns candidates, best first, in an order that depends on the files
// alone.
func pick(root string) ([]candidate, error) {
	declaration := regexp.MustCompile(`^(?:func|type) ([A-Z][A-Za-z0-9]{3,})\b`)
	word := regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)
	// Platform files are not part of every build, so no server sees all of them.
	platform := regexp.MustCompile(`_(?:windows|linux|darwin|unix|other|wasm|js|plan9|freebsd)(?:_[a-z0-9]+)?(?:_test)?\.go$`)
	words := map[string]int{}
	declared := map[string][]candidate{}
	mixed := map[string]bool{} // directories with platform files
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".go") {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if platform.MatchString(rel) || strings.Contains(string(text), "//go:build ") {
			mixed[path.Dir(rel)] = true
		}
		seen := map[string]bool{}
		for _, w := range word.FindAllString(string(text), -1) {
			if !seen[w] {
				seen[w] = true
				words[w]++
			}
		}
		if strings.HasSuffix(rel, "_test.go") || strings.Contains("/"+rel, "/testdata/") || strings.Contains("/"+rel, "/vendor/") {
			return nil
		}
		for i, line := range strings.Split(string(text), "\n") {
			if match := declaration.FindStringSubmatch(line); match != nil {
				declared[match[1]] = append(declared[match[1]], candidate{name: match[1], file: rel, line: i + 1, text: match[0]})
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var good []candidate
	for name, list := range declared {
		c := list[0]
		c.used = words[name]
		if len(list) == 1 && c.used >= fewest && c.used <= most && words[name+suffix] == 0 && !mixed[path.Dir(c.file)] {
			good = append(good, c)
		}
	}
	slices.SortFunc(good, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(distance(a), distance(b)), cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line))
	})
	return good, nil
}

func distance(c candidate) int { return max(c.used-ideal, ideal-c.used) }
