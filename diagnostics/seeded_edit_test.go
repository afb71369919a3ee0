package diagnostics_test

import (
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
)

// The edits, and why they are fair. Each does with lines of real code what people
// do: inserted code is real code of other files of the repository, and one in five
// times a copy of code close by, so that equal lines and equal messages are as
// frequent as they are in practice. Sizes and places are uniformly random and know
// nothing of how any contender works; single lines are moved as often as their
// share of the sizes, also those too short for anybody to follow. Symbols are
// renamed by the edits alone: no contender is told which. A line that is changed
// keeps its identity, since its author changed it and did not write another; the
// problem that names an identifier which was replaced is fixed, and half of the
// time there is one about the new name, which is introduced. Beside the edits,
// problems come and go on lines that nobody touched (one in three hundred, one in
// twenty-five), as they do when a change breaks or mends something elsewhere.

// line has an identity that edits keep and contenders do not see.
type line struct {
	id      int
	text    string
	changed bool // edited since the base
	isNew   bool
}

type editedFile struct {
	path  string
	lines []*line
}

// world is the files of one case.
type world struct {
	r        *rand.Rand
	files    []*editedFile
	donors   []source
	problems []*planting
	had      map[plantingKey]bool
	lastID   int
}

func (w *world) next() int {
	w.lastID++
	return w.lastID
}

// newWorld takes random files of the repository and plants a problem on about
// every tenth line that has something to say.
func newWorld(r *rand.Rand, files []source) *world {
	w := &world{r: r, donors: files, had: map[plantingKey]bool{}}
	for _, i := range r.Perm(len(files))[:filesPerCase] {
		f := &editedFile{path: files[i].path}
		for _, text := range files[i].lines {
			f.lines = append(f.lines, &line{id: w.next(), text: text})
		}
		w.files = append(w.files, f)
	}
	for _, f := range w.files {
		for _, l := range f.lines {
			if len(strings.TrimSpace(l.text)) > 3 && r.IntN(10) == 0 {
				w.plant(l, f.lines)
			}
		}
	}
	return w
}

func (w *world) texts() map[string]string {
	out := map[string]string{}
	for _, f := range w.files {
		var b strings.Builder
		for i, l := range f.lines {
			if i > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(l.text)
		}
		out[f.path] = b.String()
	}
	return out
}

// edit is one kind of change.
type edit struct {
	name string
	do   func(*world)
}

func mixedEdits() []edit {
	return []edit{
		{"insert", (*world).insert}, {"delete", (*world).remove}, {"move", (*world).move},
		{"change", (*world).change}, {"rewrite", (*world).rewrite}, {"reindent", (*world).reindent},
		{"split", (*world).split}, {"rename-file", (*world).renameFile}, {"rename-symbol", (*world).renameSymbol},
	}
}

// pick chooses a file, a place in it, and up to most lines there.
func (w *world) pick(most int) (f *editedFile, from, to int) {
	f = w.files[w.r.IntN(len(w.files))]
	if len(f.lines) == 0 {
		return f, 0, 0
	}
	from = w.r.IntN(len(f.lines))
	return f, from, min(len(f.lines), from+1+w.r.IntN(most))
}

func (w *world) insert() {
	f, at, _ := w.pick(1)
	f.lines = slices.Insert(f.lines, at, w.newLines(f, 25)...)
}

// newLines are up to most lines of another file or, one in five times, of this
// one, with problems of their own.
func (w *world) newLines(f *editedFile, most int) []*line {
	from := w.donors[w.r.IntN(len(w.donors))].lines
	if w.r.IntN(5) == 0 {
		from = nil
		for _, l := range f.lines {
			from = append(from, l.text)
		}
	}
	if len(from) == 0 {
		return nil
	}
	start := w.r.IntN(len(from))
	var list []*line
	for _, text := range from[start:min(len(from), start+1+w.r.IntN(most))] {
		list = append(list, &line{id: w.next(), text: text, isNew: true})
	}
	for _, l := range list {
		if len(strings.TrimSpace(l.text)) > 3 && w.r.IntN(10) == 0 {
			w.plant(l, list)
		}
	}
	return list
}

func (w *world) remove() {
	f, from, to := w.pick(20)
	f.lines = slices.Delete(f.lines, from, to)
}

// move takes a block elsewhere, two in five times to another file; sometimes it is
// indented or one line of it is changed on the way.
func (w *world) move() {
	f, from, to := w.pick(40)
	block := slices.Clone(f.lines[from:to])
	f.lines = slices.Delete(f.lines, from, to)
	target := f
	if w.r.IntN(5) < 2 {
		target = w.files[w.r.IntN(len(w.files))]
	}
	switch w.r.IntN(5) {
	case 0:
		w.indent(block)
	case 1:
		if len(block) > 0 {
			w.changeLine(block[w.r.IntN(len(block))])
		}
	}
	target.lines = slices.Insert(target.lines, w.r.IntN(len(target.lines)+1), block...)
}

func (w *world) change() {
	f, from, to := w.pick(4)
	for _, l := range f.lines[from:to] {
		w.changeLine(l)
	}
}

