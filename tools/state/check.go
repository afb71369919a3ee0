package state

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/prism-ls/prism-ls/tools"
)

// What is exported here is for those who implement stores: all of them ask the same
// questions in the same order, and so agree in every corner.

// Check checks a key's parts; a list has no name.
func (k Key) Check(named bool) error {
	if err := k.Owner.Check(); err != nil {
		return err
	}
	if err := checkName("namespace", k.Namespace, true); err != nil {
		return err
	}
	return checkName("name", k.Name, named)
}

// Check checks an owner's parts, each of which may be empty.
func (o Owner) Check() error {
	for _, part := range [][2]string{{"tenant", o.Tenant}, {"account", o.Account}, {"user", o.User}} {
		if err := checkName(part[0], part[1], false); err != nil {
			return err
		}
	}
	return nil
}

func checkName(what, text string, needed bool) error {
	switch {
	case needed && text == "":
		return tools.Errorf(tools.CodeToolInput, "the %s is empty, must name something", what)
	case int64(len(text)) > NameBytes.Hard:
		return tools.Errorf(tools.CodeStateLimit, "the %s has %d bytes, must have at most %d", what, len(text), NameBytes.Hard)
	}
	return checkText(what, text)
}

func checkText(what, text string) error {
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return tools.Errorf(tools.CodeToolInput, "the %s %q must be UTF-8 without NUL", what, text)
	}
	return nil
}

// CheckNumbers checks the conditions of a Delete.
func CheckNumbers(version, fence int64) error {
	if version < 0 || fence < 0 {
		return tools.Errorf(tools.CodeToolInput, "version %d and fence %d must not be negative", version, fence)
	}
	return nil
}

// Check checks a change whose data may have that many bytes.
func (c Change) Check(most int64) error {
	if int64(len(c.Data)) > most {
		return tools.Errorf(tools.CodeStateLimit, "a record's data has %d bytes, must have at most %d", len(c.Data), most)
	}
	return CheckNumbers(c.Version, c.Fence)
}

// Current is the Details of CodeStateConflict and CodeStateFence: what the record,
// the caller's own, is at.
type Current struct {
	Version int64 `json:"version"`
	Fence   int64 `json:"fence"`
}

// Allow decides whether what is kept (nil: nothing) may be changed by whoever knows
// version and fence.
func Allow(kept *Record, key Key, version, fence int64) error {
	if kept == nil {
		if version != 0 {
			return tools.Errorf(tools.CodeStateConflict, "%s is not there, and was expected at version %d", key.Name, version).WithDetails(Current{})
		}
		return nil
	}
	if err := Own(kept, key); err != nil {
		return err
	}
	current := Current{Version: kept.Version, Fence: kept.Fence}
	if fence < kept.Fence {
		return tools.Errorf(tools.CodeStateFence, "%s was taken over with fence %d, this is %d", key.Name, kept.Fence, fence).WithDetails(current)
	}
	if version != kept.Version {
		return tools.Errorf(tools.CodeStateConflict, "%s is at version %d, not %d; load it again", key.Name, kept.Version, version).WithDetails(current)
	}
	return nil
}

// Own refuses a record of another owner.
func Own(kept *Record, key Key) error {
	if kept.Key.Owner != key.Owner {
		return tools.Errorf(tools.CodeStateOwnership, "%s belongs to another owner", key.Name)
	}
	return nil
}

// CheckLease checks what TryAcquire was given, and returns how long the lease lasts.
func CheckLease(key Key, holder string, ttl time.Duration) (time.Duration, error) {
	if err := key.Check(true); err != nil {
		return 0, err
	}
	if err := checkName("holder", holder, true); err != nil {
		return 0, err
	}
	return LeaseTime.Duration(ttl)
}

// Held refuses whoever holds the lease no more: kept is the one in the store (nil:
// none was ever given).
func (l *Lease) Held(kept *Lease, now time.Time) error {
	switch {
	case kept == nil || kept.Key.Owner != l.Key.Owner || kept.Token != l.Token || kept.Holder != l.Holder:
		return tools.Errorf(tools.CodeStateFence, "the lease on %s is not %s's any more", l.Key.Name, l.Holder)
	case !now.Before(kept.Expires):
		return tools.Errorf(tools.CodeStateFence, "the lease of %s on %s ended at %s", l.Holder, l.Key.Name, kept.Expires.Format(time.RFC3339))
	}
	return nil
}

// Taken refuses whoever asks for a lease that somebody has: kept is the one in the
// store. Of another owner's it tells nothing.
func (l *Lease) Taken(asks Owner, now time.Time) error {
	switch {
	case l == nil || !now.Before(l.Expires):
		return nil
	case l.Key.Owner != asks:
		return tools.Errorf(tools.CodeStateOwnership, "the lease on %s belongs to another owner", l.Key.Name)
	}
	shown := *l
	shown.Token = 0
	return tools.Errorf(tools.CodeStateConflict, "%s holds the lease on %s until %s", l.Holder, l.Key.Name, l.Expires.Format(time.RFC3339)).WithDetails(shown)
}

// Stamp is a time as stores keep it.
func Stamp(t time.Time) time.Time { return t.UTC().Round(time.Microsecond) }

// NoRecord is the error for a record that is not there.
func NoRecord(key Key) error {
	return tools.Errorf(tools.CodeNotFound, "there is no record %s", key.Name)
}
