package sqlstate

import (
	"context"
	"time"

	"github.com/prism-ls/prism-ls/tools/state"
)

// leases is the LeaseStore. A row stays when its lease ends, so that tokens go on from
// it.
type leases struct{ view }

const (
	selectLease = `SELECT tenant, account, person, holder, token, expires FROM prism_lease
		WHERE namespace = $1 AND name = $2 FOR UPDATE`

	insertLease = `INSERT INTO prism_lease (namespace, name, tenant, account, person, holder, token, expires)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING`

	takeLease = `UPDATE prism_lease SET tenant = $3, account = $4, person = $5, holder = $6, token = $7, expires = $8
		WHERE namespace = $1 AND name = $2 AND token = $9`

	renewLease = `UPDATE prism_lease SET expires = $3 WHERE namespace = $1 AND name = $2 AND token = $4`

	endLease = `UPDATE prism_lease SET expires = 0 WHERE namespace = $1 AND name = $2
		AND tenant = $3 AND account = $4 AND person = $5 AND holder = $6 AND token = $7`
)

// findLease returns, and locks, what is kept of a lease, whoever's; nil if none ever was.
func findLease(tx Tx, key state.Key) (*state.Lease, error) {
	lease := state.Lease{Key: key}
	owner, expires := &lease.Key.Owner, int64(0)
	err := tx.Row(selectLease, key.Namespace, key.Name).Scan(&owner.Tenant, &owner.Account, &owner.User, &lease.Holder, &lease.Token, &expires)
	if none(err) {
		return nil, nil
	}
	lease.Expires = fromMicros(expires)
	return &lease, err
}

// TryAcquire implements state.LeaseStore.
func (s *leases) TryAcquire(ctx context.Context, key state.Key, holder string, ttl time.Duration) (state.Lease, error) {
	ttl, err := state.CheckLease(key, holder, ttl)
	if err != nil {
		return state.Lease{}, err
	}
	var lease state.Lease
	err = s.write(ctx, func(tx Tx) error {
		for range races {
			kept, err := findLease(tx, key)
			if err != nil {
				return err
			}
			now, err := tx.Now()
			if err != nil {
				return err
			}
			if err := kept.Taken(key.Owner, now); err != nil {
				return err
			}
			token, err := tx.Token()
			if err != nil {
				return err
			}
			lease = state.Lease{Key: key, Holder: holder, Token: token, Expires: now.Add(ttl)}
			args := []any{key.Namespace, key.Name, key.Owner.Tenant, key.Owner.Account, key.Owner.User, holder, token, micros(lease.Expires)}
			statement := insertLease
			if kept != nil {
				statement, args = takeLease, append(args, kept.Token)
			}
			if affected, err := tx.Exec(statement, args...); err != nil || affected == 1 {
				return err
			}
		}
		return errRaces
	})
	if err != nil {
		return state.Lease{}, err
	}
	return lease, nil
}

// Renew implements state.LeaseStore.
func (s *leases) Renew(ctx context.Context, lease state.Lease, ttl time.Duration) (state.Lease, error) {
	ttl, err := state.CheckLease(lease.Key, lease.Holder, ttl)
	if err != nil {
		return state.Lease{}, err
	}
	err = s.write(ctx, func(tx Tx) error {
		kept, err := findLease(tx, lease.Key)
		if err != nil {
			return err
		}
		now, err := tx.Now()
		if err != nil {
			return err
		}
		if err := lease.Held(kept, now); err != nil {
			return err
		}
		lease.Expires = now.Add(ttl)
		_, err = tx.Exec(renewLease, lease.Key.Namespace, lease.Key.Name, micros(lease.Expires), lease.Token)
		return err
	})
	if err != nil {
		return state.Lease{}, err
	}
	return lease, nil
}

// Release implements state.LeaseStore.
func (s *leases) Release(ctx context.Context, lease state.Lease) error {
	if err := lease.Key.Check(true); err != nil {
		return err
	}
	key := lease.Key
	return s.write(ctx, func(tx Tx) error {
		_, err := tx.Exec(endLease, key.Namespace, key.Name, key.Owner.Tenant, key.Owner.Account, key.Owner.User, lease.Holder, lease.Token)
		return err
	})
}
