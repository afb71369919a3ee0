// Package state keeps what has to outlast the process, in stores behind small
// interfaces. [CheckpointStore] keeps records; [Files] keeps them in a directory:
//
//	store, err := state.NewFiles(dir, nil)
//	key := state.Key{Owner: state.Owner{User: "ann"}, Namespace: "plan", Name: "task-1"}
//	record, err := store.Save(ctx, key, state.Change{Data: []byte("first")})
//	record, err = store.Save(ctx, key, state.Change{Version: record.Version, Data: []byte("next")})
//	// errors.Is(err, tools.CodeStateConflict): somebody else was quicker
//
// Package statetest is the suite that every implementation passes, and that a
// host can run on its own.
package state
