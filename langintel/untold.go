package langintel

import (
	"path"
	"slices"
	"sync"

	"go.lsp.dev/protocol"
)

// untold are the changes of files that a session has not been told of: those
// before its handshake was over, and those that nothing it registered takes in. A
// server registers for the files of a project after it has read them, often after
// it has answered from them, so what happened between is told as soon as it has.
type untold struct {
	// mu is held while the server is told, so that what it hears last of a file is
	// what happened last.
	mu      sync.Mutex
	ready   bool // the handshake is over
	seen    int64
	changes []change // in the order in which they happened
}

// maxUntold bounds what is kept; the oldest are dropped, which no server that
// registers within minutes of its reading misses.
const maxUntold = 10_000

// tell sends changes to the server as far as it wants to hear of them, and before
// them those that it has begun to want (LSP 3.17 §workspace_didChangeWatchedFiles).
func (v *session) tell(changes []change) error {
	u := &v.untold
	u.mu.Lock()
	defer u.mu.Unlock()
	var late []change
	if now := v.dynamic.count(); u.ready && now != u.seen {
		late = fold(u.changes)
		u.changes, u.seen = nil, now
	}
	var events []*protocol.FileEvent
	for i, ch := range slices.Concat(late, changes) {
		wanted := u.ready && (v.reads(ch.path) || v.dynamic.watches(v, ch))
		if wanted {
			events = append(events, &protocol.FileEvent{URI: v.uriOf(ch.path), Type: ch.kind})
		} else {
			u.keep(ch)
		}
		if wanted || i >= len(late) && v.spec.indexed() && v.spec.language(ch.path) != "" {
			v.changes.note(ch.path)
		}
	}
	if len(events) == 0 {
		return nil
	}
	return v.rpc.notify("workspace/didChangeWatchedFiles", protocol.DidChangeWatchedFilesParams{Changes: events})
}

func (u *untold) keep(ch change) {
	u.changes = append(u.changes, ch)
	if len(u.changes) >= 2*maxUntold {
		u.changes = fold(u.changes)
		u.changes = slices.Clone(u.changes[max(0, len(u.changes)-maxUntold):])
	}
}

// fold makes one change of all that happened to a file, in the place of the last.
func fold(changes []change) []change {
	first := map[string]protocol.FileChangeType{}
	last := map[string]int{}
	for i, ch := range changes {
		if _, met := last[ch.path]; !met {
			first[ch.path] = ch.kind
		}
		last[ch.path] = i
	}
	var out []change
	for i, ch := range changes {
		if last[ch.path] != i {
			continue
		}
		if ch.kind != protocol.FileChangeTypeDeleted {
			ch.kind = protocol.FileChangeTypeChanged
			if first[ch.path] == protocol.FileChangeTypeCreated {
				ch.kind = protocol.FileChangeTypeCreated
			}
		}
		out = append(out, ch)
	}
	return out
}

// greet ends the time in which nothing but the handshake may be sent.
func (v *session) greet() error {
	v.untold.mu.Lock()
	v.untold.ready, v.untold.seen = true, -1
	v.untold.mu.Unlock()
	return v.tell(nil)
}

// reads reports whether the server has to be told of a file's changes even when it
// has not registered for them: it may have answered from what it read, and
// registered later than that, or not at all.
func (v *session) reads(file string) bool {
	s := v.spec
	if !s.ReadsDisk {
		return false
	}
	base := path.Base(file)
	is := func(pattern string) bool { return matchName(pattern, base) }
	return s.language(file) != "" || slices.ContainsFunc(s.Roots, is) || slices.ContainsFunc(s.Reads, is)
}
