package state

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/filelock"
)

// FilesOptions are the settings of Files; nil and zero are the defaults.
type FilesOptions struct {
	// RecordBytes is the limit RecordBytes.
	RecordBytes int64
}

// Files is a CheckpointStore in a directory, one file a record, which processes
// share. It is durable: a change is in a flushed file before it takes the place of
// the record, in one rename, and the directory is flushed after that.
type Files struct {
	dir    string
	most   int64
	closed atomic.Bool
	// slots keep goroutines of this process from waiting for each other by polling
	// a file's lock.
	slots [slotCount]chan struct{}
}

const (
	// slotCount is how many locks all records share.
	slotCount = 64
	// lockLimit bounds the wait for one: who holds it writes one small file.
	lockLimit = 30 * time.Second

	recordSuffix = ".record"
	freshSuffix  = ".fresh"
)

// NewFiles returns a store in dir, which is made, for its user alone, when the first
// record is saved. With dir "" there is no place, and every method returns
// CodeStateUnavailable; so it does while the disk is full or not to be written, and
// no longer.
func NewFiles(dir string, opts *FilesOptions) (*Files, error) {
	if opts == nil {
		opts = &FilesOptions{}
	}
	most, err := RecordBytes.Option(opts.RecordBytes)
	if err != nil {
		return nil, err
	}
	files := &Files{dir: dir, most: most}
	for i := range files.slots {
		files.slots[i] = make(chan struct{}, 1)
	}
	return files, nil
}

// Close makes every later call fail. Those that run finish.
func (f *Files) Close() error {
	f.closed.Store(true)
	return nil
}

// Load implements CheckpointStore.
func (f *Files) Load(ctx context.Context, key Key) (Record, error) {
	if err := f.ready(ctx, key, true); err != nil {
		return Record{}, err
	}
	kept, err := f.read(f.path(key))
	if err != nil {
		return Record{}, err
	}
	if kept == nil {
		return Record{}, NoRecord(key)
	}
	if err := Own(kept, key); err != nil {
		return Record{}, err
	}
	return *kept, nil
}

// Save implements CheckpointStore.
func (f *Files) Save(ctx context.Context, key Key, change Change) (Record, error) {
	if err := f.ready(ctx, key, true); err != nil {
		return Record{}, err
	}
	if err := change.Check(f.most); err != nil {
		return Record{}, err
	}
	if change.Lease != nil {
		return Record{}, tools.Errorf(tools.CodeStateUnavailable, "%s was to be saved under a lease, and files have none", key.Name)
	}
	release, err := f.lock(ctx, key)
	if err != nil {
		return Record{}, err
	}
	defer release()
	path := f.path(key)
	kept, err := f.read(path)
	if err != nil {
		return Record{}, err
	}
	if err := Allow(kept, key, change.Version, change.Fence); err != nil {
		return Record{}, err
	}
	record := Record{
		Key: key, Version: change.Version + 1, Fence: change.Fence, Data: slices.Clone(change.Data),
		Saved: time.Now().UTC().Round(time.Microsecond),
	}
	if err := replace(path, encode(&record)); err != nil {
		return Record{}, unavailable("saving", key.Name, err)
	}
	return record, nil
}

// Delete implements CheckpointStore.
func (f *Files) Delete(ctx context.Context, key Key, version, fence int64) error {
	if err := f.ready(ctx, key, true); err != nil {
		return err
	}
	if err := CheckNumbers(version, fence); err != nil {
		return err
	}
	release, err := f.lock(ctx, key)
	if err != nil {
		return err
	}
	defer release()
	path := f.path(key)
	kept, err := f.read(path)
	if err != nil {
		return err
	}
	if kept == nil {
		return NoRecord(key)
	}
	if err := Allow(kept, key, version, fence); err != nil {
		return err
	}
	err = os.Remove(path)
	if err == nil {
		// A crash may have left it; without its record nobody would look again.
		_ = os.Remove(fresh(path))
		err = flushDir(filepath.Dir(path))
	}
	if err != nil {
		return unavailable("deleting", key.Name, err)
	}
	return nil
}

// List implements CheckpointStore; the order is that of the names' hashes.
func (f *Files) List(ctx context.Context, in Key, cursor string, limit int64) (Page, error) {
	if err := f.ready(ctx, in, false); err != nil {
		return Page{}, err
	}
	limit, err := PageRecords.Option(limit)
	if err != nil {
		return Page{}, err
	}
	dir := f.folder(in.Namespace)
	entries, err := os.ReadDir(dir) // sorted
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Page{}, unavailable("listing", in.Namespace, err)
	}
	var page Page
	last := ""
	for _, entry := range entries {
		name, isRecord := strings.CutSuffix(entry.Name(), recordSuffix)
		if !isRecord || name <= cursor {
			continue
		}
		if int64(len(page.Records)) == limit {
			page.Next = last
			break
		}
		if ctx.Err() != nil {
			return Page{}, context.Cause(ctx)
		}
		last = name
		record, err := f.read(filepath.Join(dir, entry.Name()))
		switch {
		case err != nil:
			page.Broken = append(page.Broken, err)
		case record != nil && record.Key.Owner == in.Owner:
			page.Records = append(page.Records, *record)
		}
	}
	return page, nil
}

func (f *Files) ready(ctx context.Context, key Key, named bool) error {
	if err := key.Check(named); err != nil {
		return err
	}
	switch {
	case f.closed.Load():
		return errClosed()
	case f.dir == "":
		return tools.Errorf(tools.CodeStateUnavailable, "there is no state directory to keep records in")
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return nil
}

// folder and path use hashes: names may hold anything, and be longer than a file's
// may.
func (f *Files) folder(namespace string) string {
	sum := sha256.Sum256([]byte(namespace))
	return filepath.Join(f.dir, hex.EncodeToString(sum[:16]))
}

func (f *Files) path(key Key) string {
	sum := sha256.Sum256([]byte(key.Name))
	return filepath.Join(f.folder(key.Namespace), hex.EncodeToString(sum[:])+recordSuffix)
}

func fresh(path string) string { return strings.TrimSuffix(path, recordSuffix) + freshSuffix }

// lock keeps others from changing the record, here and in other processes.
func (f *Files) lock(ctx context.Context, key Key) (release func(), err error) {
	folder := f.folder(key.Namespace)
	if err := makeDirs(f.dir, folder); err != nil {
		return nil, unavailable("saving", key.Name, err)
	}
	sum := sha256.Sum256([]byte(key.Namespace + "\x00" + key.Name))
	number := sum[0] % slotCount
	slot := f.slots[number]
	ctx, cancel := context.WithTimeoutCause(ctx, lockLimit, tools.Errorf(tools.CodeStateUnavailable, "locking %s: others have held it for %v", key.Name, lockLimit))
	defer cancel()
	select {
	case slot <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	file, err := os.OpenFile(filepath.Join(f.dir, "lock-"+hex.EncodeToString([]byte{number})), os.O_CREATE|os.O_RDWR, 0o600)
	if err == nil {
		if err = filelock.Wait(ctx, file); err == nil {
			return func() { file.Close(); <-slot }, nil
		}
		file.Close()
	}
	<-slot
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return nil, unavailable("locking", key.Name, err)
}

func unavailable(doing, name string, err error) error {
	return tools.Errorf(tools.CodeStateUnavailable, "%s %s: %w", doing, name, err)
}