// changeLine changes one thing of a line: a name, a number, an argument, an
// operand or a comment.
func (w *world) changeLine(l *line) {
	words := identifiers(l.text)
	if len(words) == 0 {
		return
	}
	l.changed = true
	switch w.r.IntN(4) {
	case 0, 1:
		w.changeName(l, words[w.r.IntN(len(words))])
	case 2:
		if at := strings.LastIndexByte(l.text, ')'); at > 0 && l.text[at-1] != '(' {
			l.text = l.text[:at] + fmt.Sprintf(", %d", w.r.IntN(10)) + l.text[at:]
			break
		}
		l.text += fmt.Sprintf(" + %d", w.r.IntN(10))
	default:
		l.text += " // " + words[0]
	}
	// Half of the edits of a line with a problem are made because of it.
	w.problems = slices.DeleteFunc(w.problems, func(p *planting) bool { return p.line == l.id && w.r.IntN(2) == 0 })
}

// changeName puts another name where one stands.
func (w *world) changeName(l *line, name string) {
	donor := w.donors[w.r.IntN(len(w.donors))]
	var others []string
	for range 20 {
		if others = identifiers(donor.lines[w.r.IntN(len(donor.lines))]); len(others) > 0 {
			break
		}
	}
	if len(others) == 0 || others[0] == name {
		return
	}
	at := wordAt(l.text, name)
	l.text = l.text[:at] + others[0] + l.text[at+len(name):]
	for _, p := range slices.Clone(w.problems) {
		if p.line != l.id || p.name != name {
			continue
		}
		w.drop(p)
		key := plantingKey{l.id, p.kind, others[0]}
		if w.r.IntN(2) == 0 && !w.had[key] {
			w.had[key] = true
			again := *p
			again.id, again.name = w.next(), others[0]
			w.problems = append(w.problems, &again)
		}
	}
}

func (w *world) drop(gone *planting) {
	w.problems = slices.DeleteFunc(w.problems, func(p *planting) bool { return p == gone })
}

// rewrite puts other code where some was.
func (w *world) rewrite() {
	f, from, to := w.pick(15)
	f.lines = slices.Replace(f.lines, from, to, w.newLines(f, 15)...)
}

// reindent wraps a block in a condition.
func (w *world) reindent() {
	f, from, to := w.pick(30)
	w.indent(f.lines[from:to])
	opening := &line{id: w.next(), text: "\tif enabled {", isNew: true}
	closing := &line{id: w.next(), text: "\t}", isNew: true}
	f.lines = slices.Insert(f.lines, to, closing)
	f.lines = slices.Insert(f.lines, from, opening)
}

func (w *world) indent(block []*line) {
	for _, l := range block {
		if l.text != "" {
			l.text = "\t" + l.text
		}
	}
}

// split breaks a line with several arguments at its commas. A problem goes with
// the part that holds what it is about.
func (w *world) split() {
	f, from, _ := w.pick(1)
	for at := from; at < len(f.lines); at++ {
		l := f.lines[at]
		head, tail, ok := strings.Cut(l.text, ", ")
		if !ok || !strings.Contains(head, "(") || strings.Contains(l.text, "//") {
			continue
		}
		blank := l.text[:len(l.text)-len(strings.TrimLeft(l.text, " \t"))] + "\t"
		l.text, l.changed = head+",", true
		rest := &line{id: w.next(), text: blank + tail, isNew: true}
		for _, p := range w.problems {
			if p.line == l.id && p.name != "" && wordAt(l.text, p.name) < 0 {
				p.line = rest.id
				w.had[plantingKey{rest.id, p.kind, p.name}] = true
			}
		}
		f.lines = slices.Insert(f.lines, at+1, rest)
		return
	}
}

// renameFile gives a file another name, or another directory too.
func (w *world) renameFile() {
	f := w.files[w.r.IntN(len(w.files))]
	to := path.Join(path.Dir(f.path), fmt.Sprintf("renamed%d_%s", w.r.IntN(1000), path.Base(f.path)))
	if w.r.IntN(2) == 0 {
		to = path.Join("moved", to)
	}
	if !slices.ContainsFunc(w.files, func(o *editedFile) bool { return o.path == to }) {
		f.path = to
	}
}

// renameSymbol gives a name of some file another one, in all files.
func (w *world) renameSymbol() {
	f, at, _ := w.pick(1)
	for ; at < len(f.lines); at++ {
		words := identifiers(f.lines[at].text)
		if len(words) == 0 || len(words[0]) < 4 {
			continue
		}
		from, to := words[0], fmt.Sprintf("%sNext%d", words[0], w.r.IntN(100))
		for _, file := range w.files {
			for _, l := range file.lines {
				if wordAt(l.text, from) >= 0 {
					l.text, l.changed = replaceWord(l.text, from, to), true
				}
			}
		}
		for _, p := range w.problems {
			if p.name == from {
				p.name = to
			}
		}
		return
	}
}

func replaceWord(text, from, to string) string {
	return identifier.ReplaceAllStringFunc(text, func(word string) string {
		if word == from {
			return to
		}
		return word
	})
}

// fromAfar fixes and makes problems on lines that nobody touched, makes some on
// changed ones, and lets the numbers in messages drift.
func (w *world) fromAfar() {
	w.problems = slices.DeleteFunc(w.problems, func(*planting) bool { return w.r.IntN(25) == 0 })
	for _, p := range w.problems {
		if w.r.IntN(20) == 0 {
			p.number++
		}
	}
	for _, f := range w.files {
		for _, l := range f.lines {
			switch {
			case l.isNew || len(strings.TrimSpace(l.text)) < 4:
			case l.changed && w.r.IntN(10) == 0, w.r.IntN(300) == 0:
				w.plant(l, f.lines)
			}
		}
	}
}
