package main

import (
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/prism-ls/prism-ls/tools"
)

// waiting shows what a slow step waits for: on a terminal in one line that
// changes, elsewhere a line whenever it is something else.
type waiting struct {
	out io.Writer

	mu    sync.Mutex
	shown string
}

func (w *waiting) show(p tools.Progress) {
	w.mu.Lock()
	defer w.mu.Unlock()
	message := printable(oneLine(p.Message))
	if message == w.shown {
		return
	}
	w.shown = message
	if isTerminal(w.out) {
		fmt.Fprintf(w.out, "\r\033[K%.100s", message)
	} else {
		fmt.Fprintln(w.out, message)
	}
}

// clear takes the line off the terminal.
func (w *waiting) clear() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.shown != "" && isTerminal(w.out) {
		fmt.Fprint(w.out, "\r\033[K")
	}
	w.shown = ""
}

func isTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
