package builtin

import (
	"path"
	"slices"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/workspace"
)

// target is a path as a call names it, and where that leads.
type target struct {
	// at is the path to act on: links are followed already, so that nobody can
	// point them elsewhere between the approval and the act.
	at workspace.Path
	// name is how the caller's own path reads, relative to the root.
	name string
	// policy is the path as a policy sees it.
	policy string
	// outside is the absolute path of a file that only `read` takes, and that no
	// path of the workspace names.
	outside string
}

// follow resolves a path, its last component included.
func follow(ws *workspace.Workspace, given string) (target, error) {
	p, err := ws.Resolve(given)
	if err != nil {
		return target{}, err
	}
	return pin(ws, p), nil
}

// entry resolves a path up to its last component, which is the entry itself
// even if it is a link. The root is no entry.
func entry(ws *workspace.Workspace, given string) (target, error) {
	p, err := ws.Parse(given)
	if err != nil {
		return target{}, err
	}
	if p.ReadOnly() {
		return target{}, tools.Errorf(tools.CodePathEscape, "%s lies in a directory that may only be read", p.Rel)
	}
	if p.Rel == "." {
		return target{}, tools.Errorf(tools.CodePathEscape, "%q is the workspace root itself, which stays where it is", given)
	}
	if strings.HasSuffix(given, "/") {
		// The system lets only directories be written like that.
		if _, err := ws.Lstat(p); err != nil {
			return target{}, err
		}
	}
	parent, err := ws.Resolve("./" + path.Dir(p.Rel)) // never taken for "~" or a URI
	if err != nil {
		return target{}, err
	}
	p.Real = path.Join(parent.Real, path.Base(p.Rel))
	return pin(ws, p), nil
}

func pin(ws *workspace.Workspace, p workspace.Path) target {
	if p.ReadOnly() {
		return target{at: p, name: p.Rel, policy: ws.Abs(p)}
	}
	return target{at: workspace.Path{Rel: p.Real, Real: p.Real}, name: p.Rel, policy: p.Real}
}

// paths lists what a policy sees of targets: where they lead and, where the
// name alone already makes a file special, the name as well.
func paths(targets ...target) []string {
	var list []string
	for _, t := range targets {
		list = append(list, t.policy)
	}
	for _, t := range targets {
		if t.name != t.policy && !t.at.ReadOnly() && (tools.IsControlPath(t.name) || tools.IsSecretPath(t.name)) {
			list = append(list, t.name)
		}
	}
	return list
}

// changing is paths for a call that changes the targets. A target that a control
// file's or directory's name leads to, because that is a link, is listed under
// that name as well.
func changing(ws *workspace.Workspace, targets ...target) []string {
	list := paths(targets...)
	for _, t := range targets {
		for _, also := range ws.ControlNames(t.at) {
			if !slices.Contains(list, also) {
				list = append(list, also)
			}
		}
	}
	return list
}

// lifted names the safeguards that a call asks to go without, for the policy
// and for whoever consents.
func lifted(force, allowHardlink bool) []string {
	var options []string
	if force {
		options = append(options, "force")
	}
	if allowHardlink {
		options = append(options, "allowHardlink")
	}
	return options
}

// unmoved refuses when a path leads elsewhere than it did when the policy
// agreed. index is its place in the action.
func unmoved(call *tools.Call, index int, t target) error {
	if agreed := call.Action().Paths; index >= len(agreed) || agreed[index] != t.policy {
		return tools.Errorf(tools.CodeFileChanged, "%s leads to another file now than when the call was checked; nothing was done", t.name)
	}
	return nil
}

// changed tells the host which files are different now.
func changed(call *tools.Call, files []string) {
	if len(files) > 0 {
		call.Emit(tools.Event{Kind: tools.EventFileChanged, Paths: files})
	}
}
