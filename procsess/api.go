package procsess

import (
	"time"

	"github.com/prism-ls/prism-ls/tools/child"
)

// Caller is on whose behalf something is asked of a registry.
type Caller struct {
	// Owner is the agent, or whoever else sessions belong to; "" is an owner like
	// any other.
	Owner string
	// Operator may do everything with every session: the person at the machine.
	Operator bool
}

// State is where a session is in its life.
type State string

// The states. A session that ended is exited, killed (on request), released
// (left to itself, and out of sight) or expired (its lifetime was over); unknown
// is a durable session of which nothing certain is known any more.
const (
	Starting State = "starting"
	Running  State = "running"
	Exited   State = "exited"
	Killed   State = "killed"
	Released State = "released"
	Expired  State = "expired"
	Unknown  State = "unknown"
)

// Live reports whether a session in this state has a process to talk to.
func (s State) Live() bool { return s == Starting || s == Running }

// Start says what a session is to run. Zero fields mean the defaults.
type Start struct {
	// Command is a program, looked up in the PATH of the environment that it gets,
	// or with Shell a line for the shell.
	Command string
	Args    []string
	Shell   bool
	// Dir is an absolute path; "" is the registry's.
	Dir string
	// Env is added to the registry's environment; a value given here wins over
	// what sessions get by default.
	Env map[string]string
	// Pipe has standard input, output and error be pipes; otherwise there is a
	// terminal.
	Pipe bool
	// Columns and Rows are the terminal's size, Term its type.
	Columns, Rows int
	Term          string
	// NoCRLF leaves line feeds as they are on a terminal (ONLCR off, termios(3)).
	NoCRLF bool
	// Lifetime is when the session is ended.
	Lifetime time.Duration
	// Name is for people.
	Name string
	// Durable has the session outlive the registry's process.
	Durable bool
	// ReleaseAtEnd has the session released, and not killed, when its owner ends.
	ReleaseAtEnd bool
	// Sandbox confines what runs; nil is no sandbox.
	Sandbox *child.Sandbox
	// Ready is what to wait for; nil returns at once.
	Ready *Ready
}

// Ready is a condition of which one part has to come true.
type Ready struct {
	Match, Regex string
	Port         int
	Quiet        time.Duration
	// Timeout bounds the wait; a session that is not ready by then goes on.
	Timeout time.Duration
}

// Started is a session that was started.
type Started struct {
	Info
	// Ready is nil where no condition was given.
	Ready *bool
}

// Info is what is known of a session.
type Info struct {
	ID      string
	Name    string
	Command string // as it is listed: bounded, and never with the environment
	State   State
	Input   Input
	PID     int
	PTY     bool
	Columns int
	Rows    int
	Durable bool
	Owner   string
	Shared  []string
	Started time.Time
	Ended   time.Time // zero while it lives
	// Cursor is where the output ends now.
	Cursor int64
	// EOF: nothing more will be written to the output.
	EOF bool
	// Ports are those that the session's processes listen on (TCP), what its program
	// left behind included.
	Ports []int
	Exit  *Exit // nil while it lives
	// Degraded says what of the session does not work as it should, and why.
	Degraded string
}

// By is who ended a session.
type By string

// Who may have ended a session: by ByKill also whoever signalled it or typed what its
// terminal makes a signal of.
const (
	ByItself  By = "itself"
	ByKill    By = "kill"
	ByTimeout By = "timeout"
	ByRelease By = "release"
	ByOther   By = "other"
)

// Exit is how a session's program ended. A pointer is nil where it is not known.
type Exit struct {
	Code       *int
	Signal     string // "SIGTERM"; "" where no signal ended it
	CoreDumped bool
	By         By
	User       *time.Duration
	System     *time.Duration
	MaxRSS     *int64 // bytes
}

// InputState says whether a program waits for input.
type InputState string

// What may be known about that: a read of the terminal that blocks, a program
// that would take input but may do something else, neither, or nothing.
const (
	BlockedRead  InputState = "blocked_read"
	AcceptsInput InputState = "accepts_input"
	NoInput      InputState = "no"
	UnknownInput InputState = "unknown"
)

