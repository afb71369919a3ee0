package procsess

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/prism-ls/prism-ls/tools/state"
)

// RaceEnabled is raceEnabled.
const RaceEnabled = raceEnabled

// DiscardAll ends the durable sessions of a registry and all that is kept of them.
func DiscardAll(r *Registry) error {
	r.mu.Lock()
	var all []*entry
	for _, e := range r.sessions {
		if e.durable {
			all = append(all, e)
		}
	}
	r.mu.Unlock()
	var failures []error
	for _, e := range all {
		if s := e.verbs.(*remote); s.isLost() == nil {
			failures = append(failures, e.discard())
		}
	}
	return errors.Join(failures...)
}

// HolderOf is the process that holds a durable session, 0 without one.
func HolderOf(r *Registry, id string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s, ok := r.sessions[id].verbs.(*remote); ok {
		recorded, _ := s.line.now()
		return recorded.Holder.PID
	}
	return 0
}

// Records are the records of durable sessions in a state directory, as they are.
func Records(dir string) (map[string]string, error) {
	store, err := state.NewFiles(filepath.Join(dir, "records"), nil)
	if err != nil {
		return nil, err
	}
	page, err := store.List(context.Background(), state.Key{Namespace: recordNamespace}, "", 0)
	all := map[string]string{}
	for _, record := range page.Records {
		all[record.Key.Name] = string(record.Data)
	}
	return all, errors.Join(append(page.Broken, err)...)
}

// ChangeRecord changes a session's record behind the registries' backs.
func ChangeRecord(dir, id string, change func(data string) string) error {
	store, err := state.NewFiles(filepath.Join(dir, "records"), nil)
	if err != nil {
		return err
	}
	key := state.Key{Namespace: recordNamespace, Name: id}
	kept, err := store.Load(context.Background(), key)
	if err != nil {
		return err
	}
	_, err = store.Save(context.Background(), key, state.Change{Version: kept.Version, Fence: kept.Fence, Data: []byte(change(string(kept.Data)))})
	return err
}

// SocketOf is the path of a session's socket.
func SocketOf(dir, id string) string { return filepath.Join(dir, "sessions", socketName(id)) }

// Sockets are the sockets there are.
func Sockets(dir string) []string {
	entries, _ := os.ReadDir(filepath.Join(dir, "sessions"))
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// Enter records the intent to start a session, and starts nothing.
func Enter(r *Registry, id, owner string, created time.Time) error {
	records, err := r.ledger()
	if err != nil {
		return err
	}
	_, err = records.enter(context.Background(), record{
		Schema: recordSchema, Session: id, Owner: owner, State: Starting, Mark: hashOf(newMark()), Socket: socketName(id), Created: created,
	})
	return err
}
