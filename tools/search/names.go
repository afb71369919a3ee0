package search

import (
	"cmp"
	"slices"
	"strings"
)

// names is one directory of the tree that git's list of paths spells out.
type names struct {
	files []string
	dirs  []namedDir
	// complete says that git has named every file here that it does not ignore;
	// otherwise only the tracked ones.
	complete bool
}

type namedDir struct {
	name string
	// nested says that git reported the directory itself ("name/"): another
	// repository, whose content git does not list.
	nested bool
	*names
}

// parseNames builds the tree from git's NUL-separated output. The paths come
// sorted, so that those of one directory stand together.
func parseNames(output []byte) *names {
	root := &names{}
	type level struct {
		prefix string
		*names
	}
	stack := []level{{"", root}}
	text := string(output)
	for len(text) > 0 {
		path, rest, _ := strings.Cut(text, "\x00")
		text = rest
		for !strings.HasPrefix(path, stack[len(stack)-1].prefix) {
			stack = stack[:len(stack)-1]
		}
		top := stack[len(stack)-1]
		at := len(top.prefix)
		for {
			slash := strings.IndexByte(path[at:], '/')
			if slash < 0 {
				break
			}
			name := path[at : at+slash]
			at += slash + 1
			child := top.enter(name)
			if at == len(path) {
				child.nested = true
				break
			}
			top = level{path[:at], child.names}
			stack = append(stack, top)
		}
		if at < len(path) {
			top.add(path[at:])
		}
	}
	root.sort()
	return root
}

// add appends a file; an unmerged path comes up to three times in a row.
func (n *names) add(name string) {
	if last := len(n.files) - 1; last < 0 || n.files[last] != name {
		n.files = append(n.files, name)
	}
}

func (n *names) enter(name string) *namedDir {
	if last := len(n.dirs) - 1; last >= 0 && n.dirs[last].name == name {
		return &n.dirs[last]
	}
	n.dirs = append(n.dirs, namedDir{name: name, names: &names{}})
	return &n.dirs[len(n.dirs)-1]
}

// sort puts directories in the order of their names. git compares whole paths,
// where the slash behind a name counts, and so may have "a-b/" before "a/".
func (n *names) sort() {
	slices.SortFunc(n.dirs, func(a, b namedDir) int { return cmp.Compare(a.name, b.name) })
	slices.Sort(n.files)
	for _, dir := range n.dirs {
		dir.sort()
	}
}

func (n *names) empty() bool { return n == nil || len(n.files) == 0 && len(n.dirs) == 0 }

func (n *names) hasFile(name string) bool {
	if n == nil {
		return false
	}
	_, found := slices.BinarySearch(n.files, name)
	return found
}

func (n *names) dir(name string) (namedDir, bool) {
	if n == nil {
		return namedDir{}, false
	}
	at, found := slices.BinarySearchFunc(n.dirs, name, func(d namedDir, name string) int { return cmp.Compare(d.name, name) })
	if !found {
		return namedDir{}, false
	}
	return n.dirs[at], true
}

// setComplete says of the whole tree that what it does not name is ignored.
func (n *names) setComplete() {
	n.complete = true
	for _, dir := range n.dirs {
		dir.setComplete()
	}
}

// at returns the directory that a slash-separated path leads to.
func (n *names) at(prefix string) *names {
	for part := range strings.SplitSeq(strings.TrimSuffix(prefix, "/"), "/") {
		if part == "" {
			break
		}
		next, ok := n.dir(part)
		if !ok {
			return nil
		}
		n = next.names
	}
	return n
}
