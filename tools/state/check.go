package state

import (
	"strings"
	"unicode/utf8"

	"github.com/prism-ls/prism-ls/tools"
)

// check checks a key's parts; a list has no name.
func (k Key) check(named bool) error {
	parts := []struct {
		what, text string
		needed     bool
	}{
		{"tenant", k.Owner.Tenant, false}, {"account", k.Owner.Account, false}, {"user", k.Owner.User, false},
		{"namespace", k.Namespace, true}, {"name", k.Name, named},
	}
	for _, part := range parts {
		switch {
		case part.needed && part.text == "":
			return tools.Errorf(tools.CodeToolInput, "a record's %s is empty, must name something", part.what)
		case int64(len(part.text)) > NameBytes.Hard:
			return tools.Errorf(tools.CodeStateLimit, "a record's %s has %d bytes, must have at most %d", part.what, len(part.text), NameBytes.Hard)
		case !utf8.ValidString(part.text) || strings.ContainsRune(part.text, 0):
			return tools.Errorf(tools.CodeToolInput, "a record's %s %q must be UTF-8 without NUL", part.what, part.text)
		}
	}
	return nil
}

func checkNumbers(version, fence int64) error {
	if version < 0 || fence < 0 {
		return tools.Errorf(tools.CodeToolInput, "version %d and fence %d must not be negative", version, fence)
	}
	return nil
}

func (c Change) check(most int64) error {
	if int64(len(c.Data)) > most {
		return tools.Errorf(tools.CodeStateLimit, "a record's data has %d bytes, must have at most %d", len(c.Data), most)
	}
	return checkNumbers(c.Version, c.Fence)
}

// Current is the Details of CodeStateConflict and CodeStateFence: what the record,
// the caller's own, is at.
type Current struct {
	Version int64 `json:"version"`
	Fence   int64 `json:"fence"`
}

// allow decides whether what is kept (nil: nothing) may be changed by whoever knows
// version and fence. Stores share it, so that they agree in every corner.
func allow(kept *Record, key Key, version, fence int64) error {
	if kept == nil {
		if version != 0 {
			return tools.Errorf(tools.CodeStateConflict, "%s is not there, and was expected at version %d", key.Name, version).WithDetails(Current{})
		}
		return nil
	}
	if err := own(kept, key); err != nil {
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

func own(kept *Record, key Key) error {
	if kept.Key.Owner != key.Owner {
		return tools.Errorf(tools.CodeStateOwnership, "%s belongs to another owner", key.Name)
	}
	return nil
}
