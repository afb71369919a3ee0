package procsess

import "sync"

const (
	// chunkBytes is the unit in which output is kept, moved to disk and forgotten.
	chunkBytes = headBytes
	// firstBytes is what the beginning of a log takes at first: many programs
	// write no more than a few lines.
	firstBytes = 512
)

// chunk is a piece of the log at a multiple of its size.
type chunk [chunkBytes]byte

// logOptions say where a log keeps what does not fit into memory.
type logOptions struct {
	// dir is for the spool file, "" is none.
	dir string
	// budget is shared by the logs of a registry; nil is no shared bound.
	budget *spoolBudget
	// spool bounds the file in bytes; 0 is the default of SpoolBytes.
	spool int64
}

// outputLog keeps the output of one program: the beginning, the end, and on disk
// as much of what lies between as there is room for. Offsets count bytes from the
// start of the output and never change their meaning.
//
// One goroutine appends; any number read. A lock is held for copying a chunk at
// most, and never while the disk is waited for.
type outputLog struct {
	mu   sync.Mutex
	size int64
	// head is chunk 0, grown as it fills.
	head []byte
	// ring is chunks first, first+1, ... to the newest, which is being filled.
	ring  []*chunk
	first int64
	// spare is chunks out of use, no more than have waited for the disk at a time.
	spare  []*chunk
	closed bool
	spool  *spool
}

// newOutputLog makes an empty log.
func newOutputLog(opts logOptions) *outputLog {
	l := &outputLog{first: 1}
	if opts.dir != "" {
		l.spool = newSpool(l, opts)
	}
	return l
}

// append adds output. It keeps no reference to p, never fails, and waits for
// nobody who reads; for the disk it waits within patience.
func (l *outputLog) append(p []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(p) > 0 && !l.closed {
		n := copy(l.room(len(p)), p)
		l.size += int64(n)
		p = p[n:]
	}
}

// room is free space at the end of the log, at least one byte. The lock is held,
// and given up in between.
func (l *outputLog) room(want int) []byte {
	if l.size < headBytes {
		return l.headRoom(want)
	}
	at := l.size % chunkBytes
	if at == 0 {
		l.ring = append(l.ring, l.newChunk())
	}
	if l.closed {
		return nil
	}
	return l.ring[len(l.ring)-1][at:]
}

// headRoom is room in the beginning, doubled as needed.
func (l *outputLog) headRoom(want int) []byte {
	need := int(l.size) + want
	if need > len(l.head) && len(l.head) < headBytes {
		size := max(firstBytes, len(l.head))
		for size < min(need, headBytes) {
			size *= 2
		}
		grown := make([]byte, min(size, headBytes))
		copy(grown, l.head[:l.size])
		l.head = grown
	}
	return l.head[l.size:]
}

// newChunk finds memory for one chunk more, which may be that of the oldest.
func (l *outputLog) newChunk() *chunk {
	l.spool.makeRoom()
	if !l.spool.takes() {
		l.forget(len(l.ring) - (ringBytes/chunkBytes - 1))
	}
	last := len(l.spare) - 1
	if last < 0 {
		return new(chunk)
	}
	c := l.spare[last]
	l.spare = l.spare[:last]
	return c
}

// forget drops the n oldest chunks from memory.
func (l *outputLog) forget(n int) {
	if n <= 0 {
		return
	}
	if !l.spool.writing() {
		l.spare = append(l.spare, l.ring[0])
	}
	rest := copy(l.ring, l.ring[n:])
	clear(l.ring[rest:])
	l.ring = l.ring[:rest]
	l.first += int64(n)
}

// total is how much was written so far.
func (l *outputLog) total() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.size
}

// kept is how many bytes are still there, in memory and on disk.
func (l *outputLog) kept() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(l.size, int64(len(l.head)))
	if len(l.ring) > 0 {
		n += l.size - l.first*chunkBytes
	}
	return n + l.spool.bytes()
}

// degraded says what of the log does not work as it should, "" if everything
// does.
func (l *outputLog) degraded() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.spool.trouble()
}

// end says that no more output is expected: what memory holds may go to disk, and
// what the disk holds may be dropped for the sake of programs that live.
func (l *outputLog) end() { l.spool.end() }

// close frees everything. Reads give nothing afterwards.
func (l *outputLog) close() error {
	l.mu.Lock()
	l.closed = true
	l.head, l.ring, l.spare = nil, nil, nil
	l.mu.Unlock()
	return l.spool.close()
}

// read copies up to most bytes from an offset on. Where they are not kept any
// more, start is the next byte that is, and the gap is lost; data stops in front
// of a gap.
func (l *outputLog) read(from int64, most int) (data []byte, start int64) {
	start = max(from, 0)
	room := min(int64(most), l.total()-start)
	if room <= 0 {
		return nil, start
	}
	data = make([]byte, room)
	n := 0
	for n < len(data) {
		copied, next := l.copyAt(data[n:], start+int64(n))
		if copied == 0 && n == 0 && next > start {
			start = next
			data = data[:min(room, max(l.total()-start, 0))]
			continue
		}
		if copied == 0 {
			break
		}
		n += copied
	}
	return data[:n], start
}

// copyAt copies what is kept in one piece from an offset on. It copies nothing
// where there is nothing, and then next is the next offset that is kept, if any.
func (l *outputLog) copyAt(dst []byte, at int64) (n int, next int64) {
	for {
		l.mu.Lock()
		n, next = l.copyMemory(dst, at)
		var from *place
		if n == 0 && !l.closed {
			from, next = l.spool.find(at, next)
		}
		l.mu.Unlock()
		if from == nil {
			return n, next
		}
		// The disk is read without the lock, and what was read is worth something
		// only if its place was not given to newer output meanwhile.
		if n := from.read(dst); n > 0 {
			return n, at
		}
	}
}

// copyMemory copies from memory. The lock is held.
func (l *outputLog) copyMemory(dst []byte, at int64) (n int, next int64) {
	if at < min(l.size, int64(len(l.head))) {
		return copy(dst, l.head[at:min(l.size, int64(len(l.head)))]), at
	}
	begin := l.first * chunkBytes
	switch {
	case len(l.ring) == 0 || at >= l.size:
		return 0, at
	case at < begin:
		return 0, begin
	}
	c := l.ring[(at-begin)/chunkBytes]
	skip := at % chunkBytes
	return copy(dst, c[skip:min(chunkBytes, skip+l.size-at)]), at
}
