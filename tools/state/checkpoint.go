package state

import (
	"context"
	"time"

	"github.com/prism-ls/prism-ls/tools"
)

// Owner is whose a record is. Any part may be empty; two owners are the same if
// all parts are.
type Owner struct {
	Tenant  string `json:"tenant,omitempty"`
	Account string `json:"account,omitempty"`
	User    string `json:"user,omitempty"`
}

// Key names a record. Within a namespace a name belongs to the owner who saved it
// first, until it is deleted.
type Key struct {
	Owner     Owner  `json:"owner"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// Record is what a store keeps under a key.
type Record struct {
	Key Key
	// Version is 1 when the record is made, and one more with every change.
	Version int64
	// Fence is the highest fencing token of those that have saved it.
	Fence int64
	Data  []byte
	// Saved is when, by the clock of who saved it.
	Saved time.Time
}

// Change is what to save, and on what condition.
type Change struct {
	// Version is the version that the caller knows; 0 is that there is no record.
	Version int64
	// Fence is the caller's fencing token. Whoever takes a record over saves it with
	// a higher one, and those before are refused from then on.
	Fence int64
	// Data is opaque to the store. Nil and empty are the same.
	Data []byte
	// Lease, if it is given, has to be held still when the change is made, or it is
	// refused with CodeStateFence. It must come from the LeaseStore of the same Stores;
	// a store that is alone cannot know, and is CodeStateUnavailable.
	Lease *Lease
}

// Page is a part of a list.
type Page struct {
	Records []Record
	// Next is the cursor to go on with; "" is the end.
	Next string
	// Broken says which records could not be read, and why: CodeStateUnavailable.
	Broken []error
}

// CheckpointStore keeps versioned records. Its methods may be called by any number
// of goroutines, and by other processes on the same place if the implementation is
// shared at all.
//
// Every implementation promises:
//   - A Save or Delete that returned nil has happened, and outlasts a crash of the
//     process, and of the machine where the implementation is durable. One that
//     returned a code other than CodeStateUnavailable has changed nothing. After
//     CodeStateUnavailable it may have happened: Load tells.
//   - A reader sees a record before or after a change, never in between.
//   - Of changes that expect the same version exactly one succeeds.
//   - A record's version and fence never go back while it exists.
//   - A record of another owner is refused by every method, CodeStateOwnership, and
//     told to nobody: neither its content, nor its version or fence.
//   - One record that cannot be read is CodeStateUnavailable, which names it; others
//     are not affected.
//
// Checks come in this order: the names and sizes of the call, CodeStateLimit (or
// CodeToolInput for what is not UTF-8, holds NUL, or is negative); ownership; fence;
// version. Other errors are those of ctx.
type CheckpointStore interface {
	// Load returns the record, or CodeNotFound.
	Load(ctx context.Context, key Key) (Record, error)
	// Save makes or changes the record, and returns it as it now is.
	// CodeStateFence: change.Fence is lower than the record's. CodeStateConflict: the
	// record is not at change.Version, or is not there.
	Save(ctx context.Context, key Key, change Change) (Record, error)
	// Delete removes the record that is at that version, on the same conditions as
	// Save; deleting what is not there is CodeNotFound. Afterwards the name is free,
	// and its versions and fences start again.
	Delete(ctx context.Context, key Key, version, fence int64) error
	// List returns records of the owner in the namespace, at most limit of them (0:
	// PageRecords), in an order of the store's own. A record that exists for the
	// whole time is on exactly one page of a list that is read to its end. Records
	// of other owners are left out.
	List(ctx context.Context, in Key, cursor string, limit int64) (Page, error)
	// Close frees what the store holds, and is idempotent. Afterwards every method
	// returns CodeStateUnavailable.
	Close() error
}

// The bounds of stores.
var (
	// RecordBytes bounds the data of one record.
	RecordBytes = tools.Limit{Name: "recordBytes", Default: 64 << 10, Hard: 512 << 10}
	// PageRecords bounds the records of one page of a list.
	PageRecords = tools.Limit{Name: "limit", Default: 100, Hard: 1000}
	// NameBytes bounds a namespace, a name, and each part of an owner.
	NameBytes = tools.Limit{Name: "nameBytes", Default: 512, Hard: 512}
)
