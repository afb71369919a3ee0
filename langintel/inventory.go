package langintel

import (
	"context"
	"slices"

	"github.com/prism-ls/prism-ls/tools"
)

// ServerInfo is one server of the catalogue as it stands in this workspace.
type ServerInfo struct {
	Name      string
	Title     string
	Group     string // servers that stand for each other; "" for one that stands alone
	Lint      bool
	Languages []string
	Pinned    string // the version that an installation has; "" where the system's counts
	Installer string // what prism-ls would install it with: go install, npm, apt-get; "" for none
	// Program is what would run, at Root, and From where it was found: configured,
	// local, path or installed. Both are empty for a server that is not there.
	Program, From, Root string
	// Present: files of this workspace are in its languages. Serves: it is the one
	// that serves them.
	Present, Serves bool
	// Missing is why it cannot start, and Remedy what a person does about that; How
	// is how a person gets it, also when it is there.
	Missing, Remedy, How string
	// Degraded is why it knows less than it could.
	Degraded string
}

// Inventory tells of every server of the catalogue, in its order: whether it is
// there, and whether it serves this workspace. It starts and installs nothing.
func (c *Client) Inventory(ctx context.Context) ([]ServerInfo, error) {
	var out []ServerInfo
	examples := c.examples()
	for i := range c.opts.Servers {
		if err := ctx.Err(); err != nil {
			return nil, tools.AsError(err)
		}
		out = append(out, c.inspect(ctx, &c.opts.Servers[i], examples))
	}
	return out, nil
}

func (c *Client) inspect(ctx context.Context, spec *Spec, examples []example) ServerInfo {
	info := ServerInfo{Name: spec.Name, Title: spec.title(), Group: spec.Group, Lint: spec.Lint, Languages: spec.languages(), Root: ".", How: spec.remedy()}
	if spec.Install != nil {
		info.Pinned = spec.Install.Version
	}
	if spec.Install != nil && spec.Install.byUs() {
		info.Installer = spec.Install.client()
	}
	for _, example := range examples {
		if example.spec != spec {
			continue
		}
		info.Present = true
		if slices.ContainsFunc(c.choices(example.file), func(o choice) bool { return o.spec == spec }) {
			info.Serves, info.Root = true, example.root
			break
		}
	}
	info.Program, info.From = c.locate(ctx, spec, info.Root)
	if info.Program == "" && c.namesTool(spec, info.Root) {
		info.Program, info.From = "go tool "+spec.Program, fromLocal
	}
	c.lacks(spec, &info)
	if spec.Degraded != nil && info.Present && info.Missing == "" {
		info.Degraded = oneLine(spec.Degraded(c.projectOf(&server{client: c, spec: spec, root: info.Root}, info.Program)), 500)
	}
	return info
}

// lacks says what keeps a server from starting.
func (c *Client) lacks(spec *Spec, info *ServerInfo) {
	needs := ""
	if info.From != "" {
		needs = interpreter(info.Program)
	}
	_, have := c.lookPath(needs)
	switch {
	case c.permitted(spec) != nil:
		info.Missing, info.Remedy = "the workspace is not trusted: "+spec.RunsCode, "prism-ls trust"
	case info.From == "" && c.installsUnasked(spec):
		info.Remedy = "it is installed when it is first needed"
	case info.From == "":
		info.Missing, info.Remedy = "there is no "+spec.Program+" in PATH", spec.remedy()
	case needs != "" && !have:
		info.Missing, info.Remedy = needs+" is not in PATH", "install "+needs
	}
}

func (s *Spec) title() string {
	if s.Title == "" {
		return s.Name
	}
	return s.Title
}
