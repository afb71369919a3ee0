package langintel

import (
	"slices"
	"sync"
)

// changeLog numbers the changes that a server was told of, so that what it said
// before one of them is not taken for the present.
type changeLog struct {
	mu     sync.Mutex
	last   int64
	recent []loggedChange // the newest ones
}

type loggedChange struct {
	number int64
	path   string
}

// maxLogged bounds the changes that are told apart; what is older counts as a
// change of everything.
const maxLogged = 1000

// note records a change of a file and returns its number.
func (l *changeLog) note(path string) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	l.recent = append(l.recent, loggedChange{l.last, path})
	if len(l.recent) > 2*maxLogged {
		l.recent = append(l.recent[:0], l.recent[maxLogged:]...)
	}
	return l.last
}

// noteOnce is note, unless a change of the file is recorded already after the
// given number: then it returns that one's.
func (l *changeLog) noteOnce(path string, after int64) int64 {
	l.mu.Lock()
	for _, change := range slices.Backward(l.recent) {
		if change.number <= after {
			break
		}
		if change.path == path {
			l.mu.Unlock()
			return change.number
		}
	}
	l.mu.Unlock()
	return l.note(path)
}

// now is the number of the last change.
func (l *changeLog) now() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// since returns the files that changed after a number; all is false when some of
// them are not known any more.
func (l *changeLog) since(number int64) (paths []string, all bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if number >= l.last {
		return nil, true
	}
	if len(l.recent) == 0 || l.recent[0].number > number+1 {
		return nil, false
	}
	for _, change := range l.recent {
		if change.number > number {
			paths = append(paths, change.path)
		}
	}
	return paths, true
}
