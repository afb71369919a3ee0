package plan

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
)

// Edit is one change of one item.
type Edit struct {
	// ID is the item's.
	ID string
	// Done, if it is given, ticks the item or opens it again.
	Done *bool
	// Text, if it is given, takes the place of the item's text. Lines below the item
	// stay.
	Text *string
	// Add makes the item, with Text, behind the last one.
	Add bool
}

// Edit changes one item and no other byte. An edit that changes nothing returns the
// document as it is. CodeNotFound: there is no such item. CodeExists: there is one
// already. CodePlanInvalid: the plan would be over a bound.
func (d *Document) Edit(e Edit) (*Document, error) {
	index := slices.IndexFunc(d.scan.found, func(b box) bool { return b.id.of(d.data) == e.ID })
	if err := e.check(d, index >= 0); err != nil {
		return nil, err
	}
	want := d.Todos()
	var data []byte
	if e.Add {
		todo := Todo{ID: e.ID, Text: *e.Text, Done: e.Done != nil && *e.Done}
		var place int
		data, place = d.add(todo)
		want = slices.Insert(want, place, todo)
	} else {
		data = d.change(d.scan.found[index], want[index], e)
		if e.Done != nil {
			want[index].Done = *e.Done
		}
		if e.Text != nil {
			want[index].Text = *e.Text
		}
	}
	if bytes.Equal(data, d.data) {
		return d, nil
	}
	edited, err := Parse(data, d.limits)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(edited.Todos(), want) || edited.Title() != d.Title() {
		return nil, tools.Errorf(tools.CodePlanInvalid, "the item [%s] would not read back as it is in this plan; edit %d bytes of Markdown by hand instead", e.ID, len(d.data))
	}
	return edited, nil
}

func (e Edit) check(d *Document, there bool) error {
	if err := checkID("id", e.ID); err != nil {
		return err
	}
	switch {
	case !e.Add && !there:
		return d.unknown(e.ID)
	case e.Add && there:
		return tools.Errorf(tools.CodeExists, "the item [%s] is there already; leave add out to change it", e.ID)
	case e.Add && e.Text == nil:
		return tools.Errorf(tools.CodeToolInput, "add needs text")
	case e.Done == nil && e.Text == nil:
		return tools.Errorf(tools.CodeToolInput, "nothing is to change: give done, text, or add with text")
	case e.Text != nil:
		return checkLine("text", *e.Text, d.limits.TodoBytes)
	}
	return nil
}

func (d *Document) unknown(id string) error {
	var ids []string
	for _, todo := range d.Todos() {
		ids = append(ids, todo.ID)
	}
	hint := "; it has none"
	if near := tools.Nearest(id, ids); near != "" {
		hint = near
	} else if len(ids) > 0 {
		hint = "; it has " + clip(strings.Join(ids, ", "))
	}
	return tools.Errorf(tools.CodeNotFound, "the plan has no item [%s]%s", id, hint)
}

// change sets the mark and the text of an item.
func (d *Document) change(b box, was Todo, e Edit) []byte {
	data := slices.Clone(d.data)
	if e.Text != nil && *e.Text != was.Text {
		text := *e.Text
		if b.text.start == b.id.end+1 { // there was none, nor white space before it
			text = " " + text
		}
		data = slices.Replace(data, b.text.start, b.text.end, []byte(text)...)
	}
	if e.Done != nil && *e.Done != was.Done {
		data[b.mark] = ' '
		if *e.Done {
			data[b.mark] = 'x'
		}
	}
	return data
}

// add puts an item behind the last one that is below no other, in its form, and says
// which it then is.
func (d *Document) add(todo Todo) ([]byte, int) {
	for i, b := range slices.Backward(d.scan.found) {
		if b.depth != 1 {
			continue
		}
		prefix := next(string(d.data[b.line.start:b.marker]))
		place := i + 1
		for place < len(d.scan.found) && d.scan.found[place].line.start < b.end {
			place++
		}
		return d.insert(b.end, prefix+todo.line()), place
	}
	if section, ok := d.section(todoHeadings()...); ok {
		place := 0
		for place < len(d.scan.found) && d.scan.found[place].line.start < section.start {
			place++
		}
		eol := d.eol(section.start)
		text := eol + "- " + todo.line()
		if rest := d.data[section.start:]; len(rest) > 0 && !bytes.HasPrefix(rest, []byte(eol)) {
			text += eol
		}
		return d.insert(section.start, text), place
	}
	eol := d.eol(len(d.data))
	return d.insert(len(d.data), eol+"## Todos"+eol+eol+"- "+todo.line()), len(d.scan.found)
}

// next is the list marker for the item that comes behind: numbers go on.
func next(prefix string) string {
	prefix = strings.TrimPrefix(prefix, "\ufeff")
	start := strings.IndexAny(prefix, "0123456789")
	if start < 0 {
		return prefix
	}
	end := start + strings.IndexAny(prefix[start:], ".)")
	number, err := strconv.Atoi(prefix[start:end])
	if err != nil {
		return prefix
	}
	return prefix[:start] + strconv.Itoa(number+1) + prefix[end:]
}

// insert puts lines in at the start of a line, or at the end of the text, which then
// still ends with a line ending only if it did.
func (d *Document) insert(at int, lines string) []byte {
	eol := d.eol(at)
	if at > 0 && d.data[at-1] != '\n' {
		return slices.Insert(slices.Clone(d.data), at, []byte(eol+lines)...)
	}
	return slices.Insert(slices.Clone(d.data), at, []byte(lines+eol)...)
}

// eol is the line ending before a place, else the first of the text.
func (d *Document) eol(at int) string {
	end := bytes.LastIndexByte(d.data[:at], '\n')
	if end < 0 {
		end = bytes.IndexByte(d.data, '\n')
	}
	if end > 0 && d.data[end-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}
