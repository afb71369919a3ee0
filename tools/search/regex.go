package search

import (
	"bytes"
	"io"
	"regexp"
	"regexp/syntax"
	"slices"
	"sync/atomic"
	"unicode/utf8"

	"github.com/prism-ls/prism-ls/tools"
)

const (
	// maxInstructions bounds a compiled expression. The engine's time is
	// proportional to its length times the text's.
	maxInstructions = 10_000
	// watchedWork is the product of instructions and bytes above which a line is
	// matched letter by letter, so that it can be given up in between.
	watchedWork = 1 << 20
	// minRequired is the shortest required text worth looking for first.
	minRequired = 2
)

// expression finds a regular expression (RE2 syntax) in single lines.
type expression struct {
	re           *regexp.Regexp
	instructions int
	group        int // the submatch that is the match: 1 with word borders
	// required is a text that every match holds; nil when there is none.
	required *literal
}

// newExpression compiles a caller's expression, within bounds.
func newExpression(text string, fold, word bool) (*expression, error) {
	flags := syntax.Perl
	if fold {
		flags |= syntax.FoldCase
	}
	parsed, err := syntax.Parse(text, flags)
	if err != nil {
		return nil, tools.Errorf(tools.CodeToolInput, "the query is not a regular expression (RE2 syntax): %w", err)
	}
	x := &expression{}
	if run, folded := requiredText(parsed.Simplify()); len(string(run)) >= minRequired {
		x.required = newLiteral(string(run), folded)
	}
	full := "(?:" + text + ")"
	if word {
		const border = `[^\pL\pM\p{Nd}\p{Pc}]`
		full, x.group = "(?:^|"+border+")("+text+")(?:$|"+border+")", 1
	}
	if fold {
		full = "(?i)" + full
	}
	program, err := CompileProgram(full, syntax.Perl)
	if err != nil {
		return nil, err
	}
	x.instructions = len(program.Inst)
	x.re, err = regexp.Compile(full)
	if err != nil {
		return nil, tools.Errorf(tools.CodeToolInput, "the query is not a regular expression (RE2 syntax): %w", err)
	}
	return x, nil
}

// CompileProgram compiles an expression (RE2 syntax) for an engine of the caller's,
// bounded so that its time is: the error is CodeToolInput if it is none, or too
// large.
func CompileProgram(text string, flags syntax.Flags) (*syntax.Prog, error) {
	parsed, err := syntax.Parse(text, flags)
	if err != nil {
		return nil, tools.Errorf(tools.CodeToolInput, "the query is not a regular expression (RE2 syntax): %w", err)
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil || len(program.Inst) > maxInstructions {
		return nil, tools.Errorf(tools.CodeToolInput, "the regular expression is too large: at most %d instructions; use fewer or smaller repetitions", maxInstructions)
	}
	return program, nil
}

// requiredText is the longest literal that every match must hold.
func requiredText(re *syntax.Regexp) (text []rune, fold bool) {
	var run []rune
	runFold := false
	for _, piece := range pieces(nil, re) {
		folded := piece.Flags&syntax.FoldCase != 0
		switch {
		case piece.Op != syntax.OpLiteral:
			run = nil
			if inner, innerFold := requiredInside(piece); len(inner) > len(text) {
				text, fold = inner, innerFold
			}
			continue
		case len(run) == 0 || folded == runFold:
			run = append(run, piece.Rune...)
		default:
			run = slices.Clone(piece.Rune)
		}
		if runFold = folded; len(run) > len(text) {
			text, fold = slices.Clone(run), runFold
		}
	}
	return text, fold
}

// requiredInside looks into what must be there at least once.
func requiredInside(re *syntax.Regexp) (text []rune, fold bool) {
	if re.Op == syntax.OpPlus || re.Op == syntax.OpRepeat && re.Min > 0 {
		return requiredText(re.Sub[0])
	}
	return nil, false
}

// pieces takes concatenations and groups apart: what follows one another in
// every match.
func pieces(list []*syntax.Regexp, re *syntax.Regexp) []*syntax.Regexp {
	if re.Op != syntax.OpConcat && re.Op != syntax.OpCapture {
		return append(list, re)
	}
	for _, sub := range re.Sub {
		list = pieces(list, sub)
	}
	return list
}

// find returns the first match in the line, which has no line end.
func (x *expression) find(line []byte, quit *atomic.Bool) (start, end int, ok bool) {
	var at []int
	if x.instructions*len(line) <= watchedWork {
		at = x.re.FindSubmatchIndex(line)
	} else {
		at = x.re.FindReaderSubmatchIndex(&watched{line, quit})
	}
	if at == nil || quit.Load() {
		return 0, 0, false
	}
	return at[2*x.group], at[2*x.group+1], true
}

// watched gives a line's letters until it is told to quit.
type watched struct {
	rest []byte
	quit *atomic.Bool
}

// ReadRune implements [io.RuneReader].
func (w *watched) ReadRune() (rune, int, error) {
	if len(w.rest) == 0 || w.quit.Load() {
		return 0, 0, io.EOF
	}
	r, size := utf8.DecodeRune(w.rest)
	w.rest = w.rest[size:]
	return r, size, nil
}

// lineEnd is the end of the line that at lies in, without its line break.
func lineEnd(buf []byte, at int, separator byte) int {
	if i := bytes.IndexByte(buf[at:], separator); i >= 0 {
		return at + i
	}
	return len(buf)
}
