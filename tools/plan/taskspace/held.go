package taskspace

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
)

const namespace = "prism.task-workspace"

func key(owner state.Owner, taskID string) state.Key {
	return state.Key{Owner: owner, Namespace: namespace, Name: taskID}
}

// coded gives a store's error the code that it has for a workspace.
func coded(taskID string, err error) error {
	if err == nil {
		return nil
	}
	for from, to := range map[tools.Code]struct {
		code tools.Code
		text string
	}{
		tools.CodeNotFound:       {tools.CodeWorkspaceUnknown, "there is no workspace of task " + taskID},
		tools.CodeStateOwnership: {tools.CodeWorkspaceOwnership, "the workspace of task " + taskID + " belongs to another owner"},
		tools.CodeStateFence:     {tools.CodeWorkspaceFence, "somebody else has taken over the workspace of task " + taskID},
		tools.CodeStateConflict:  {tools.CodeWorkspaceFence, "somebody else has changed the workspace of task " + taskID},
		tools.CodeStateLimit:     {tools.CodeWorkspaceLimit, "the workspace of task " + taskID + " is over a bound of its store"},
	} {
		if errors.Is(err, from) {
			return tools.Errorf(to.code, "%s: %w", to.text, err)
		}
	}
	return err
}

// held is a workspace that this process has the lease of, and works on.
type held struct {
	m     *Manager
	key   state.Key
	space *Space
	steps int64
	// commons are the directories of repositories that have been asked for.
	commons map[string]string

	stop context.CancelCauseFunc
	done chan struct{}
	mu   sync.Mutex // guards lease
	// lease is renewed while the work goes on.
	lease state.Lease
}

// load returns the record, or nil where there is none.
func (m *Manager) load(ctx context.Context, owner state.Owner, taskID string) (*Space, error) {
	record, err := m.stores.Checkpoints().Load(ctx, key(owner, taskID))
	if errors.Is(err, tools.CodeNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, coded(taskID, err)
	}
	return decode(record.Data, record.Version)
}

// hold takes the lease, waiting for whoever has it, and loads the record as it then is:
// space is nil where there is none. The returned context ends when the lease is lost;
// release has to be called.
func (m *Manager) hold(ctx context.Context, owner state.Owner, taskID string) (*held, context.Context, error) {
	if _, err := m.load(ctx, owner, taskID); err != nil {
		return nil, nil, err // before a lease is asked for, which would be another owner's
	}
	lease, err := m.acquire(ctx, key(owner, taskID))
	if err != nil {
		return nil, nil, coded(taskID, err)
	}
	h := &held{m: m, key: lease.Key, lease: lease, done: make(chan struct{}), commons: map[string]string{}}
	working, stop := context.WithCancelCause(ctx)
	h.stop = stop
	go h.keep(working)
	h.space, err = m.load(working, owner, taskID)
	if err != nil {
		h.release(ctx)
		return nil, nil, err
	}
	return h, working, nil
}

func (m *Manager) acquire(ctx context.Context, lease state.Key) (state.Lease, error) {
	holder, err := holder()
	if err != nil {
		return state.Lease{}, err
	}
	limited, cancel := context.WithTimeout(ctx, time.Duration(m.limits.WaitSeconds)*time.Second)
	defer cancel()
	const least, most = 5 * time.Millisecond, 250 * time.Millisecond
	for pause := least; ; pause = min(2*pause, most) {
		got, err := m.stores.Leases().TryAcquire(ctx, lease, holder, m.ttl)
		if !errors.Is(err, tools.CodeStateConflict) {
			return got, err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-limited.Done():
			timer.Stop()
			if ctx.Err() != nil {
				return state.Lease{}, ctx.Err()
			}
			return state.Lease{}, tools.Errorf(tools.CodeWorkspaceFence, "somebody else is at work on the workspace of task %s: %w", lease.Name, err)
		}
	}
}

// holder names this process, for whoever wonders who has a lease.
func holder() (string, error) {
	random := make([]byte, 6)
	if _, err := rand.Read(random); err != nil {
		return "", err
	}
	return fmt.Sprintf("process %d, %s", os.Getpid(), hex.EncodeToString(random)), nil
}

// keep renews the lease until ctx ends, and ends it when the lease is lost.
func (h *held) keep(ctx context.Context) {
	defer close(h.done)
	ticker := time.NewTicker(h.m.ttl / 3)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if h.m.before(renewStep) != nil {
			continue
		}
		if err := h.renew(ctx); errors.Is(err, tools.CodeWorkspaceFence) {
			h.stop(err)
			return
		}
	}
}

// renew makes sure that the lease is held still, and for a while.
func (h *held) renew(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	lease, err := h.m.stores.Leases().Renew(ctx, h.lease, h.m.ttl)
	if err != nil {
		return coded(h.key.Name, err)
	}
	h.lease = lease
	return nil
}

// token is the fence of this lease.
func (h *held) token() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lease.Token
}

// release gives the lease up. The record is not changed by h any more.
func (h *held) release(ctx context.Context) {
	h.stop(nil)
	<-h.done
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := h.m.stores.Leases().Release(limited, h.lease); err != nil {
		h.m.log.Warn("a lease runs out by itself", "task", h.key.Name, "error", err)
	}
}

// ended is why the work was stopped, where the context alone says that it was.
func ended(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(cause, context.Canceled) && !errors.Is(cause, context.DeadlineExceeded) {
		return cause
	}
	return err
}

// save changes the record, if it is as it was loaded and the lease is held.
func (h *held) save(ctx context.Context) error {
	if err := h.m.before("save"); err != nil {
		return err
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	if h.space.CreatedAt.IsZero() {
		h.space.CreatedAt = now
	}
	h.space.UpdatedAt = now
	data, err := h.space.encode(h.m.limits.RecordBytes)
	if err != nil {
		return err
	}
	h.mu.Lock()
	lease := h.lease
	h.mu.Unlock()
	change := state.Change{Version: h.space.Version, Fence: lease.Token, Data: data, Lease: &lease}
	record, err := h.m.stores.Checkpoints().Save(ctx, h.key, change)
	if err != nil {
		return coded(h.key.Name, err)
	}
	h.space.Version = record.Version
	return nil
}

// step is asked before every effect outside of the store: a process that was stopped
// beyond its lease finds out, and a cleanup's steps are counted.
func (h *held) step(ctx context.Context, name string) error {
	if err := h.m.before(name); err != nil {
		return err
	}
	if h.steps++; h.space.State == Cleaning && h.steps > h.m.limits.CleanupSteps {
		return over("steps of one cleanup", h.steps, h.m.limits.CleanupSteps)
	}
	return h.renew(ctx)
}
