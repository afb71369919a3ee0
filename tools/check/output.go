package check

import (
	"bytes"
	"os"
	"sync"
	"time"
	"unicode/utf8"
)

// tail keeps the last bytes of a stream in a ring.
type tail struct {
	limit int
	ring  []byte
	next  int // where the oldest byte is, once the ring is full
	total int64
}

func (t *tail) write(p []byte) {
	t.total += int64(len(p))
	if len(p) > t.limit {
		p = p[len(p)-t.limit:]
	}
	if room := t.limit - len(t.ring); room > 0 {
		n := min(room, len(p))
		t.ring = append(t.ring, p[:n]...)
		p = p[n:]
	}
	for len(p) > 0 {
		n := copy(t.ring[t.next:], p)
		t.next = (t.next + n) % t.limit
		p = p[n:]
	}
}

func (t *tail) bytes() []byte {
	return append(bytes.Clone(t.ring[t.next:]), t.ring[:t.next]...)
}

func (t *tail) truncated() bool { return t.total > int64(len(t.ring)) }

// lastLines returns the last n lines of text, whole characters only.
func lastLines(text []byte, n int64) []byte {
	end := len(text)
	if end > 0 && text[end-1] == '\n' {
		end--
	}
	start := end
	for range n {
		if start = bytes.LastIndexByte(text[:start], '\n'); start < 0 {
			return text
		}
	}
	return text[start+1:]
}

// wholeRunes drops the rest of a character that a cut has split.
func wholeRunes(text []byte) []byte {
	for i := 0; i < utf8.UTFMax && i < len(text); i++ {
		if utf8.RuneStart(text[i]) {
			return text[i:]
		}
	}
	return text
}

// outsiders is how long output is waited for when the whole tree of a check has
// ended: only a process outside of it that was handed the pipe can still write.
const outsiders = time.Second

// recorder takes the streams of a running check.
type recorder struct {
	mu      sync.Mutex
	all     tail
	streams [2]tail // standard output and error, where they are wanted apart
	readers []*os.File
	writers []*os.File
	wait    sync.WaitGroup
}

// newRecorder makes the pipes: one for both streams, so that their order is kept,
// or one each where they are wanted apart.
func newRecorder(limit int64, apart bool) (*recorder, error) {
	r := &recorder{all: tail{limit: int(limit)}}
	r.streams = [2]tail{{limit: int(limit)}, {limit: int(limit)}}
	count := 1
	if apart {
		count = 2
	}
	for range count {
		reader, writer, err := os.Pipe()
		if err != nil {
			r.finish()
			return nil, err
		}
		r.readers, r.writers = append(r.readers, reader), append(r.writers, writer)
	}
	return r, nil
}

func (r *recorder) stdout() *os.File { return r.writers[0] }
func (r *recorder) stderr() *os.File { return r.writers[len(r.writers)-1] }

// start closes this side's ends and reads until the others are closed.
func (r *recorder) start() {
	r.closeWriters()
	apart := len(r.readers) == 2
	for i, reader := range r.readers {
		r.wait.Go(func() {
			buffer := make([]byte, 64<<10)
			for {
				n, err := reader.Read(buffer)
				r.mu.Lock()
				r.all.write(buffer[:n])
				if apart {
					r.streams[i].write(buffer[:n])
				}
				r.mu.Unlock()
				if err != nil {
					return // the end, or the deadline of finish
				}
			}
		})
	}
}

func (r *recorder) closeWriters() {
	for _, writer := range r.writers {
		writer.Close()
	}
	r.writers = nil
}

// finish waits for what still comes, and closes everything.
func (r *recorder) finish() {
	r.closeWriters()
	for _, reader := range r.readers {
		_ = reader.SetReadDeadline(time.Now().Add(outsiders)) // a pipe always has deadlines
	}
	r.wait.Wait()
	for _, reader := range r.readers {
		reader.Close()
	}
}
