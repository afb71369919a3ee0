package sqlstate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
)

// artifacts is the ArtifactStore. Content is in chunks, each written in a transaction
// of its own, so that a slow reader keeps nobody waiting. An artifact without a hash
// is not whole yet, or on its way out.
type artifacts struct {
	view
	most int64
}

const (
	// chunkBytes is the size of all chunks but the last.
	chunkBytes = 256 << 10
	// dropChunks is how many chunks are removed in one transaction.
	dropChunks = 64
	// abandoned is how long after its last chunk an artifact that is not whole is
	// taken for what a crash has left.
	abandoned = time.Hour

	selectArtifact = `SELECT id, bytes, saved FROM prism_artifact WHERE tenant = $1 AND account = $2 AND person = $3 AND sha256 = $4`

	insertArtifact = `INSERT INTO prism_artifact (id, tenant, account, person, sha256, bytes, saved, touched) VALUES ($1, $2, $3, $4, $5, $6, $7, $7)`

	insertChunk = `INSERT INTO prism_chunk (artifact, number, data) VALUES ($1, $2, $3)`

	touchArtifact = `UPDATE prism_artifact SET touched = $2 WHERE id = $1 AND sha256 IS NULL AND touched > 0`

	nameArtifact = `UPDATE prism_artifact SET sha256 = $2, bytes = $3, saved = $4 WHERE id = $1 AND sha256 IS NULL AND touched > 0`

	unnameArtifact = `UPDATE prism_artifact SET sha256 = NULL, touched = 0 WHERE id = $1 AND sha256 = $2`

	giveUpArtifact = `UPDATE prism_artifact SET touched = 0 WHERE id = $1 AND sha256 IS NULL`

	abandonedArtifacts = `SELECT id FROM prism_artifact WHERE sha256 IS NULL AND touched < $1 LIMIT 16`

	selectChunk = `SELECT data FROM prism_chunk WHERE artifact = $1 AND number = $2`

	deleteChunks = `DELETE FROM prism_chunk WHERE artifact = $1 AND number IN (SELECT number FROM prism_chunk WHERE artifact = $1 ORDER BY number LIMIT $2)`

	deleteArtifact = `DELETE FROM prism_artifact WHERE id = $1 AND sha256 IS NULL`

	listArtifacts = `SELECT sha256, bytes, saved FROM prism_artifact
		WHERE tenant = $1 AND account = $2 AND person = $3 AND sha256 > $4 ORDER BY sha256 LIMIT $5`
)

// Put implements state.ArtifactStore.
func (s *artifacts) Put(ctx context.Context, owner state.Owner, r io.Reader) (state.Artifact, error) {
	if err := owner.Check(); err != nil {
		return state.Artifact{}, err
	}
	if err := s.ready(ctx); err != nil {
		return state.Artifact{}, err
	}
	upload := &upload{artifacts: s, owner: owner, chunk: make([]byte, chunkBytes)}
	artifact, err := upload.run(ctx, r)
	if err != nil && upload.id != 0 {
		// Whatever stops it, even the context, nothing of it stays, if it can be helped.
		_ = s.drop(context.WithoutCancel(ctx), upload.id)
	}
	return artifact, err
}

// upload is one Put.
type upload struct {
	*artifacts
	owner state.Owner
	chunk []byte
	id    int64 // of what is in the database and not whole; 0: nothing
}

func (u *upload) run(ctx context.Context, r io.Reader) (state.Artifact, error) {
	sum, bytes := sha256.New(), int64(0)
	for number := int64(0); ; number++ {
		n, err := io.ReadFull(r, u.chunk)
		last := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !last {
			return state.Artifact{}, err
		}
		sum.Write(u.chunk[:n])
		if bytes += int64(n); bytes > u.most {
			return state.Artifact{}, state.ArtifactTooLarge(u.most)
		}
		if last {
			artifact := state.Artifact{Owner: u.owner, SHA256: hex.EncodeToString(sum.Sum(nil)), Bytes: bytes}
			return u.finish(ctx, artifact, number, u.chunk[:n])
		}
		if number == 0 {
			if err := u.begin(ctx); err != nil {
				return state.Artifact{}, err
			}
		}
		err = u.write(ctx, func(tx Tx) error { return u.add(tx, number, u.chunk[:n]) })
		if err != nil {
			return state.Artifact{}, err
		}
	}
}

