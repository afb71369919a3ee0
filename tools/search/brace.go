package search

import (
	"strings"

	"github.com/prism-ls/prism-ls/tools"
)

// braceIn reports whether a glob has braces that are meant as such: neither
// escaped nor in a class.
func braceIn(text string) (opening, closing bool) {
	eachPlain(text, func(_ int, b byte) {
		opening = opening || b == '{'
		closing = closing || b == '}'
	})
	return opening, closing
}

// eachPlain visits the bytes of a glob that are neither escaped nor in a class.
func eachPlain(text string, visit func(at int, b byte)) {
	class := false
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case b == '\\':
			i++
		case class:
			class = b != ']'
		case b == '[':
			class = strings.IndexByte(text[i:], ']') > 0
		default:
			visit(i, b)
		}
	}
}

// expandBraces writes out every choice of a glob's {a,b} groups. Groups that
// are nested, not balanced, or have an empty alternative are refused, and so
// is an expansion of more than 128 globs or 4 096 bytes in all.
func expandBraces(text string) ([]string, error) {
	parts, err := braceParts(text)
	if err != nil {
		return nil, err
	}
	globs := []string{""}
	for _, choices := range parts {
		if len(globs)*len(choices) > maxAlternatives {
			return nil, tools.Errorf(tools.CodeToolInput, "the braces of %q expand to more than %d patterns", text, maxAlternatives)
		}
		next := make([]string, 0, len(globs)*len(choices))
		total := 0
		for _, head := range globs {
			for _, choice := range choices {
				total += len(head) + len(choice)
				next = append(next, head+choice)
			}
		}
		if total > maxExpandedLength {
			return nil, tools.Errorf(tools.CodeToolInput, "the braces of %q expand to more than %d bytes", text, maxExpandedLength)
		}
		globs = next
	}
	return globs, nil
}

// braceParts cuts a glob into its fixed pieces (one choice) and its groups.
func braceParts(text string) (parts [][]string, err error) {
	refuse := func(what string) {
		if err == nil {
			err = tools.Errorf(tools.CodeToolInput, "the braces of %q are %s: write {a,b}, side by side", text, what)
		}
	}
	from, open := 0, -1
	var choices []string
	eachPlain(text, func(at int, b byte) {
		switch {
		case b == '{' && open >= 0:
			refuse("nested")
		case b == '{':
			parts = append(parts, []string{text[from:at]})
			open, from, choices = at, at+1, nil
		case b == '}' && open < 0:
			refuse("not balanced")
		case (b == '}' || b == ',') && open >= 0:
			if at == from {
				refuse("missing an alternative")
			}
			choices, from = append(choices, text[from:at]), at+1
			if b == '}' {
				parts, open = append(parts, choices), -1
			}
		}
	})
	if open >= 0 {
		refuse("not balanced")
	}
	return append(parts, []string{text[from:]}), err
}
