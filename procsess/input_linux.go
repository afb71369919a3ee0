package procsess

import (
	"context"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/prism-ls/prism-ls/tools"
)

// input implements verbs.
func (s *local) input(ctx context.Context, what Type) (Typed, error) {
	size := int64(len(what.Text) + len(what.Paste) + len(what.Keys)) // a key is a byte at least, and few at most
	if size > s.launch.Input {
		return Typed{}, tools.Errorf(tools.CodeProcessLimit, "the input has %d bytes, at most %d can be given at a time", size, s.launch.Input)
	}
	if s.isOver() {
		return Typed{}, tools.Errorf(tools.CodeProcessState, "session %s has ended and takes no input", s.launch.ID)
	}
	out := Typed{Cursor: s.log.total()}
	give := s.typeOnPipe
	if s.master != nil {
		give = s.typeOnTerminal
	}
	var err error
	if out.Accepted, out.Queued, err = give(what); err != nil {
		return out, err
	}
	if what.Wait > 0 {
		page, err := s.follow(ctx, out.Cursor, what.Wait)
		if err != nil {
			return out, err
		}
		out.Output = &page
	}
	return out, nil
}

// typeOnPipe gives text as it is. Keys are a terminal's, but for those that mean
// the same on a pipe.
func (s *local) typeOnPipe(what Type) (accepted, queued int, err error) {
	text := []byte(what.Text)
	for _, key := range what.Keys {
		switch strings.ToLower(key) {
		case "enter":
			text = append(text, '\n')
		case "ctrl-c":
			if err := s.signal(context.Background(), unix.SIGINT); err != nil {
				return 0, 0, err
			}
		case "ctrl-d":
			what.EOF = true
		default:
			return 0, 0, tools.Errorf(tools.CodeProcessUnsupported, "session %s has no terminal, so there is no key %.40q: only enter, ctrl-c and ctrl-d mean something on a pipe", s.launch.ID, key)
		}
	}
	text = append(text, what.Paste...)
	return s.put(text, what.EOF)
}

// put passes bytes on and notes the time, from which on quiet is counted.
func (s *local) put(p []byte, last bool) (accepted, queued int, err error) {
	s.lastInput.Store(time.Now().UnixNano())
	if len(p) == 0 && !last {
		return 0, s.writer.waiting(), nil
	}
	return s.writer.put(p, last, max(s.launch.Input, InputBytes.Default))
}

// typeOnTerminal gives what a keyboard would. A key that has the kernel signal the
// foreground group goes around what the program has not read yet.
func (s *local) typeOnTerminal(what Type) (accepted, queued int, err error) {
	s.typing.Lock()
	defer s.typing.Unlock()
	modes, err := terminalMode(s.master)
	if err != nil {
		return 0, 0, s.terminalError(err)
	}
	p, err := s.spell(what, modes)
	if err != nil {
		return 0, 0, err
	}
	if slices.Contains(p, 0) && !slices.ContainsFunc(what.Keys, isNULKey) {
		return 0, 0, tools.Errorf(tools.CodeToolInput, "the input holds a NUL byte, which a terminal takes for ctrl-space; the key of that name types it")
	}
	if err := s.line.fits(modes, p); err != nil {
		return 0, 0, err
	}
	for _, key := range what.Keys {
		if !isInterrupt(key) || modes.Lflag&unix.ISIG != 0 && s.writer.waiting() == 0 {
			continue
		}
		if err := s.signal(context.Background(), unix.SIGINT); err != nil {
			return 0, 0, err
		}
	}
	s.signalsBy(modes, p)
	accepted, queued, err = s.put(p, false)
	if err == nil {
		s.line.wrote(modes, p)
	}
	return accepted, queued, err
}

// signalsBy notes which signals the terminal makes of what is typed (termios(3), ISIG).
func (s *local) signalsBy(modes *termios, p []byte) {
	if modes.Lflag&unix.ISIG == 0 {
		return
	}
	for index, sig := range map[int]syscall.Signal{unix.VINTR: unix.SIGINT, unix.VQUIT: unix.SIGQUIT} {
		if key := modes.Cc[index]; key != disabledCharacter && slices.Contains(p, key) {
			s.mu.Lock()
			s.sent |= 1 << sig
			s.mu.Unlock()
		}
	}
}

func isInterrupt(key string) bool {
	index, ok := interruptKey(key)
	return ok && index == unix.VINTR
}

func isNULKey(key string) bool {
	p, err := encodeKeys([]string{key}, false)
	return err == nil && slices.Contains(p, 0)
}

// spell is the bytes that input comes to.
func (s *local) spell(what Type, modes *termios) ([]byte, error) {
	s.mu.Lock()
	paste, application := s.modes.bracketedPaste, s.modes.applicationCursor
	s.mu.Unlock()
	p := []byte(what.Text)
	for _, key := range what.Keys {
		if isInterrupt(key) && (modes.Lflag&unix.ISIG == 0 || s.writer.waiting() > 0) {
			continue // sent as a signal
		}
		if b, special := controlByte(s.master, key); special {
			p = append(p, b)
			continue
		}
		encoded, err := encodeKeys([]string{key}, application)
		if err != nil {
			return nil, err
		}
		p = append(p, encoded...)
	}
	if what.Paste != "" {
		p = append(p, framed(what.Paste, paste)...)
	}
	if what.EOF {
		p = append(p, s.endOfFile(modes, p)...)
	}
	return p, nil
}

// framed is pasted text. In a frame (xterm's bracketed paste mode) a trailing line
// end stays outside, so that it is still a person's Enter; what would end the
// frame early is taken out.
func framed(text string, asked bool) []byte {
	body := strings.TrimRight(text, "\r\n")
	end := strings.ReplaceAll(strings.ReplaceAll(text[len(body):], "\r\n", "\r"), "\n", "\r")
	body = strings.ReplaceAll(strings.ReplaceAll(body, "\r\n", "\r"), "\n", "\r")
	if asked {
		body = "\x1b[200~" + strings.NewReplacer("\x1b", "", "\u009b", "").Replace(body) + "\x1b[201~"
	}
	return []byte(body + end)
}

// endOfFile is VEOF, twice where a line has begun: the first only ends that line's
// read (termios(3), canonical mode).
func (s *local) endOfFile(modes *termios, before []byte) []byte {
	eof := modes.Cc[unix.VEOF]
	if modes.Lflag&unix.ICANON == 0 {
		return []byte{eof}
	}
	line := s.line
	line.take(modes, before)
	if line.held > 0 {
		return []byte{eof, eof}
	}
	return []byte{eof}
}

// follow waits for output after a cursor that has paused, within a time.
func (s *local) follow(ctx context.Context, cursor int64, most time.Duration) (Page, error) {
	const pause = 80 * time.Millisecond
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	for {
		heard := s.bell.heard()
		idle := time.Since(time.Unix(0, s.lastOutput.Load()))
		wrote := s.log.total() > cursor
		if s.isComplete() || wrote && idle >= pause {
			break
		}
		left := time.Duration(-1)
		if wrote {
			left = pause - idle
		}
		if !sleep(ctx, heard, left) {
			break
		}
	}
	return s.output(context.WithoutCancel(ctx), Output{Cursor: &cursor})
}

// sleep waits for a ring or a time, negative for none; false is the context's end.
func sleep(ctx context.Context, heard <-chan struct{}, most time.Duration) bool {
	var over <-chan time.Time
	if most >= 0 {
		timer := time.NewTimer(most)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-heard:
	case <-over:
	case <-ctx.Done():
		return false
	}
	return true
}