// begin makes room for what is more than one chunk.
func (u *upload) begin(ctx context.Context) error {
	if err := u.sweep(ctx); err != nil {
		return err
	}
	return u.write(ctx, func(tx Tx) (err error) {
		if u.id, err = tx.Token(); err != nil {
			return err
		}
		now, err := tx.Now()
		if err != nil {
			return err
		}
		return u.insert(tx, nil, 0, now)
	})
}

func (u *upload) insert(tx Tx, sum *string, bytes int64, now time.Time) error {
	_, err := tx.Exec(insertArtifact, u.id, u.owner.Tenant, u.owner.Account, u.owner.User, sum, bytes, micros(now))
	return err
}

func (u *upload) add(tx Tx, number int64, data []byte) error {
	now, err := tx.Now()
	if err != nil {
		return err
	}
	affected, err := tx.Exec(touchArtifact, u.id, micros(now))
	if err == nil && affected != 1 {
		err = errSwept
	}
	if err == nil {
		_, err = tx.Exec(insertChunk, u.id, number, data)
	}
	return err
}

var errSwept = tools.Errorf(tools.CodeStateUnavailable, "it took so long that what was there of the artifact was taken for left over")

// finish has the artifact under its hash, or finds that it is there already.
func (u *upload) finish(ctx context.Context, artifact state.Artifact, number int64, rest []byte) (state.Artifact, error) {
	staged := u.id
	there := false
	err := u.write(ctx, func(tx Tx) error {
		u.id = staged
		kept, _, err := u.find(tx, artifact.Owner, artifact.SHA256)
		if err != nil {
			return err
		}
		if there = kept != nil; there {
			artifact = *kept
			return nil
		}
		now, err := tx.Now()
		if err != nil {
			return err
		}
		artifact.Saved = now
		if staged == 0 {
			if u.id, err = tx.Token(); err != nil {
				return err
			}
			if err := u.insert(tx, &artifact.SHA256, artifact.Bytes, now); err != nil || len(rest) == 0 {
				return err
			}
			_, err = tx.Exec(insertChunk, u.id, number, rest)
			return err
		}
		if len(rest) > 0 {
			if err := u.add(tx, number, rest); err != nil {
				return err
			}
		}
		affected, err := tx.Exec(nameArtifact, u.id, artifact.SHA256, artifact.Bytes, micros(now))
		if err == nil && affected != 1 {
			err = errSwept
		}
		return err
	})
	u.id = staged
	if err != nil {
		return state.Artifact{}, err
	}
	if there && staged != 0 {
		_ = u.drop(ctx, staged) // or it is swept
	}
	return artifact, nil
}

// sweep removes what crashes have left.
func (s *artifacts) sweep(ctx context.Context) error {
	var left []int64
	err := s.read(ctx, func(tx Tx) error {
		left = nil
		now, err := tx.Now()
		if err != nil {
			return err
		}
		rows, err := tx.Rows(abandonedArtifacts, micros(now.Add(-abandoned)))
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id int64
			if err := rows.Scan(&id); err != nil {
				return err
			}
			left = append(left, id)
		}
		return rows.Err()
	})
	for _, id := range left {
		err = errors.Join(err, s.drop(ctx, id))
	}
	return err
}

