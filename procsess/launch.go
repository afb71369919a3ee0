package procsess

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/child"
)

// launch is a Start that was found to be right, with everything that its program
// gets. A holder is sent one, so the fields are exported for encoding.
type launch struct {
	ID       string
	Name     string
	Display  string // the command as it is listed
	Path     string
	Args     []string
	Dir      string
	Env      []string
	Pipe     bool
	Columns  int
	Rows     int
	NoCRLF   bool
	Lifetime time.Duration
	Durable  bool
	Sandbox  *child.Sandbox
	Owner    string
	// Spool is how much output may be kept on disk, SpoolDir where; "" is nowhere.
	Spool    int64
	SpoolDir string
	Input    int64
	Resizes  int64
}

// defaultTerm is a terminal type that every system knows and that has colours.
const defaultTerm = "xterm-256color"

// prepare checks a start and settles what it leaves open.
func (o *Options) prepare(id string, caller Caller, s *Start) (*launch, error) {
	l := &launch{
		ID: id, Name: s.Name, Pipe: s.Pipe, NoCRLF: s.NoCRLF, Durable: s.Durable, Sandbox: s.Sandbox,
		Owner: caller.Owner, Dir: cmp.Or(s.Dir, o.Dir), Input: o.Input, Resizes: o.Resizes, Spool: o.Spool,
	}
	if o.StateDir != "" {
		l.SpoolDir = o.spoolDir()
	}
	if err := l.settleSize(s); err != nil {
		return nil, err
	}
	if s.Lifetime < 0 {
		return nil, tools.Errorf(tools.CodeToolInput, "%s is negative, must be 1 to %d", Lifetime.Name, Lifetime.Hard)
	}
	lifetime, err := Lifetime.Option(int64((s.Lifetime + time.Second - 1) / time.Second))
	if err != nil {
		return nil, err
	}
	l.Lifetime = cmp.Or(s.Lifetime, time.Duration(lifetime)*time.Second)
	if err := l.settleEnvironment(o, s); err != nil {
		return nil, err
	}
	return l, l.settleCommand(o, s)
}

func (o *Options) spoolDir() string { return filepath.Join(o.StateDir, "spool") }

func (l *launch) settleSize(s *Start) error {
	if s.Pipe && (s.Columns != 0 || s.Rows != 0 || s.NoCRLF) {
		return tools.Errorf(tools.CodeToolInput, "columns, rows and line ends are a terminal's; on pipes leave them out")
	}
	for _, size := range []struct {
		from  int
		to    *int
		limit tools.Limit
	}{{s.Columns, &l.Columns, Columns}, {s.Rows, &l.Rows, Rows}} {
		if s.Pipe {
			break
		}
		value, err := size.limit.Option(int64(size.from))
		if err != nil {
			return tools.Errorf(tools.CodePTYLimit, "%s", tools.AsError(err).Message)
		}
		*size.to = int(value)
	}
	if int64(len(s.Term)) > TermBytes.Hard || strings.ContainsFunc(s.Term, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return tools.Errorf(tools.CodeToolInput, "term %.80q is no terminal type: printable ASCII, at most %d bytes", s.Term, TermBytes.Hard)
	}
	return nil
}

// quiet are the variables that keep programs from waiting for a person's keys.
func quiet() map[string]string {
	env := map[string]string{"GIT_EDITOR": ":", "GIT_TERMINAL_PROMPT": "0"}
	for _, name := range []string{"PAGER", "GIT_PAGER", "GH_PAGER", "MANPAGER", "SYSTEMD_PAGER"} {
		env[name] = "cat"
	}
	return env
}

func (l *launch) settleEnvironment(o *Options, s *Start) error {
	if names := child.Refused(s.Env); len(names) > 0 {
		return tools.Errorf(tools.CodeToolInput, "the variables %s cannot be passed: a name is empty or holds =, a value holds NUL, or it makes every program load other code", strings.Join(names, ", "))
	}
	env := quiet()
	env["TERM"] = "dumb"
	if !s.Pipe {
		env["TERM"] = cmp.Or(s.Term, defaultTerm)
	}
	maps.Copy(env, s.Env)
	l.Env = child.Environment(o.Env, env)
	return nil
}

func (l *launch) settleCommand(o *Options, s *Start) error {
	switch {
	case s.Command == "":
		return tools.Errorf(tools.CodeToolInput, "command is empty, must name a program or be a line for the shell")
	case s.Shell && len(s.Args) > 0:
		return tools.Errorf(tools.CodeToolInput, "a shell line has no arguments: put them into the line, or start the program without a shell")
	case !filepath.IsAbs(l.Dir):
		return tools.Errorf(tools.CodeToolInput, "cwd %q is relative, must be absolute", l.Dir)
	}
	words := append([]string{s.Command}, s.Args...)
	for _, text := range append(words, l.Dir) {
		if strings.ContainsRune(text, 0) {
			return tools.Errorf(tools.CodeToolInput, "command, arguments or directory hold a NUL byte, which no program can be given")
		}
	}
	if len(s.Name) > 64 || !utf8.ValidString(s.Name) || strings.ContainsFunc(s.Name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return tools.Errorf(tools.CodeToolInput, "name %.80q is no name: at most 64 bytes of printable characters", s.Name)
	}
	l.Display = display(words, s.Shell)
	if s.Shell {
		l.Path, l.Args = o.Shell, []string{"-c", s.Command}
		return nil
	}
	path, err := child.LookPath(s.Command, l.Env)
	if err != nil {
		return tools.Errorf(tools.CodeNotFound, "there is no program %q in the PATH that it would get", s.Command)
	}
	l.Path, l.Args = path, slices.Clone(s.Args)
	return nil
}

// display is a command as it is listed: bounded, words quoted where it is needed.
func display(words []string, shell bool) string {
	text := words[0]
	if !shell {
		shown := make([]string, len(words))
		for i, word := range words {
			shown[i] = word
			if word == "" || strings.ContainsAny(word, " \t\n'\"\\$`*?[]{}()<>|&;#~!") {
				shown[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
			}
		}
		text = strings.Join(shown, " ")
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	if most := int(MetadataBytes.Default); len(text) > most {
		most -= len("…")
		for !utf8.RuneStart(text[most]) {
			most--
		}
		text = text[:most] + "…"
	}
	return text
}