// InputMode is how the terminal treats what is typed (termios(3)).
type InputMode string

// The modes: lines with echo, lines without echo, every key by itself.
const (
	LineMode     InputMode = "line"
	PasswordMode InputMode = "password"
	RawMode      InputMode = "raw"
)

// Input is whether a session waits for input, and in which mode ("" without a
// terminal).
type Input struct {
	State InputState
	Mode  InputMode
}

// View is a way to look at the output.
type View string

// The views: without escapes, byte for byte, and as the terminal shows it.
const (
	TextView   View = "text"
	RawView    View = "raw"
	ScreenView View = "screen"
)

// Output asks for a page of output.
type Output struct {
	// Cursor is a byte offset from the start of the output; nil is where this
	// owner's last page ended.
	Cursor *int64
	// MaxBytes bounds the raw bytes of the page; 0 is the default.
	MaxBytes int
	// View is TextView if "", or ScreenView while the alternate screen is on.
	View View
}

// Page is a part of the output.
type Page struct {
	View View
	Data []byte
	// Start is the cursor of the first byte, Cursor where to go on.
	Start, Cursor int64
	// Lost counts bytes between the cursor asked for and Start that are not kept
	// any more.
	Lost int64
	// Total is how much was written so far.
	Total int64
	// EOF: Cursor is at the end, and nothing more will be written.
	EOF bool
	// Screen is set in the screen view.
	Screen *Screen
	State  State
	Input  Input
}

// Screen is what a terminal shows.
type Screen struct {
	Columns, Rows int
	// CursorColumn and CursorRow are 1-based; CursorHidden says that it is not shown.
	CursorColumn, CursorRow int
	CursorHidden            bool
	Alternate               bool
	Title                   string
}

// Type is what to give a session's program. Parts are sent in the order of the
// fields.
type Type struct {
	Text string
	// Keys are names: "enter", "up", "ctrl-c", "alt-x", "f5".
	Keys []string
	// Paste is text that is framed as pasted if the program asked for that.
	Paste string
	// EOF ends the input.
	EOF bool
	// Wait has the answer carry the output that follows, once it has paused.
	Wait time.Duration
}

// Typed is what became of input.
type Typed struct {
	// Accepted bytes are with the kernel. Queued ones wait for room there, those of
	// earlier input included.
	Accepted, Queued int
	// Cursor is where the output ended before.
	Cursor int64
	// Output is what followed, nil where nothing was waited for.
	Output *Page
}

// Reason is why a wait ended.
type Reason string

// The reasons.
const (
	ReasonExit    Reason = "exit"
	ReasonMatch   Reason = "match"
	ReasonQuiet   Reason = "quiet"
	ReasonPort    Reason = "port"
	ReasonInput   Reason = "input"
	ReasonBytes   Reason = "bytes"
	ReasonTimeout Reason = "timeout"
)

// Wait is a list of conditions, of which one is enough; without any it is Exit.
type Wait struct {
	Exit bool
	// Match is literal text, Regex an RE2 expression (package regexp/syntax), both
	// looked for in the text view from the cursor on.
	Match, Regex string
	// Quiet is how long nothing is written.
	Quiet time.Duration
	// Port is one that a process of the session listens on, also one that the program
	// has left behind.
	Port int
	// Input waits until the program waits for input.
	Input bool
	// Bytes is how many are written from the cursor on.
	Bytes int64
	// Cursor is where Match, Regex and Bytes begin; nil is where this owner's last
	// page ended.
	Cursor *int64
	// Timeout bounds the wait; 0 is the default.
	Timeout time.Duration
}

// Waited is how a wait ended.
type Waited struct {
	Reason  Reason
	Matched string
	// Cursor is behind what matched, else where the output ends.
	Cursor int64
	State  State
	Input  Input
	// OutputOpen: the program has ended, and Holders still have its output open.
	OutputOpen bool
	Holders    []child.Info
	Exit       *Exit
}
