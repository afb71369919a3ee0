package procsess

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/prism-ls/prism-ls/tools"
)

// setMode changes a terminal's mode from its master.
func setMode(t *testing.T, master *os.File, change func(*termios)) *termios {
	t.Helper()
	term, err := terminalMode(master)
	if err != nil {
		t.Fatal(err)
	}
	change(term)
	if err := onDescriptor(master, func(fd int) error { return unix.IoctlSetTermios(fd, unix.TCSETS, term) }); err != nil {
		t.Fatal(err)
	}
	return term
}

func TestInputMode(t *testing.T) {
	master, _ := newTerminal(t)
	for _, c := range []struct {
		want  InputMode
		flags uint32
	}{
		{LineMode, unix.ICANON | unix.ECHO}, {PasswordMode, unix.ICANON},
		{RawMode, 0}, {RawMode, unix.ECHO}, {LineMode, unix.ICANON | unix.ECHO},
	} {
		setMode(t, master, func(term *termios) {
			term.Lflag = term.Lflag&^(unix.ICANON|unix.ECHO) | c.flags
		})
		if got := inputMode(master); got != c.want {
			t.Errorf("flags %#x are %q, want %q", c.flags, got, c.want)
		}
	}
	if got := inputMode(nil); got != "" {
		t.Errorf("no terminal is %q", got)
	}
	if err := master.SetReadDeadline(time.Now()); err != nil {
		t.Errorf("the master became blocking: %v", err)
	}
}

func TestControlBytes(t *testing.T) {
	master, _ := newTerminal(t)
	check := func(key string, want byte, special bool) {
		t.Helper()
		if b, is := controlByte(master, key); b != want || is != special {
			t.Errorf("%s is %#x, %v; want %#x, %v", key, b, is, want, special)
		}
	}
	check("ctrl-c", 3, true)
	check("^C", 3, true)
	check("C-\\", 0x1c, true)
	check("Ctrl+Z", 0x1a, true)
	check("ctrl-d", 4, true)
	for _, other := range []string{"ctrl-a", "alt-ctrl-c", "c", "enter", "ctrl-shift-c", "", "ctrl-|"} {
		check(other, 0, false)
	}
	setMode(t, master, func(term *termios) { term.Cc[unix.VINTR], term.Cc[unix.VQUIT] = 'x', disabledCharacter })
	check("ctrl-c", 'x', true)
	check("ctrl-\\", 0x1c, false)
	setMode(t, master, func(term *termios) { term.Lflag &^= unix.ISIG })
	check("ctrl-c", 3, false)
	check("ctrl-z", 0x1a, false)
	check("ctrl-d", 4, true)
	setMode(t, master, func(term *termios) { term.Lflag &^= unix.ICANON })
	check("ctrl-d", 4, false)
}

// arrived is all that a terminal in canonical mode gives to a reader after input.
func arrived(t *testing.T, change func(*termios), input string) (got string, term *termios) {
	t.Helper()
	master, slave := newTerminal(t)
	term = setMode(t, master, func(term *termios) {
		term.Lflag &^= unix.ECHO | unix.ISIG
		if change != nil {
			change(term)
		}
	})
	// A mark after the input says when all of it has arrived. The mark is a line of
	// its own, so that it does not count.
	const mark = "THE END"
	done := make(chan string, 1)
	go func() {
		var text strings.Builder
		buffer := make([]byte, 8<<10)
		for !strings.Contains(text.String(), mark) {
			n, err := slave.Read(buffer)
			if err != nil && err != io.EOF {
				break
			}
			text.Write(buffer[:n])
		}
		done <- text.String()
	}()
	_ = master.SetWriteDeadline(time.Now().Add(10 * time.Second))
	if _, err := master.WriteString(input); err != nil {
		t.Fatal(err)
	}
	if _, err := master.WriteString(mark + "\n"); err != nil {
		t.Fatal(err)
	}
	select {
	case text := <-done:
		return text[:strings.Index(text, mark)], term
	case <-time.After(10 * time.Second):
		t.Fatal("nothing arrived")
		return "", nil
	}
}

