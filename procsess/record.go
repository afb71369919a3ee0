package procsess

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
)

// recordNamespace is where the records of durable sessions are.
const recordNamespace = "prism.coding-agent.process.v1"

// record is what is written down of a durable session, so that another registry can
// take it up. It tells what the session is and how to be sure of it, and nothing
// that was typed, written or passed to it.
type record struct {
	Schema  int      `json:"schema"`
	Session string   `json:"session"`
	Name    string   `json:"name,omitempty"`
	Owner   string   `json:"owner,omitempty"`
	Shared  []string `json:"shared,omitempty"`
	// State is Starting before anything is started.
	State State `json:"state"`
	// Fingerprint is a hash of the program and its arguments, Mark of the session's
	// secret.
	Fingerprint string `json:"fingerprint"`
	Mark        string `json:"mark"`
	Socket      string `json:"socket"`
	// Boot, Holder and Child are known once the session is started.
	Boot    string     `json:"boot"`
	Holder  processRef `json:"holder"`
	Child   processRef `json:"child"`
	PTY     bool       `json:"pty"`
	Created time.Time  `json:"created"`
	Started time.Time  `json:"started,omitzero"`
	Ended   time.Time  `json:"ended,omitzero"`
	Exit    *Exit      `json:"exit,omitempty"`
}

// recordSchema is raised when a record means something else.
const recordSchema = 1

// ledger is where a registry's records are; the zero Owner is that of all registries
// on one state directory.
type ledger struct {
	store state.CheckpointStore
	owner state.Owner
}

func (l *ledger) key(session string) state.Key {
	return state.Key{Owner: l.owner, Namespace: recordNamespace, Name: session}
}

// line is one record in a ledger, as this registry knows it.
type line struct {
	ledger *ledger

	mu             sync.Mutex
	record         record
	version, fence int64
}

// enter writes down what is about to be started.
func (l *ledger) enter(ctx context.Context, r record) (*line, error) {
	out := &line{ledger: l, record: r, fence: 1}
	return out, out.change(ctx, func(*record) {})
}

// read makes a line of what is in the store.
func (l *ledger) read(kept state.Record) (*line, error) {
	out := &line{ledger: l, version: kept.Version, fence: kept.Fence}
	if err := json.Unmarshal(kept.Data, &out.record); err != nil {
		return nil, tools.Errorf(tools.CodeStateUnavailable, "the record of session %s cannot be read: %w", kept.Key.Name, err)
	}
	if out.record.Schema != recordSchema || out.record.Session != kept.Key.Name {
		return nil, tools.Errorf(tools.CodeStateUnavailable, "the record of session %s is of another prism-ls (schema %d)", kept.Key.Name, out.record.Schema)
	}
	return out, nil
}

// change writes the record with the change made, or makes none.
func (l *line) change(ctx context.Context, make func(*record)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.write(ctx, l.fence, make)
}

// take takes the session over: whoever had it is refused from now on, by the store
// and, once it hears of the fence, by the holder. Of several who take it at the same
// time one succeeds; the others get CodeRecoveryFence.
func (l *line) take(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.write(ctx, l.fence+1, func(*record) {})
}

// write needs mu.
func (l *line) write(ctx context.Context, fence int64, make func(*record)) error {
	changed := l.record
	make(&changed)
	data, err := json.Marshal(changed)
	if err != nil {
		return tools.Errorf(tools.CodeInternal, "a session's record cannot be encoded: %w", err)
	}
	kept, err := l.ledger.store.Save(ctx, l.ledger.key(changed.Session), state.Change{Version: l.version, Fence: fence, Data: data})
	if errors.Is(err, tools.CodeStateConflict) || errors.Is(err, tools.CodeStateFence) {
		return tools.Errorf(tools.CodeRecoveryFence, "session %s was taken up by another prism-ls", changed.Session)
	}
	if err != nil {
		return err
	}
	l.record, l.version, l.fence = changed, kept.Version, kept.Fence
	return nil
}

// strike removes the record. One that is gone, or another's by now, is no failure.
func (l *line) strike(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.ledger.store.Delete(ctx, l.ledger.key(l.record.Session), l.version, l.fence)
	if errors.Is(err, tools.CodeNotFound) || errors.Is(err, tools.CodeStateFence) || errors.Is(err, tools.CodeStateConflict) {
		return nil
	}
	return err
}

func (l *line) now() (r record, fence int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.record, l.fence
}
