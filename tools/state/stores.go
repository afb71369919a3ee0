package state

// Stores are the four stores over one place.
type Stores interface {
	Checkpoints() CheckpointStore
	Leases() LeaseStore
	Effects() EffectStore
	Artifacts() ArtifactStore
	// Close closes all four, and is idempotent.
	Close() error
}
