package plan

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/prism-ls/prism-ls/tools"
)

// Todo is one item of a plan's list.
type Todo struct {
	// ID names the item within its plan: letters, digits, "-", "_" and ".", at most
	// 64 of them, a letter or digit first.
	ID   string `json:"id"`
	Text string `json:"text"`
	Done bool   `json:"done"`
}

// Draft is a plan before there is a file.
type Draft struct {
	Title string
	// Goal is Markdown, with no heading of the first two levels in it.
	Goal  string
	Todos []Todo
}

// The bounds of plans.
var (
	// PlanBytes bounds a plan's file.
	PlanBytes = tools.Limit{Name: "planBytes", Default: 256 << 10, Hard: 1 << 20}
	// Todos bounds the items of a plan.
	Todos = tools.Limit{Name: "todos", Default: 1000, Hard: 10_000}
	// TodoBytes bounds the text of an item, and a title.
	TodoBytes = tools.Limit{Name: "todoBytes", Default: 512, Hard: 4 << 10}
)

// Limits are the bounds of plans; zero is each limit's default.
type Limits struct {
	PlanBytes, Todos, TodoBytes int64
}

func (l Limits) settle() (Limits, error) {
	var err error
	for value, limit := range map[*int64]tools.Limit{&l.PlanBytes: PlanBytes, &l.Todos: Todos, &l.TodoBytes: TodoBytes} {
		if *value, err = limit.Option(*value); err != nil {
			return l, err
		}
	}
	return l, nil
}

// idLength bounds the names of tasks and items, which file names are made of.
const idLength = 64

// isID reports whether text names a task or an item.
func isID(text string) bool {
	if text == "" || len(text) > idLength {
		return false
	}
	for i, c := range []byte(text) {
		switch {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
		case i > 0 && (c == '-' || c == '_' || c == '.'):
		default:
			return false
		}
	}
	return true
}

func checkID(what, id string) error {
	if isID(id) {
		return nil
	}
	return tools.Errorf(tools.CodeToolInput, "%s is %q, must be 1 to %d letters, digits, \"-\", \"_\" or \".\", a letter or digit first", what, clip(id), idLength)
}

// checkLine makes sure that text fits on a line of a plan, and comes back from it as
// it was.
func checkLine(what, text string, most int64) error {
	switch {
	case strings.TrimSpace(text) == "":
		return tools.Errorf(tools.CodeToolInput, "%s is empty, must say something", what)
	case text != strings.TrimSpace(text):
		return tools.Errorf(tools.CodeToolInput, "%s starts or ends with white space", what)
	case int64(len(text)) > most:
		return tools.Errorf(tools.CodePlanInvalid, "%s has %d bytes, must have at most %d", what, len(text), most)
	case !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl):
		return tools.Errorf(tools.CodeToolInput, "%s must be one line of UTF-8 without control characters", what)
	}
	return nil
}

// clip keeps what a caller gave to what fits in an error.
func clip(text string) string {
	const most = 80
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
