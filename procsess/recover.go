package procsess

// Recovered is what Recover found out about one recorded session.
type Recovered struct {
	ID string
	// Info is what is known of it now; in state Unknown where that is nothing.
	Info Info
	// Err is why the session was not taken up: CodeRecoveryOwnership; CodeRecoveryLimit
	// (no place for it); CodeRecoveryFence (another registry was quicker);
	// CodeRecoveryTimeout (its holder does not answer, or it is being started: try
	// again); CodeRecoveryUntrusted (something else answers); CodeRecoveryUnknown
	// (nobody holds it any more); CodeStateUnavailable.
	Err error
}

const (
	// mostRecords bounds how many records one recovery looks at.
	mostRecords = 1024
	// recoverAtOnce is how many holders are asked at the same time.
	recoverAtOnce = 8
)
