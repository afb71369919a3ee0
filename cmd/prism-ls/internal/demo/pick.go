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
	deep int    // files that import the package
	text string // how the declaration starts
	user string // another file with a reference, once that is known
}

// fewest and most files that a good symbol is used in; ideal is in between.
const (
	fewest = 3
	most   = 15
	ideal  = 6
)

// census counts, as text, what the Go files of a tree declare and use.
type census struct {
	declaration, word, imported, platform *regexp.Regexp

	words    map[string]int // identifier → files that hold it
	imports  map[string]int // end of an import path → files that import it
	mixed    map[string]bool
	declared map[string][]candidate
}

func newCensus() *census {
	return &census{
		declaration: regexp.MustCompile(`^(?:func|type) ([A-Z][A-Za-z0-9]{3,})\b`),
		word:        regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`),
		imported:    regexp.MustCompile(`(?m)^(?:import )?\t?(?:[\w.]+ )?"([\w./~-]+)"$`),
		// Platform files are not part of every build, so no server sees all of them.
		platform: regexp.MustCompile(`_(?:windows|linux|darwin|unix|other|wasm|js|plan9|freebsd)(?:_[a-z0-9]+)?(?:_test)?\.go$`),
		words:    map[string]int{}, imports: map[string]int{}, mixed: map[string]bool{}, declared: map[string][]candidate{},
	}
}

// pick returns candidates, best first, in an order that depends on the files
// alone.
func pick(root string) ([]candidate, error) {
	c := newCensus()
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
		c.count(filepath.ToSlash(rel), string(text))
		return nil
	})
	return c.best(), err
}

func (c *census) count(rel, text string) {
	if c.platform.MatchString(rel) || strings.Contains(text, "//go:build ") {
		c.mixed[path.Dir(rel)] = true
	}
	for _, match := range c.imported.FindAllStringSubmatch(text, -1) {
		for end := match[1]; end != ""; {
			c.imports[end]++
			_, end, _ = strings.Cut(end, "/")
		}
	}
	seen := map[string]bool{}
	for _, word := range c.word.FindAllString(text, -1) {
		if !seen[word] {
			seen[word] = true
			c.words[word]++
		}
	}
	if strings.HasSuffix(rel, "_test.go") || strings.Contains("/"+rel, "/testdata/") || strings.Contains("/"+rel, "/vendor/") {
		return
	}
	for i, line := range strings.Split(text, "\n") {
		if match := c.declaration.FindStringSubmatch(line); match != nil {
			c.declared[match[1]] = append(c.declared[match[1]], candidate{name: match[1], file: rel, line: i + 1, text: match[0]})
		}
	}
}

func (c *census) best() []candidate {
	var good []candidate
	for name, list := range c.declared {
		one := list[0]
		dir := path.Dir(one.file)
		one.used, one.deep = c.words[name], c.imports[dir]
		if len(list) == 1 && one.used >= fewest && one.used <= most && c.words[name+suffix] == 0 && !c.mixed[dir] {
			good = append(good, one)
		}
	}
	slices.SortFunc(good, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.distance(), b.distance()), cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line))
	})
	return good
}

// distance from a good candidate: used in a few files, of a package that not
// everything is built on, so that what follows is quick.
func (c candidate) distance() int { return max(c.used-ideal, ideal-c.used) + c.deep/2 }
