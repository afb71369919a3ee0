package procsess

import (
	"time"

	"github.com/prism-ls/prism-ls/tools"
)

// The bounds of sessions. Times are in seconds and sizes in bytes where the name
// does not say otherwise.
var (
	// LiveSessions is how many sessions may live at a time; those that have ended
	// do not count.
	LiveSessions = tools.Limit{Name: "maxSessions", Default: 8, Hard: 64}
	// DaemonSessions is LiveSessions where many agents share a registry.
	DaemonSessions = tools.Limit{Name: "maxSessions", Default: 64, Hard: 64}
	// InputBytes bounds one input.
	InputBytes = tools.Limit{Name: "maxInputBytes", Default: 64 << 10, Hard: 1 << 20}
	// Lifetime is when a session is ended, in seconds from its start.
	Lifetime = tools.Limit{Name: "lifetimeSeconds", Default: 4 * 60 * 60, Hard: 24 * 60 * 60}
	// ChunkBytes bounds the raw bytes of one page of output.
	ChunkBytes = tools.Limit{Name: "maxBytes", Default: 50 << 10, Hard: 1 << 20}
	// Columns and Rows are a terminal's size.
	Columns = tools.Limit{Name: "columns", Default: 120, Hard: 500}
	Rows    = tools.Limit{Name: "rows", Default: 40, Hard: 200}
	// TermBytes bounds the name of a terminal type.
	TermBytes = tools.Limit{Name: "term", Default: 64, Hard: 256}
	// AttachTime is how long an attachment that takes nothing is kept.
	AttachTime = tools.Limit{Name: "attachSeconds", Default: 30, Hard: 120}
	// ResizeRate is how often a terminal may be resized in a minute.
	ResizeRate = tools.Limit{Name: "resizesPerMinute", Default: 60, Hard: 600}
	// MetadataBytes bounds command, arguments and name of one session together, as
	// they are listed.
	MetadataBytes = tools.Limit{Name: "metadataBytes", Default: 4 << 10, Hard: 16 << 10}
	// SpoolBytes is how much output of one session is kept on disk.
	SpoolBytes = tools.Limit{Name: "spoolBytes", Default: 64 << 20, Hard: 1 << 30}
	// KeptBytes is how much output all sessions together keep on disk. Of those
	// that have ended the oldest lose theirs first.
	KeptBytes = tools.Limit{Name: "keptBytes", Default: 1 << 30, Hard: 16 << 30}
	// WaitTime is how long one wait may take, in seconds.
	WaitTime = tools.Limit{Name: "timeoutSeconds", Default: 30, Hard: 120}
	// ReadyTime is how long a start waits for its ready condition, in seconds.
	ReadyTime = tools.Limit{Name: "timeoutSeconds", Default: 30, Hard: 120}
)

const (
	// ringBytes is what a session keeps of its output in memory, beside its
	// beginning.
	ringBytes = 1 << 20
	// headBytes is how much of the beginning is always kept: the URL of a server
	// and the first error stand there.
	headBytes = 64 << 10
	// tombstones is how many ended sessions are still known by their ID.
	tombstones = 256
	// killGrace is the time between asking a tree to end and killing it.
	killGrace = 2 * time.Second
)
