// Package wording puts into words what a person is asked, the same on every
// surface. Whatever comes from a workspace or a model is made visible first.
package wording

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/prism-ls/prism-ls/tools"
)

const (
	maxShown = 2000 // bytes of one text
	maxPaths = 10
)

// Action says in a few lines what an action would do, and why it asks.
func Action(action tools.Action, reason string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s needs your approval (%s).", Visible(action.Operation), Visible(reason))
	if action.Command != "" {
		fmt.Fprintf(&text, "\nCommand: %s", Visible(strings.Join(append([]string{action.Command}, action.Args...), " ")))
	}
	for i, path := range action.Paths {
		if i == maxPaths {
			fmt.Fprintf(&text, "\n… and %d more paths", len(action.Paths)-i)
			break
		}
		fmt.Fprintf(&text, "\nPath: %s", Visible(path))
	}
	if len(action.Env) > 0 {
		fmt.Fprintf(&text, "\nEnvironment: %s", Visible(strings.Join(action.Env, " ")))
	}
	if action.Confirm != "" {
		fmt.Fprintf(&text, "\nThe language server wants confirmed: %s", Visible(action.Confirm))
	}
	if len(action.Options) > 0 {
		fmt.Fprintf(&text, "\nWith: %s", Visible(strings.Join(action.Options, ", ")))
	}
	if action.Entries > 0 {
		fmt.Fprintf(&text, "\nFiles and directories: %d", action.Entries)
	}
	if action.Root != "" {
		fmt.Fprintf(&text, "\nIn: %s", Visible(action.Root))
	}
	return text.String()
}

// Question is the text of a choice, with its options and what speaks for and
// against each.
func Question(question tools.Question) string {
	var text strings.Builder
	text.WriteString(Visible(question.Text))
	for _, option := range question.Options {
		fmt.Fprintf(&text, "\n\n%s: %s", Visible(option.ID), Visible(option.Label))
		for _, pro := range option.Pros {
			fmt.Fprintf(&text, "\n  + %s", Visible(pro))
		}
		for _, con := range option.Cons {
			fmt.Fprintf(&text, "\n  - %s", Visible(con))
		}
	}
	return text.String()
}

// Visible spells out what could make a screen show something else than is
// there: control characters, marks of text direction, and what has no width.
func Visible(text string) string {
	cut := ""
	if len(text) > maxShown {
		text, cut = strings.ToValidUTF8(text[:maxShown], ""), fmt.Sprintf(" … (%d bytes in all)", len(text))
	}
	var out strings.Builder
	for _, r := range text {
		if unicode.IsPrint(r) {
			out.WriteRune(r)
		} else {
			fmt.Fprintf(&out, "\\u%04x", r)
		}
	}
	return out.String() + cut
}