// TestLines: what fits arrives whole, and what is refused would have been cut.
func TestLines(t *testing.T) {
	a := func(n int) string { return strings.Repeat("a", n) }
	off := func(flags uint32) func(*termios) { return func(term *termios) { term.Iflag &^= flags } }
	for _, c := range []struct {
		name, input, want string
		mode              func(*termios)
		fits              bool
	}{
		{name: "short", input: "x\n", want: "x\n", fits: true},
		{name: "4094", input: a(4094) + "\n", want: a(4094) + "\n", fits: true},
		{name: "4095", input: a(4095) + "\n", want: a(4095) + "\n", fits: true},
		{name: "4096", input: a(4096) + "\n", want: a(4095) + "\n"},
		{name: "6000", input: a(6000) + "\n", want: a(4095) + "\n"},
		{name: "return", input: a(4095) + "\r", want: a(4095) + "\n", fits: true},
		{name: "return that is none", input: a(4000) + "\r" + a(95) + "\n", mode: off(unix.ICRNL), want: a(4000) + "\r" + a(94) + "\n"},
		{name: "lines", input: strings.Repeat(a(4095)+"\n", 3), want: strings.Repeat(a(4095)+"\n", 3), fits: true},
		{name: "one of the lines", input: "x\n" + a(4096) + "\n", want: "x\n" + a(4095) + "\n"},
		{name: "end of input", input: a(4095) + "\x04", want: a(4095), fits: true},
		{name: "end of input, cut", input: a(4096) + "\x04", want: a(4095)},
		{name: "erase", input: a(4090) + strings.Repeat("\x7f", 10) + strings.Repeat("b", 15) + "\n", want: a(4080) + strings.Repeat("b", 15) + "\n", fits: true},
		{name: "kill", input: a(4000) + "\x15" + a(4000) + "\n", want: a(4000) + "\n", fits: true},
		{name: "literal", input: strings.Repeat("\x16\x16", 4095) + "\n", want: strings.Repeat("\x16", 4095) + "\n", fits: true},
		{name: "literal newline", input: a(2000) + "\x16\n" + a(2094) + "\n", want: a(2000) + "\n" + a(2094) + "\n", fits: true},
		{name: "literal newline, cut", input: a(2000) + "\x16\n" + a(2095) + "\n", want: a(2000) + "\n" + a(2094) + "\n"},
		{name: "flow control", input: a(2000) + "\x13\x11" + a(2095) + "\n", want: a(4095) + "\n", fits: true},
		{name: "no flow control", input: a(2000) + "\x13\x11" + a(2094) + "\n", mode: off(unix.IXON), want: a(2000) + "\x13\x11" + a(2093) + "\n"},
		{name: "UTF-8", input: strings.Repeat("é", 2047) + "x\n", want: strings.Repeat("é", 2047) + "x\n", fits: true},
		{name: "UTF-8, cut", input: strings.Repeat("é", 2048) + "\n", want: strings.Repeat("é", 2047) + "\xc3\n"},
		{name: "marks", input: strings.Repeat("\xff", 2047) + "a\n", mode: func(term *termios) { term.Iflag |= unix.PARMRK }, want: strings.Repeat("\xff", 2*2047) + "a\n", fits: true},
		{name: "marks, cut", input: strings.Repeat("\xff", 2047) + "ab\n", mode: func(term *termios) { term.Iflag |= unix.PARMRK }, want: strings.Repeat("\xff", 2*2047) + "a\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, term := arrived(t, c.mode, c.input)
			if got != c.want {
				t.Errorf("%d bytes arrive, want %d: ends in %q", len(got), len(c.want), got[max(0, len(got)-20):])
			}
			var line typedLine
			if err := line.fits(term, []byte(c.input)); (err == nil) != c.fits {
				t.Errorf("fits: %v, want %v", err, c.fits)
			}
			if line != (typedLine{}) {
				t.Errorf("asking changed the line: %+v", line)
			}
		})
	}
}

// TestLineInParts: what is in the terminal already counts, and only in canonical
// mode.
func TestLineInParts(t *testing.T) {
	master, _ := newTerminal(t)
	canonical, err := terminalMode(master)
	if err != nil {
		t.Fatal(err)
	}
	var line typedLine
	line.wrote(canonical, []byte("one\n"+strings.Repeat("a", 4000)))
	if err := line.fits(canonical, []byte(strings.Repeat("b", 95)+"\n")); err != nil {
		t.Error(err)
	}
	err = line.fits(canonical, []byte(strings.Repeat("b", 96)))
	if !errors.Is(err, tools.CodeProcessLimit) || !strings.Contains(fmt.Sprint(err), "4096 bytes") || !strings.Contains(fmt.Sprint(err), "4095") {
		t.Errorf("got %v", err)
	}
	if err := line.fits(canonical, []byte("\x03"+strings.Repeat("b", 4095))); err != nil {
		t.Errorf("an interrupt flushes the line: %v", err)
	}
	raw := *canonical
	raw.Lflag &^= unix.ICANON
	if err := line.fits(&raw, []byte(strings.Repeat("b", 1<<20))); err != nil {
		t.Errorf("raw mode has no lines: %v", err)
	}
	line.wrote(&raw, []byte("x"))
	if err := line.fits(canonical, []byte(strings.Repeat("b", 4095))); err != nil {
		t.Errorf("canonical mode begins with a new line: %v", err)
	}
	// Erasing takes what is known to be one byte.
	line = typedLine{}
	line.wrote(canonical, []byte("\x7f\x7f"+strings.Repeat("\x80", 4095)+"\x7f"))
	if err := line.fits(canonical, []byte("x")); err == nil {
		t.Error("a byte that the terminal did not erase was counted as erased")
	}
}

// TestLongLineToProgram: the bound is that of a real program that reads lines.
func TestLongLineToProgram(t *testing.T) {
	owner := newTestOwner(t)
	c := startConsole(t, owner, "python3", "-c",
		`import sys; print("ready", flush=True)
while True: print("got", len(sys.stdin.readline()), flush=True)`)
	c.shows("ready")
	var line typedLine
	term, err := terminalMode(c.master)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{4095, 4096} {
		input := strings.Repeat("x", n) + "\n"
		if err := line.fits(term, []byte(input)); (err == nil) != (n == 4095) {
			t.Errorf("%d: %v", n, err)
		}
		c.write(input)
		c.shows("got ")
	}
	c.until(func() bool { return strings.Count(c.output(), "got 4096") == 2 }, "second line, cut to 4096 with its end")
}
