package state

import (
	"context"
	"time"

	"github.com/prism-ls/prism-ls/tools"
)

// Lease is the right to change something for a while. Its token is the fence to save
// records with: whoever held the lease before has a lower one.
type Lease struct {
	Key Key `json:"key"`
	// Holder is who has it, in the holder's own words.
	Holder string `json:"holder"`
	// Token is higher than every token that was given out for the key before, also by
	// a store that was closed since.
	Token int64 `json:"token,omitempty"`
	// Expires is when others may take it, by the store's clock.
	Expires time.Time `json:"expires"`
}

// LeaseStore gives out leases. What is said of goroutines, processes, owners and
// unavailability in CheckpointStore holds here.
type LeaseStore interface {
	// TryAcquire gives the lease if nobody has it, or whoever had it is past its time;
	// ttl 0 is LeaseTime's default. Otherwise it is CodeStateConflict with the current
	// Lease, token left out, as Details. The same holder asking again is no exception:
	// it may be another life of it.
	TryAcquire(ctx context.Context, key Key, holder string, ttl time.Duration) (Lease, error)
	// Renew makes the lease last for ttl from now. CodeStateFence: it has expired, was
	// released, or others have it. It never comes back from that, even if nobody else
	// took it.
	Renew(ctx context.Context, lease Lease, ttl time.Duration) (Lease, error)
	// Release gives it up. Releasing what is not held any more is no error.
	Release(ctx context.Context, lease Lease) error
	// Close frees what the store holds, and is idempotent.
	Close() error
}

// LeaseTime bounds how long a lease lasts, in seconds.
var LeaseTime = tools.Limit{Name: "ttlSeconds", Default: 30, Hard: 300}
