package plan

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/prism-ls/prism-ls/tools"
)

// Document is the Markdown of a plan, byte for byte, and what it says. It is not
// changed once it is made: what edits it returns another.
//
// The title is the first heading of the first level, the goal what stands below the
// heading "## Goal". An item is a check box with an ID, "- [ ] [id] text", in a list
// anywhere but in code, quotes and HTML. All else is a person's, and nobody's
// business.
type Document struct {
	data   []byte
	limits Limits
	scan   *scanner
}

// Parse reads a plan. CodePlanInvalid: it is over a bound, or an ID is there twice.
func Parse(data []byte, limits Limits) (*Document, error) {
	limits, err := limits.settle()
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limits.PlanBytes {
		return nil, tools.Errorf(tools.CodePlanInvalid, "the plan has %d bytes, must have at most %d", len(data), limits.PlanBytes)
	}
	d := &Document{data: data, limits: limits, scan: scan(data)}
	if int64(len(d.scan.found)) > limits.Todos {
		return nil, tools.Errorf(tools.CodePlanInvalid, "the plan has %d items, must have at most %d", len(d.scan.found), limits.Todos)
	}
	lines, number, counted := map[string]int{}, 1, 0
	for _, box := range d.scan.found {
		number += bytes.Count(data[counted:box.line.start], []byte("\n"))
		counted = box.line.start
		id := box.id.of(data)
		if first, twice := lines[id]; twice {
			return nil, tools.Errorf(tools.CodePlanInvalid, "the item [%s] is there twice, on lines %d and %d; give one another ID", id, first, number)
		}
		lines[id] = number
		if size := box.text.end - box.text.start; int64(size) > limits.TodoBytes {
			return nil, tools.Errorf(tools.CodePlanInvalid, "the item [%s] on line %d has %d bytes of text, must have at most %d", id, number, size, limits.TodoBytes)
		}
	}
	return d, nil
}

// Bytes is the Markdown. It must not be changed.
func (d *Document) Bytes() []byte { return d.data }

// Title is the plan's, or "".
func (d *Document) Title() string {
	for _, h := range d.scan.headings {
		if h.level == 1 {
			return strings.ToValidUTF8(h.text, "\ufffd")
		}
	}
	return ""
}

// Goal is the Markdown below "## Goal", without white space around it, or "".
func (d *Document) Goal() string {
	section, ok := d.section("goal")
	if !ok {
		return ""
	}
	return strings.ToValidUTF8(strings.TrimSpace(section.of(d.data)), "\ufffd")
}

// Todos are the items, in the order of the text.
func (d *Document) Todos() []Todo {
	todos := make([]Todo, 0, len(d.scan.found))
	for _, box := range d.scan.found {
		todos = append(todos, Todo{
			ID: box.id.of(d.data), Text: strings.ToValidUTF8(box.text.of(d.data), "\ufffd"), Done: d.data[box.mark] != ' ',
		})
	}
	return todos
}

// section is what lies between a heading of the second level and the next of the
// first two.
func (d *Document) section(names ...string) (span, bool) {
	for i, h := range d.scan.headings {
		if h.level != 2 || !slices.Contains(names, strings.ToLower(h.text)) {
			continue
		}
		end := len(d.data)
		for _, next := range d.scan.headings[i+1:] {
			if next.level <= 2 {
				end = next.line.start
				break
			}
		}
		return span{h.line.end, end}, true
	}
	return span{}, false
}

// todoHeadings are the names under which the first item of a plan is put.
func todoHeadings() []string { return []string{"todos", "todo", "tasks"} }

// Compose writes a plan. CodeToolInput and CodePlanInvalid: the draft is malformed, over
// a bound, or would not read back as it is.
func Compose(draft Draft, limits Limits) (*Document, error) { return compose(draft, limits, &rest{}) }

// compose writes a plan around what a person has written, as that is.
func compose(draft Draft, limits Limits, kept *rest) (*Document, error) {
	limits, err := limits.settle()
	if err != nil {
		return nil, err
	}
	if err := draft.check(limits); err != nil {
		return nil, err
	}
	eol := "\n"
	if kept.crlf {
		eol = "\r\n"
	}
	goal := strings.ReplaceAll(strings.TrimSpace(strings.ReplaceAll(draft.Goal, "\r\n", "\n")), "\n", eol)
	var text strings.Builder
	fmt.Fprintf(&text, "%s# %s%s%s## Goal%s%s%s%s%s## Todos%s%s", kept.before, draft.Title, eol, kept.below(eol), eol, eol, goal, eol, eol, eol, kept.list(eol))
	for _, todo := range draft.Todos {
		text.WriteString("- " + todo.line() + eol)
	}
	if len(draft.Todos) > 0 {
		text.WriteString(eol)
	}
	if len(kept.further) == 0 {
		kept.further = []byte("## Notes" + eol)
	}
	text.Write(kept.further)
	d, err := Parse([]byte(text.String()), limits)
	if err != nil {
		return nil, err
	}
	todos := d.Todos()
	if len(todos) < len(draft.Todos) || !slices.Equal(todos[:len(draft.Todos)], draft.Todos) || d.Title() != draft.Title || d.Goal() != goal {
		return nil, tools.Errorf(tools.CodePlanInvalid, "the plan would not read back as it is: the goal must close its code and HTML, and have no heading of the first two levels and no item with an ID; the title must not end with \" #\" nor have white space twice; and what a person has written in it must close its code and HTML, too")
	}
	return d, nil
}

func (d Draft) check(limits Limits) error {
	if err := checkLine("title", d.Title, limits.TodoBytes); err != nil {
		return err
	}
	if strings.TrimSpace(d.Goal) == "" {
		return tools.Errorf(tools.CodeToolInput, "goal is empty, must say what is to be reached")
	}
	if strings.ToValidUTF8(d.Goal, "") != d.Goal || strings.ContainsRune(d.Goal, 0) {
		return tools.Errorf(tools.CodeToolInput, "goal must be UTF-8 without NUL")
	}
	if int64(len(d.Todos)) > limits.Todos {
		return tools.Errorf(tools.CodePlanInvalid, "todos has %d elements, must have at most %d", len(d.Todos), limits.Todos)
	}
	seen := map[string]bool{}
	for i, todo := range d.Todos {
		if err := todo.check(fmt.Sprintf("todos[%d]", i), limits); err != nil {
			return err
		}
		if seen[todo.ID] {
			return tools.Errorf(tools.CodePlanInvalid, "todos[%d].id %q is there twice", i, todo.ID)
		}
		seen[todo.ID] = true
	}
	return nil
}

func (t Todo) check(what string, limits Limits) error {
	if err := checkID(what+".id", t.ID); err != nil {
		return err
	}
	return checkLine(what+".text", t.Text, limits.TodoBytes)
}

// line is the item as it stands behind a list marker.
func (t Todo) line() string {
	mark := " "
	if t.Done {
		mark = "x"
	}
	return fmt.Sprintf("[%s] [%s] %s", mark, t.ID, t.Text)
}
