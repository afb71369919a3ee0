// Package state keeps what has to outlast the process, in stores behind small
// interfaces: [CheckpointStore] keeps records, [LeaseStore] says who may change
// something for a while, [EffectStore] keeps account of what is done once, and
// [ArtifactStore] keeps content by its hash. [Memory] has all four and ends with the
// process; packages sqlite and postgres below this one have them on disk and for a
// fleet. [Files] keeps records in a directory:
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
