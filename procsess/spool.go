package procsess

import (
	"fmt"
	"os"
	"time"
)

const (
	// pendingChunks may wait in memory for the disk, beside the ring.
	pendingChunks = 8
	// spoolPatience is how long the drain waits for a disk that takes nothing. After
	// that the log goes on without.
	spoolPatience = 2 * time.Second
	// growAgain is how many chunks after a failure to grow the file it is tried
	// again: a disk that is full may be slow to say so.
	growAgain = 256
)

// spool keeps chunks of one log in a file without a name, the newest ones if not
// all. A goroutine writes while there is something to write, so that the drain
// waits for no disk. Everything is guarded by the log's lock, which is not held
// while a file or the budget is used. A nil spool keeps nothing.
type spool struct {
	log    *outputLog
	dir    string
	budget *spoolBudget
	limit  int // chunks
	file   *os.File
	name   string // to be removed at the end, where that was not possible at once
	// first is the chunk that slots[0] holds; the next slots hold the next chunks.
	first int64
	slots []int
	// used is how many slots the file has.
	used    int
	grow    int // chunks to go until growing is tried again
	running bool
	// stopped is made by close where it has to wait for the writer, which closes it.
	stopped chan struct{}
	// patience is used again for each wait: there may be many.
	patience *time.Timer
	// moved has a token after each chunk that left memory.
	moved  chan struct{}
	ended  bool
	broken bool
	why    string
}

// newSpool makes a spool that has no file yet.
func newSpool(l *outputLog, opts logOptions) *spool {
	limit := opts.spool
	if limit == 0 {
		limit = int64(SpoolBytes.Default)
	}
	return &spool{log: l, dir: opts.dir, budget: opts.budget, limit: int(limit / chunkBytes), moved: make(chan struct{}, 1)}
}

// takes reports whether chunks may be left to the spool.
func (s *spool) takes() bool { return s != nil && !s.broken }

// writing reports whether a chunk may be in the hands of the disk.
func (s *spool) writing() bool { return s != nil && s.running }

// bytes is how much is on disk.
func (s *spool) bytes() int64 {
	if s == nil {
		return 0
	}
	return int64(len(s.slots)) * chunkBytes
}

func (s *spool) trouble() string {
	if s == nil {
		return ""
	}
	return s.why
}

// makeRoom has chunks written until there is room for one more in memory. The
// log's lock is held, and given up in between.
func (s *spool) makeRoom() {
	if !s.takes() || len(s.log.ring) < ringBytes/chunkBytes {
		return
	}
	s.start()
	if s.waits() {
		s.wait()
	}
}

// waits reports whether the disk has not kept up.
func (s *spool) waits() bool {
	return s.takes() && !s.log.closed && len(s.log.ring) >= ringBytes/chunkBytes+pendingChunks
}

func (s *spool) wait() {
	if s.patience == nil {
		s.patience = time.NewTimer(spoolPatience)
	}
	s.patience.Reset(spoolPatience)
	defer s.patience.Stop()
	for s.waits() {
		s.log.mu.Unlock()
		late := false
		select {
		case <-s.moved:
		case <-s.patience.C:
			late = true
		}
		s.log.mu.Lock()
		if late && s.waits() {
			s.giveUp(fmt.Sprintf("the disk took no output for %v", spoolPatience))
		}
	}
}

// start runs the writer, if it does not run.
func (s *spool) start() {
	if !s.running {
		s.running = true
		go s.run()
	}
}

// run writes the oldest chunks until memory holds no more than it should.
func (s *spool) run() {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	for s.hasWork() && s.moveOne() {
		select {
		case s.moved <- struct{}{}:
		default:
		}
	}
	if s.running = false; s.stopped != nil {
		close(s.stopped)
		s.stopped = nil
	}
	if s.ended {
		s.log.spare = nil
	}
	select { // whoever waits looks again
	case s.moved <- struct{}{}:
	default:
	}
}

// hasWork reports whether memory holds more than it should. An ended program's
// output is on disk but for the last chunk.
func (s *spool) hasWork() bool {
	keep := ringBytes/chunkBytes - 1
	if s.ended {
		keep = 1
	}
	return s.takes() && !s.log.closed && len(s.log.ring) > keep
}

// roomy reports whether memory holds no more than it may while a program lives.
func (s *spool) roomy() bool { return len(s.log.ring) < ringBytes/chunkBytes }

// moveOne moves the oldest chunk to disk, or forgets it where that cannot be. It
// reports false if nothing was to be done. The lock is held, and given up.
func (s *spool) moveOne() bool {
	l := s.log
	number, c := l.first, l.ring[0]
	for {
		slot, grown := s.claim()
		if slot < 0 && s.roomy() {
			return false // memory is a better place than none
		}
		var err error
		file := s.file
		if slot >= 0 {
			l.mu.Unlock()
			_, err = file.WriteAt(c[:], int64(slot)*chunkBytes)
			l.mu.Lock()
		}
		if l.closed || l.first != number || s.file != file {
			return true // the log is closed, or did not wait
		}
		switch {
		case err != nil && grown:
			s.shrink(err)
			continue
		case err != nil:
			s.giveUp(fmt.Sprintf("old output is lost: %v", err))
			return false
		case slot >= 0:
			if len(s.slots) == 0 {
				s.first = number
			}
			s.slots = append(s.slots, slot)
		}
		s.drop(c)
		return true
	}
}