// drop removes an artifact that has no hash, in steps that nobody waits for long.
func (s *artifacts) drop(ctx context.Context, id int64) error {
	for left := int64(1); left > 0; {
		err := s.db.Write(ctx, func(tx Tx) (err error) {
			if _, err = tx.Exec(giveUpArtifact, id); err != nil {
				return err
			}
			if left, err = tx.Exec(deleteChunks, id, dropChunks); err != nil || left > 0 {
				return err
			}
			_, err = tx.Exec(deleteArtifact, id)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *artifacts) find(tx Tx, owner state.Owner, sum string) (*state.Artifact, int64, error) {
	artifact := state.Artifact{Owner: owner, SHA256: sum}
	var id, saved int64
	err := tx.Row(selectArtifact, owner.Tenant, owner.Account, owner.User, sum).Scan(&id, &artifact.Bytes, &saved)
	if none(err) {
		return nil, 0, nil
	}
	artifact.Saved = fromMicros(saved)
	return &artifact, id, err
}

// look finds an artifact, or is CodeNotFound.
func (s *artifacts) look(ctx context.Context, owner state.Owner, sum string) (artifact state.Artifact, id int64, err error) {
	if err := state.CheckArtifact(owner, sum); err != nil {
		return state.Artifact{}, 0, err
	}
	err = s.read(ctx, func(tx Tx) error {
		kept, number, err := s.find(tx, owner, sum)
		if err != nil {
			return err
		}
		if kept == nil {
			return state.NoArtifact(sum)
		}
		artifact, id = *kept, number
		return nil
	})
	return artifact, id, err
}

// Stat implements state.ArtifactStore.
func (s *artifacts) Stat(ctx context.Context, owner state.Owner, sum string) (state.Artifact, error) {
	artifact, _, err := s.look(ctx, owner, sum)
	return artifact, err
}

// Open implements state.ArtifactStore.
func (s *artifacts) Open(ctx context.Context, owner state.Owner, sum string) (io.ReadCloser, error) {
	artifact, id, err := s.look(ctx, owner, sum)
	if err != nil {
		return nil, err
	}
	return state.VerifyArtifact(artifact, &chunks{ctx: ctx, artifacts: s, id: id, left: artifact.Bytes}), nil
}

// chunks reads one artifact, as raw as it is kept.
type chunks struct {
	*artifacts
	ctx    context.Context
	id     int64
	number int64
	left   int64 // bytes in the chunks from number on
	rest   []byte
}

func (c *chunks) Read(p []byte) (int, error) {
	for len(c.rest) == 0 {
		if c.left <= 0 {
			return 0, io.EOF
		}
		err := c.read(c.ctx, func(tx Tx) error {
			err := tx.Row(selectChunk, c.id, c.number).Scan(&c.rest)
			if none(err) {
				return nil
			}
			return err
		})
		if err != nil {
			return 0, err
		}
		if len(c.rest) == 0 { // it is not there, or was emptied: whoever verifies this says so
			return 0, io.EOF
		}
		c.number++
		c.left -= int64(len(c.rest))
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

func (c *chunks) Close() error {
	c.left, c.rest = 0, nil
	return nil
}

// List implements state.ArtifactStore; the order is that of the hashes.
func (s *artifacts) List(ctx context.Context, owner state.Owner, cursor string, limit int64) (state.ArtifactPage, error) {
	if err := owner.Check(); err != nil {
		return state.ArtifactPage{}, err
	}
	limit, err := state.PageRecords.Option(limit)
	if err != nil {
		return state.ArtifactPage{}, err
	}
	var page state.ArtifactPage
	err = s.read(ctx, func(tx Tx) error {
		page = state.ArtifactPage{}
		rows, err := tx.Rows(listArtifacts, owner.Tenant, owner.Account, owner.User, cursor, limit+1)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			artifact, saved := state.Artifact{Owner: owner}, int64(0)
			if err := rows.Scan(&artifact.SHA256, &artifact.Bytes, &saved); err != nil {
				return err
			}
			artifact.Saved = fromMicros(saved)
			page.Artifacts = append(page.Artifacts, artifact)
		}
		return rows.Err()
	})
	if err != nil {
		return state.ArtifactPage{}, err
	}
	if int64(len(page.Artifacts)) > limit {
		page.Artifacts = page.Artifacts[:limit]
		page.Next = page.Artifacts[limit-1].SHA256
	}
	return page, nil
}

// Delete implements state.ArtifactStore. Once it has no hash it is gone for all; the
// chunks follow.
func (s *artifacts) Delete(ctx context.Context, owner state.Owner, sum string) error {
	if err := state.CheckArtifact(owner, sum); err != nil {
		return err
	}
	var id int64
	err := s.write(ctx, func(tx Tx) error {
		kept, number, err := s.find(tx, owner, sum)
		if err != nil {
			return err
		}
		id = number
		affected := int64(0)
		if kept != nil {
			affected, err = tx.Exec(unnameArtifact, id, sum)
		}
		if err == nil && affected != 1 {
			return state.NoArtifact(sum)
		}
		return err
	})
	if err != nil {
		return err
	}
	_ = s.drop(context.WithoutCancel(ctx), id) // or it is swept
	return nil
}
