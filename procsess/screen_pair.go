package procsess

import "sync"

// keptSizes bounds how many changes of size are remembered.
const keptSizes = 1024

// screenPair is the screens of one session: what is shown to whoever asks, and where
// the cursor was at each place of the output where the program asked. Both are made
// when they are first wanted: most sessions want neither.
type screenPair struct {
	mu            sync.Mutex
	columns, rows int // before all changes in sizes
	sizes         []resize
	shown, asked  *screen
}

// resized notes a new size of the terminal, from an offset of the output on.
func (d *screenPair) resized(at int64, columns, rows int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.sizes) == keptSizes {
		// What was shown with the oldest sizes is gone from every screen.
		last := d.sizes[keptSizes/2-1]
		d.columns, d.rows = last.columns, last.rows
		d.sizes = append([]resize(nil), d.sizes[keptSizes/2:]...)
		d.shown, d.asked = nil, nil
	}
	d.sizes = append(d.sizes, resize{at, columns, rows})
}

// screen returns one of the screens, and the sizes it has to follow. A slice of
// those is never changed, only added to.
func (d *screenPair) screen(which **screen) (*screen, []resize) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if *which == nil {
		*which = newScreen(d.columns, d.rows)
	}
	return *which, d.sizes
}

// render is what the terminal shows.
func (d *screenPair) render(l *outputLog) (text []byte, about Screen) {
	s, sizes := d.screen(&d.shown)
	return s.render(l, sizes)
}

// position is where the cursor is once output up to an offset is shown, for
// escapes.
func (d *screenPair) position(l *outputLog, at int64) (column, row int) {
	s, sizes := d.screen(&d.asked)
	return s.position(l, at, sizes)
}

// degraded says what of the screens does not work.
func (d *screenPair) degraded() string {
	d.mu.Lock()
	shown := d.shown
	d.mu.Unlock()
	if shown == nil {
		return ""
	}
	return shown.degraded()
}
