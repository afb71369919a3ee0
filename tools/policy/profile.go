package policy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
)

// Profile is a set of defaults for what is allowed, asked and denied.
type Profile string

// The profiles.
const (
	// ReadOnly denies every mutation, and every process but language servers.
	ReadOnly Profile = "read-only"
	// Guarded allows what can be undone or is contained, and asks for the rest.
	Guarded Profile = "guarded"
	// Trusted allows all but control files outside of .git, force pushes and
	// merges, which ask.
	Trusted Profile = "trusted"
	// Unattended is Guarded with nobody to ask: what would ask is denied, unless
	// the user's own file lists the operation.
	Unattended Profile = "unattended"
)

// Profiles lists the profiles, strictest first.
func Profiles() []Profile { return []Profile{ReadOnly, Unattended, Guarded, Trusted} }

// ParseProfile returns the profile of that name.
func ParseProfile(name string) (Profile, error) {
	if slices.Contains(Profiles(), Profile(name)) {
		return Profile(name), nil
	}
	names := make([]string, 0, 4)
	for _, profile := range Profiles() {
		names = append(names, string(profile))
	}
	return "", tools.Errorf(tools.CodeToolInput, "there is no profile %q, only %s%s", name, strings.Join(names, ", "), tools.Nearest(name, names))
}

// StricterThan reports whether p allows less than other.
func (p Profile) StricterThan(other Profile) bool {
	return slices.Index(Profiles(), p) < slices.Index(Profiles(), other)
}

// maxQuietDeletes is how many entries a deletion takes without asking.
const maxQuietDeletes = 50

// Options are a policy's settings. The zero value is Guarded without rules.
type Options struct {
	// Profile is the set of defaults; "" means Guarded.
	Profile Profile
	// Rules are the user's: the strictest that matches counts.
	Rules []Rule
	// AllowUnattended lists operations that need no approval in Unattended.
	AllowUnattended []string
	// State is where prism-ls keeps its own state, as paths relative to the
	// workspace root, if that is inside it. No profile or rule lets a call change
	// it: consents, trust and journals would no longer be what they say.
	State []string
	// Private are those parts of the state, relative to the root as well, that hold
	// copies of files; reading them asks as reading a secret does.
	Private []string
}

// Policy is a tools.Policy of a profile and rules.
type Policy struct {
	opts  Options
	rules []*rule
}

// New checks the rules, their examples among them, and makes the policy.
func New(opts *Options) (*Policy, error) {
	p := &Policy{}
	if opts != nil {
		p.opts = *opts
	}
	if p.opts.Profile == "" {
		p.opts.Profile = Guarded
	}
	if _, err := ParseProfile(string(p.opts.Profile)); err != nil {
		return nil, err
	}
	for i, source := range p.opts.Rules {
		compiled, err := source.compile()
		if err != nil {
			return nil, tools.Errorf(tools.CodeToolInput, "rule %d: %w", i+1, err)
		}
		p.rules = append(p.rules, compiled)
	}
	return p, nil
}

// Profile returns the profile in force.
func (p *Policy) Profile() Profile { return p.opts.Profile }

// Decide gives the profile's word on the action, as the rules change it: a
// rule may forbid or ask for anything, but allow only what would have asked.
func (p *Policy) Decide(_ context.Context, action tools.Action) tools.Decision {
	if path := p.ownState(action); path != "" {
		return tools.Decision{Verdict: tools.Forbid, Reason: path + " holds or is the state of prism-ls itself"}
	}
	decision := p.byProfile(action)
	strictest := tools.Decision{}
	for _, rule := range p.rules {
		if rule.matches(action) && stricter(rule.Verdict, strictest.Verdict) {
			strictest = tools.Decision{Verdict: rule.Verdict, Reason: rule.reason()}
		}
	}
	switch {
	case strictest.Verdict == tools.Allow && decision.Verdict == tools.Ask:
		decision = strictest
	case strictest.Verdict == tools.Ask && decision.Verdict == tools.Allow, strictest.Verdict == tools.Forbid:
		decision = strictest
	}
	if decision.Verdict == tools.Ask && p.opts.Profile == Unattended && !slices.Contains(p.opts.AllowUnattended, action.Operation) {
		return tools.Decision{Verdict: tools.Forbid, Reason: decision.Reason + "; nobody attends, and the user's configuration does not list " + action.Operation}
	}
	if decision.Verdict == tools.Ask && p.opts.Profile == Unattended {
		return tools.Decision{Verdict: tools.Allow}
	}
	return decision
}

