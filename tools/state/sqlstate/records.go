package sqlstate

import (
	"context"
	"time"

	"github.com/prism-ls/prism-ls/tools/state"
)

// records is the CheckpointStore.
type records struct {
	view
	most int64
}

const (
	recordColumns = `tenant, account, person, version, fence, saved, data`

	selectRecord = `SELECT ` + recordColumns + ` FROM prism_record WHERE namespace = $1 AND name = $2`

	insertRecord = `INSERT INTO prism_record (namespace, name, ` + recordColumns + `)
		VALUES ($1, $2, $3, $4, $5, 1, $6, $7, $8) ON CONFLICT DO NOTHING`

	updateRecord = `UPDATE prism_record SET version = version + 1, fence = $6, saved = $7, data = $8
		WHERE namespace = $1 AND name = $2 AND tenant = $3 AND account = $4 AND person = $5 AND version = $9 AND fence <= $6`

	deleteRecord = `DELETE FROM prism_record
		WHERE namespace = $1 AND name = $2 AND tenant = $3 AND account = $4 AND person = $5 AND version = $6 AND fence <= $7`

	listRecords = `SELECT name, ` + recordColumns + ` FROM prism_record
		WHERE namespace = $1 AND tenant = $2 AND account = $3 AND person = $4 AND name > $5 ORDER BY name LIMIT $6`
)

// scanner is a row, or one of several.
type scanner interface{ Scan(into ...any) error }

func scanRecord(row scanner, r *state.Record, before ...any) error {
	var saved int64
	owner := &r.Key.Owner
	err := row.Scan(append(before, &owner.Tenant, &owner.Account, &owner.User, &r.Version, &r.Fence, &saved, &r.Data)...)
	r.Saved = fromMicros(saved)
	return err
}

// find returns nil where there is no record.
func find(tx Tx, key state.Key) (*state.Record, error) {
	record := state.Record{Key: key}
	err := scanRecord(tx.Row(selectRecord, key.Namespace, key.Name), &record)
	if none(err) {
		return nil, nil
	}
	return &record, err
}

// Load implements state.CheckpointStore.
func (s *records) Load(ctx context.Context, key state.Key) (state.Record, error) {
	if err := key.Check(true); err != nil {
		return state.Record{}, err
	}
	var kept *state.Record
	err := s.read(ctx, func(tx Tx) (err error) {
		kept, err = find(tx, key)
		return err
	})
	switch {
	case err != nil:
		return state.Record{}, err
	case kept == nil:
		return state.Record{}, state.NoRecord(key)
	}
	if err := state.Own(kept, key); err != nil {
		return state.Record{}, err
	}
	return *kept, nil
}

// Save implements state.CheckpointStore.
func (s *records) Save(ctx context.Context, key state.Key, change state.Change) (state.Record, error) {
	if err := key.Check(true); err != nil {
		return state.Record{}, err
	}
	if err := change.Check(s.most); err != nil {
		return state.Record{}, err
	}
	record := state.Record{
		Key: key, Version: change.Version + 1, Fence: change.Fence,
		Data: append([]byte(nil), change.Data...), Saved: state.Stamp(time.Now()),
	}
	err := s.write(ctx, func(tx Tx) error {
		if change.Lease != nil {
			if err := underLease(tx, key, change.Lease); err != nil {
				return err
			}
		}
		return changeRecord(tx, key, change.Version, change.Fence, func() (int64, error) {
			args := []any{key.Namespace, key.Name, key.Owner.Tenant, key.Owner.Account, key.Owner.User, change.Fence, micros(record.Saved), some(record.Data)}
			if change.Version == 0 {
				return tx.Exec(insertRecord, args...)
			}
			return tx.Exec(updateRecord, append(args, change.Version)...)
		})
	})
	if err != nil {
		return state.Record{}, err
	}
	return record, nil
}

// changeRecord makes a change whose conditions are in its statement, and says why it
// did not happen.
func changeRecord(tx Tx, key state.Key, version, fence int64, change func() (int64, error)) error {
	for range races {
		if affected, err := change(); err != nil || affected == 1 {
			return err
		}
		kept, err := find(tx, key)
		if err != nil {
			return err
		}
		if err := state.Allow(kept, key, version, fence); err != nil {
			return err
		}
	}
	return errRaces
}

// underLease locks the lease until the transaction ends, so that what is saved comes
// before whatever its next holder does.
func underLease(tx Tx, key state.Key, lease *state.Lease) error {
	kept, err := findLease(tx, lease.Key)
	if err != nil {
		return err
	}
	now, err := tx.Now()
	if err != nil {
		return err
	}
	refused := lease.Held(kept, now)
	if refused == nil {
		return nil
	}
	record, err := find(tx, key)
	if err != nil {
		return err
	}
	if record != nil {
		if err := state.Own(record, key); err != nil {
			return err
		}
	}
	return refused
}

// Delete implements state.CheckpointStore.
func (s *records) Delete(ctx context.Context, key state.Key, version, fence int64) error {
	if err := key.Check(true); err != nil {
		return err
	}
	if err := state.CheckNumbers(version, fence); err != nil {
		return err
	}
	return s.write(ctx, func(tx Tx) error {
		for range races {
			affected, err := tx.Exec(deleteRecord, key.Namespace, key.Name, key.Owner.Tenant, key.Owner.Account, key.Owner.User, version, fence)
			if err != nil || affected == 1 {
				return err
			}
			kept, err := find(tx, key)
			switch {
			case err != nil:
				return err
			case kept == nil:
				return state.NoRecord(key)
			}
			if err := state.Allow(kept, key, version, fence); err != nil {
				return err
			}
		}
		return errRaces
	})
}

// List implements state.CheckpointStore; the order is that of the names.
func (s *records) List(ctx context.Context, in state.Key, cursor string, limit int64) (state.Page, error) {
	if err := in.Check(false); err != nil {
		return state.Page{}, err
	}
	limit, err := state.PageRecords.Option(limit)
	if err != nil {
		return state.Page{}, err
	}
	var page state.Page
	err = s.read(ctx, func(tx Tx) error {
		page = state.Page{}
		rows, err := tx.Rows(listRecords, in.Namespace, in.Owner.Tenant, in.Owner.Account, in.Owner.User, cursor, limit+1)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			record := state.Record{Key: in}
			if err := scanRecord(rows, &record, &record.Key.Name); err != nil {
				return err
			}
			page.Records = append(page.Records, record)
		}
		return rows.Err()
	})
	if err != nil {
		return state.Page{}, err
	}
	if int64(len(page.Records)) > limit {
		page.Records = page.Records[:limit]
		page.Next = page.Records[limit-1].Key.Name
	}
	return page, nil
}
