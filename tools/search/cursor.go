package search

// Values of TruncatedBy.
const (
	byResults = "results"
	byMatches = "matches"
	byEntries = "entries"
	byFiles   = "files"
	byDepth   = "depth"
	byScan    = "scan"
	byBytes   = "bytes"
	byTime    = "time"
	byLines   = "lines"
)

// Skipped counts what a call left out. A directory that was not entered counts
// as one.
type Skipped struct {
	Binary   int `json:"binary"`
	Oversize int `json:"oversize"`
	// Ignored are entries that git ignores or that the exclude list names.
	Ignored int `json:"ignored"`
	Hidden  int `json:"hidden"`
	// Secret are files that usually hold credentials.
	Secret     int `json:"secret"`
	Unreadable int `json:"unreadable"`
}

// sink takes visible entries in order. It returns why the walk must end, or "".
type sink interface {
	take(d *dir, e *entry) string
}

// place is an entry in its directory.
type place struct {
	d *dir
	e *entry
}

// cursor goes through the tree in order, as far as the workers have come, and
// counts. It never looks at what is not finished, so that its state is the same
// on every run once it is done.
type cursor struct {
	sink       sink
	maxEntries int64
	maxFiles   int64

	stack []frame
	// done: the end of the tree, or a cap.
	done        bool
	truncatedBy string
	deep        bool // a directory lay below the depth cap
	undecided   []place
	entries     int64
	files       int64
	skipped     Skipped
}

type frame struct {
	d  *dir
	at int
}

func newCursor(start *dir, to sink, limits *Limits) *cursor {
	return &cursor{sink: to, maxEntries: limits.Entries, maxFiles: limits.Files, stack: []frame{{d: start}}}
}

func (c *cursor) advance() {
	for !c.done {
		if len(c.stack) == 0 {
			c.done = true
			return
		}
		top := &c.stack[len(c.stack)-1]
		if !top.d.ready {
			return
		}
		if top.at == len(top.d.entries) {
			c.leave(top.d)
			continue
		}
		e := &top.d.entries[top.at]
		if e.fate == visible && e.kind == kindFile && !e.ready {
			return
		}
		if reason := c.pass(top.d, e); reason != "" {
			c.truncatedBy, c.done = reason, true
			return
		}
		top.at++
		if e.fate == visible && e.kind == kindDir {
			c.enter(e)
		}
	}
}

// leave counts what a directory withheld, once its entries are through.
func (c *cursor) leave(d *dir) {
	c.stack = c.stack[:len(c.stack)-1]
	if d.failed {
		c.skipped.Unreadable++
	}
	if d.cut {
		c.truncatedBy, c.done = byEntries, true
	}
}

func (c *cursor) enter(e *entry) {
	if e.child == nil {
		c.deep = true
		return
	}
	c.stack = append(c.stack, frame{d: e.child})
}

func (c *cursor) pass(d *dir, e *entry) string {
	if c.entries == c.maxEntries {
		return byEntries
	}
	c.entries++
	switch e.fate {
	case undecided:
		c.undecided = append(c.undecided, place{d, e})
	case ignored:
		c.skipped.Ignored++
	case hidden:
		c.skipped.Hidden++
	case secret:
		c.skipped.Secret++
	case visible:
		return c.see(d, e)
	}
	return ""
}

func (c *cursor) see(d *dir, e *entry) string {
	if e.skip == skipGone {
		return ""
	}
	if e.kind == kindFile {
		if c.files == c.maxFiles {
			return byFiles
		}
		c.files++
	}
	return c.sink.take(d, e)
}

// reason is why the result is not the whole, "" when it is.
func (c *cursor) reason() string {
	if c.truncatedBy == "" && c.deep {
		return byDepth
	}
	return c.truncatedBy
}