func stricter(a, b tools.Verdict) bool {
	order := []tools.Verdict{"", tools.Allow, tools.Ask, tools.Forbid}
	return slices.Index(order, a) > slices.Index(order, b)
}

func ask(format string, args ...any) tools.Decision {
	return tools.Decision{Verdict: tools.Ask, Reason: fmt.Sprintf(format, args...)}
}

func (p *Policy) byProfile(action tools.Action) tools.Decision {
	mutates := action.Mutation != tools.MutatesNothing
	switch p.opts.Profile {
	case ReadOnly:
		if mutates || action.Kind == tools.KindExecute {
			return tools.Decision{Verdict: tools.Forbid, Reason: "the profile is read-only"}
		}
		return p.secrets(action)
	case Trusted:
		return trusted(action, mutates)
	}
	return p.guarded(action, mutates)
}

// ownState returns the path of a change to prism-ls's own state. A directory
// that holds the state counts, too: moved or deleted, it takes the state along.
func (p *Policy) ownState(action tools.Action) string {
	if action.Mutation == tools.MutatesNothing || action.Kind == tools.KindExecute {
		return ""
	}
	for _, path := range action.Paths {
		for _, state := range p.opts.State {
			if within(path, state) || within(state, path) {
				return path
			}
		}
	}
	return ""
}

// within reports whether path is dir or lies in it.
func within(path, dir string) bool {
	return path == dir || dir == "." || strings.HasPrefix(path, dir+"/")
}

func trusted(action tools.Action, mutates bool) tools.Decision {
	if mutates {
		for _, path := range action.Paths {
			if tools.IsControlPath(path) && !tools.IsGitInternalPath(path) {
				return ask("%s steers what other programs run", path)
			}
		}
	}
	if action.Operation == "forge_merge" || action.Operation == "forge_push" && slices.Contains(action.Args, "--force") {
		return ask("it cannot be taken back")
	}
	return tools.Decision{Verdict: tools.Allow}
}

func (p *Policy) guarded(action tools.Action, mutates bool) tools.Decision {
	if decision := p.secrets(action); decision.Verdict != tools.Allow {
		return decision
	}
	if !mutates {
		return tools.Decision{Verdict: tools.Allow}
	}
	for _, path := range action.Paths {
		if tools.IsControlPath(path) {
			return ask("%s steers what other programs run", path)
		}
	}
	switch {
	case action.Confirm != "":
		return ask("the language server wants this confirmed: %s", action.Confirm)
	case action.Kind == tools.KindDelete && action.Recursive:
		return ask("it deletes a directory with %d entries", action.Entries)
	case action.Kind == tools.KindDelete && action.Entries > maxQuietDeletes:
		return ask("it deletes %d entries", action.Entries)
	case action.Operation == "coding_check", strings.HasPrefix(action.Operation, "git_"):
		return tools.Decision{Verdict: tools.Allow}
	case action.Kind == tools.KindExecute && !action.Contained:
		return ask("the command would run without a sandbox that holds its writes and its network")
	case action.Kind == tools.KindExecute, action.Mutation == tools.MutatesLocally:
		return tools.Decision{Verdict: tools.Allow}
	}
	return ask("its effect reaches beyond this machine")
}

func (p *Policy) secrets(action tools.Action) tools.Decision {
	for _, path := range action.Paths {
		if slices.ContainsFunc(p.opts.Private, func(dir string) bool { return within(path, dir) }) {
			return ask("%s holds copies of files that were changed", path)
		}
		if tools.IsSecretPath(path) {
			return ask("%s usually holds credentials", path)
		}
	}
	return tools.Decision{Verdict: tools.Allow}
}
