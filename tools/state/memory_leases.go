package state

import (
	"context"
	"time"
)

type memoryLeases struct{ memoryView }

// lease is what is kept of the lease on a key, whoever's; nil if none ever was.
func (m *memory) lease(key Key) *Lease {
	if lease, ok := m.leased[[2]string{key.Namespace, key.Name}]; ok {
		return &lease
	}
	return nil
}

// TryAcquire implements LeaseStore.
func (s memoryLeases) TryAcquire(ctx context.Context, key Key, holder string, ttl time.Duration) (Lease, error) {
	ttl, err := CheckLease(key, holder, ttl)
	if err != nil {
		return Lease{}, err
	}
	now, leave, err := s.enter(ctx)
	if err != nil {
		return Lease{}, err
	}
	defer leave()
	if err := s.lease(key).Taken(key.Owner, now); err != nil {
		return Lease{}, err
	}
	s.token++
	lease := Lease{Key: key, Holder: holder, Token: s.token, Expires: now.Add(ttl)}
	s.leased[[2]string{key.Namespace, key.Name}] = lease
	return lease, nil
}

// Renew implements LeaseStore.
func (s memoryLeases) Renew(ctx context.Context, lease Lease, ttl time.Duration) (Lease, error) {
	ttl, err := CheckLease(lease.Key, lease.Holder, ttl)
	if err != nil {
		return Lease{}, err
	}
	now, leave, err := s.enter(ctx)
	if err != nil {
		return Lease{}, err
	}
	defer leave()
	kept := s.lease(lease.Key)
	if err := lease.Held(kept, now); err != nil {
		return Lease{}, err
	}
	kept.Expires = now.Add(ttl)
	s.leased[[2]string{lease.Key.Namespace, lease.Key.Name}] = *kept
	return *kept, nil
}

// Release implements LeaseStore.
func (s memoryLeases) Release(ctx context.Context, lease Lease) error {
	if err := lease.Key.Check(true); err != nil {
		return err
	}
	now, leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if lease.Held(s.lease(lease.Key), now) == nil {
		delete(s.leased, [2]string{lease.Key.Namespace, lease.Key.Name})
	}
	return nil
}
