package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"mvdan.cc/sh/v3/syntax"

	"github.com/prism-ls/prism-ls/tools"
)

// Rule is one of the user's exceptions to a profile. All the conditions that
// are given must hold.
type Rule struct {
	// Verdict is allow, ask or forbid.
	Verdict tools.Verdict `toml:"verdict"`
	// Operation is a tool's name; "" is any.
	Operation string `toml:"operation"`
	// Command is the start of a simple command, word by word: "*" is any one
	// word, "a|b" is either.
	Command []string `toml:"command"`
	// Paths are globs over workspace-relative paths, at least one of which an
	// action's path matches.
	Paths []string `toml:"paths"`
	// Reason is what a person or model is told.
	Reason string `toml:"reason"`
	// Match and NotMatch are command lines or paths that the rule must and must
	// not match; they are checked when the rule is loaded.
	Match    []string `toml:"match"`
	NotMatch []string `toml:"not_match"`
}

type rule struct{ Rule }

func (r Rule) compile() (*rule, error) {
	compiled := &rule{r}
	if !slices.Contains([]tools.Verdict{tools.Allow, tools.Ask, tools.Forbid}, r.Verdict) {
		return nil, fmt.Errorf("verdict is %q, must be allow, ask or forbid", r.Verdict)
	}
	if r.Operation == "" && len(r.Command) == 0 && len(r.Paths) == 0 {
		return nil, fmt.Errorf("it has no operation, command or paths to match")
	}
	for _, glob := range r.Paths {
		if !doublestar.ValidatePattern(glob) {
			return nil, fmt.Errorf("paths: %q is not a glob", glob)
		}
	}
	if len(r.Match)+len(r.NotMatch) > 0 && len(r.Command) == 0 && len(r.Paths) == 0 {
		return nil, fmt.Errorf("match and not_match need a command or paths")
	}
	for _, example := range r.Match {
		if !compiled.matches(compiled.example(example)) {
			return nil, fmt.Errorf("its own example %q does not match", example)
		}
	}
	for _, example := range r.NotMatch {
		if compiled.matches(compiled.example(example)) {
			return nil, fmt.Errorf("its counter-example %q matches", example)
		}
	}
	return compiled, nil
}

// example makes the action that an example stands for.
func (r *rule) example(text string) tools.Action {
	action := tools.Action{Operation: r.Operation}
	if len(r.Command) > 0 {
		action.Command = text
	} else {
		action.Paths = []string{text}
	}
	return action
}

func (r *rule) reason() string {
	if r.Reason != "" {
		return r.Reason
	}
	return fmt.Sprintf("a rule says %s", r.Verdict)
}

func (r *rule) matches(action tools.Action) bool {
	if r.Operation != "" && r.Operation != action.Operation {
		return false
	}
	if len(r.Paths) > 0 && !r.matchesPath(action.Paths) {
		return false
	}
	return len(r.Command) == 0 || r.matchesCommand(action)
}

// matchesPath is strict in the direction of safety: an allowing rule must
// cover all the paths, any other rule is met by one.
func (r *rule) matchesPath(paths []string) bool {
	covered := func(path string) bool {
		return slices.ContainsFunc(r.Paths, func(glob string) bool { return doublestar.MatchUnvalidated(glob, path) })
	}
	if r.Verdict == tools.Allow {
		return len(paths) > 0 && !slices.ContainsFunc(paths, func(path string) bool { return !covered(path) })
	}
	return slices.ContainsFunc(paths, covered)
}

func (r *rule) matchesCommand(action tools.Action) bool {
	if action.Command == "" {
		return false
	}
	if len(action.Args) > 0 {
		return r.matchesWords(append([]string{action.Command}, action.Args...))
	}
	commands, simple, err := parseCommand(action.Command)
	if err != nil { // bash runs the lines before the one that does not parse
		return r.Verdict != tools.Allow
	}
	if r.Verdict == tools.Allow {
		return simple && len(commands) == 1 && r.matchesWords(commands[0])
	}
	return slices.ContainsFunc(commands, r.matchesWords)
}

// unknown stands for a word that only the shell can work out.
const unknown = "\x00"

func (r *rule) matchesWords(words []string) bool {
	if len(words) < len(r.Command) {
		return false
	}
	for i, pattern := range r.Command {
		if pattern == "*" || words[i] == unknown && r.Verdict != tools.Allow {
			continue
		}
		if !slices.Contains(strings.Split(pattern, "|"), words[i]) {
			return false
		}
	}
	return true
}

// parseCommand returns the words of every simple command in a command line,
// and whether the line is nothing but simple commands: no expansion,
// redirection, assignment or compound.
func parseCommand(line string) (commands [][]string, simple bool, err error) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		return nil, false, err
	}
	simple = len(file.Stmts) == 1
	syntax.Walk(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.Stmt:
			if len(n.Redirs) > 0 || n.Negated || n.Background || n.Coprocess {
				simple = false
			}
		case *syntax.CallExpr:
			if len(n.Assigns) > 0 {
				simple = false
			}
			words := make([]string, 0, len(n.Args))
			for _, word := range n.Args {
				text, literal := wordText(word)
				if !literal {
					text, simple = unknown, false
				}
				words = append(words, text)
			}
			if len(words) > 0 {
				commands = append(commands, words)
			}
		case syntax.Command:
			simple = false
		}
		return true
	})
	return commands, simple, nil
}

// wordText returns what a word says when nothing in it is expanded.
func wordText(word *syntax.Word) (string, bool) {
	var text strings.Builder
	for _, part := range word.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, "*?[~\\{") {
				return "", false
			}
			text.WriteString(p.Value)
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", false
			}
			text.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				literal, ok := inner.(*syntax.Lit)
				if !ok || strings.ContainsRune(literal.Value, '\\') {
					return "", false
				}
				text.WriteString(literal.Value)
			}
		default:
			return "", false
		}
	}
	return text.String(), true
}
