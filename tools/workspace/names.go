package workspace

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
)

// ControlNames returns the names of control files (tools.IsControlPath) by which
// p is changed as well, because a link with a control file's or directory's name
// leads to it or above it. A policy has to see them beside p's own. p is as
// [Workspace.Resolve] gives it.
func (w *Workspace) ControlNames(p Path) []string {
	var list []string
	for _, name := range tools.ControlNames() {
		info, err := w.Lstat(Path{Rel: name, Real: name})
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		led, err := w.Resolve("./" + name)
		if err != nil {
			continue // it leads nowhere that can be written
		}
		rest, below := strings.CutPrefix(p.Real+"/", led.Real+"/")
		if also := path.Join(name, rest); below && !slices.Contains(list, also) {
			list = append(list, also)
		}
	}
	return list
}