// drop takes the oldest chunk out of memory, and keeps its memory for the next.
func (s *spool) drop(c *chunk) {
	s.log.forget(1)
	s.log.spare = append(s.log.spare, c)
}

// claim finds a slot: a new one while there is room, else that of the oldest
// chunk, and -1 if there is none. The lock is held, and given up in between.
func (s *spool) claim() (slot int, grown bool) {
	if s.grow > 0 {
		s.grow--
	}
	if s.used < s.limit && s.grow == 0 && s.openFile() {
		s.log.mu.Unlock()
		ok := s.budget.reserve(s)
		s.log.mu.Lock()
		switch {
		case ok && s.takes():
			s.used++
			return s.used - 1, true
		case ok:
			s.budget.release(chunkBytes)
		}
	}
	if len(s.slots) == 0 || s.roomy() {
		return -1, false
	}
	slot = s.slots[0]
	s.slots = s.slots[1:]
	s.first++
	return slot, false
}

// shrink gives the newest slot back, which could not be written.
func (s *spool) shrink(err error) {
	s.used--
	s.grow = growAgain
	s.why = fmt.Sprintf("less output is kept: %v", err)
	s.budget.release(chunkBytes)
}

// openFile makes the file, if there is none. It has no name once it is open: it
// goes with the process, however that ends.
func (s *spool) openFile() bool {
	if s.file != nil || s.broken {
		return s.file != nil
	}
	s.log.mu.Unlock()
	file, err := os.CreateTemp(s.dir, "spool-*")
	name := ""
	if err == nil && os.Remove(file.Name()) != nil {
		name = file.Name() // a system where an open file keeps its name
	}
	s.log.mu.Lock()
	if err != nil {
		s.giveUp(fmt.Sprintf("old output is not kept: %v", err))
		return false
	}
	s.file, s.name = file, name
	if s.broken || s.log.closed {
		s.discard()
		return false
	}
	return true
}

// giveUp goes on without a file.
func (s *spool) giveUp(why string) {
	s.why = why
	s.budget.release(s.discard())
}

// discard frees the file and says how much that was; the spool takes nothing any
// more.
func (s *spool) discard() int64 {
	freed := int64(s.used) * chunkBytes
	file, name := s.file, s.name
	s.broken, s.file, s.name, s.slots, s.used = true, nil, "", nil, 0
	if file != nil {
		// What is still read or written keeps the file open until it is done: this
		// does not wait. An error would be about output that nobody wants.
		_ = file.Close()
		if name != "" {
			_ = os.Remove(name)
		}
	}
	return freed
}

// end has memory emptied to disk, and lets the budget take the disk's.
func (s *spool) end() {
	if s == nil {
		return
	}
	s.log.mu.Lock()
	first := !s.ended && !s.log.closed
	s.ended = true
	if s.hasWork() {
		s.start()
	}
	s.log.mu.Unlock()
	if first {
		s.budget.end(s)
	}
}

// yield gives all of the disk back, for another log. It says how much that was.
func (s *spool) yield() int64 {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	if s.used > 0 {
		s.why = "old output made room for that of newer sessions"
	}
	return s.discard()
}

// close frees the file and waits for the writer.
func (s *spool) close() error {
	if s == nil {
		return nil
	}
	s.budget.forget(s)
	s.log.mu.Lock()
	freed := s.discard()
	if s.running && s.stopped == nil {
		s.stopped = make(chan struct{})
	}
	stopped := s.stopped
	s.log.mu.Unlock()
	s.budget.release(freed)
	if stopped == nil {
		return nil
	}
	select {
	case <-stopped:
		return nil
	case <-time.After(spoolPatience):
		return fmt.Errorf("a write of output to %s has not come back", s.dir)
	}
}

// place is where in a file a part of the output lies.
type place struct {
	spool *spool
	file  *os.File
	chunk int64
	slot  int
	skip  int64
}

// find tells the place of an offset, or the next one that is kept on disk if that
// is before next. The lock is held.
func (s *spool) find(at, next int64) (*place, int64) {
	if s == nil || len(s.slots) == 0 {
		return nil, next
	}
	number := at / chunkBytes
	switch {
	case number < s.first:
		return nil, s.first * chunkBytes
	case number >= s.first+int64(len(s.slots)):
		return nil, next
	}
	return &place{s, s.file, number, s.slots[number-s.first], at % chunkBytes}, at
}

// read copies from the file, and nothing if the place has changed hands.
func (p *place) read(dst []byte) int {
	dst = dst[:min(int64(len(dst)), chunkBytes-p.skip)]
	_, err := p.file.ReadAt(dst, int64(p.slot)*chunkBytes+p.skip)
	s := p.spool
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	switch {
	case s.file != p.file || p.chunk < s.first || s.slots[p.chunk-s.first] != p.slot:
		return 0
	case err != nil:
		s.giveUp(fmt.Sprintf("old output is lost: %v", err))
		return 0
	}
	return len(dst)
}
