//go:build unix

package postgres_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prism-ls/prism-ls/tools"
	"github.com/prism-ls/prism-ls/tools/state"
	"github.com/prism-ls/prism-ls/tools/state/postgres"
	"github.com/prism-ls/prism-ls/tools/state/sqlstate"
)

func open(t *testing.T, dsn string, opts *postgres.Options) *sqlstate.Stores {
	t.Helper()
	stores, err := postgres.Open(t.Context(), dsn, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stores.Close() })
	return stores
}

// raw is the database as anybody else has it.
func raw(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func run(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

func key(name string) state.Key { return state.Key{Namespace: "test", Name: name} }

func save(t *testing.T, stores *sqlstate.Stores, name string, version int64) {
	t.Helper()
	if _, err := stores.Checkpoints().Save(t.Context(), key(name), state.Change{Version: version, Data: []byte(name)}); err != nil {
		t.Fatal(err)
	}
}

func TestDSNs(t *testing.T) {
	for _, dsn := range []string{"postgres://ann:hunter2@[::1", "host=x password='hunter2", "postgres://ann:hunter2@h:port/d", "nothing"} {
		_, err := postgres.Open(t.Context(), dsn, nil)
		if !errors.Is(err, tools.CodeToolInput) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", dsn, err)
		}
	}
	for _, dsn := range []string{"postgres://ann:hunter2@127.0.0.1:1/prism?connect_timeout=2", "host=/nonexistent user=ann password=hunter2 dbname=prism"} {
		_, err := postgres.Open(t.Context(), dsn, nil)
		if !errors.Is(err, tools.CodeStateUnavailable) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", dsn, err)
		}
	}
	for _, opts := range []postgres.Options{{Wait: -1}, {Wait: time.Hour}, {Connections: -1}, {Connections: 101}} {
		if _, err := postgres.Open(t.Context(), "host=x", &opts); !errors.Is(err, tools.CodeToolInput) {
			t.Errorf("%+v: %v", opts, err)
		}
	}
}

func TestALaterSchemaIsRefused(t *testing.T) {
	dsn := theServer(t).fresh(t)
	open(t, dsn, nil)
	run(t, raw(t, dsn), "UPDATE prism_meta SET value = value + 1 WHERE name = 'version'")
	if _, err := postgres.Open(t.Context(), dsn, nil); !errors.Is(err, tools.CodeStateUnavailable) || !strings.Contains(err.Error(), "later prism-ls") {
		t.Error(err)
	}
}

// TestAWriterWaits has somebody else lock the row for longer than a call may wait.
func TestAWriterWaits(t *testing.T) {
	dsn := theServer(t).fresh(t)
	stores := open(t, dsn, &postgres.Options{Wait: 500 * time.Millisecond})
	save(t, stores, "record", 0)
	tx, err := raw(t, dsn).BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(t.Context(), "SELECT 1 FROM prism_record FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	_, err = stores.Checkpoints().Save(t.Context(), key("record"), state.Change{Version: 1})
	if !errors.Is(err, tools.CodeStateUnavailable) || !strings.Contains(err.Error(), "did not answer") {
		t.Error(err)
	}
	soon, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err = stores.Checkpoints().Save(soon, key("record"), state.Change{Version: 1}); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	save(t, stores, "another", 0)
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	save(t, stores, "record", 1) // what was given up has changed nothing
}

// TestConnectionsThatEnd has the server end all connections, as its restart does.
func TestConnectionsThatEnd(t *testing.T) {
	server := theServer(t)
	dsn := server.fresh(t)
	stores := open(t, dsn, nil)
	for i := range int64(5) {
		save(t, stores, "record", i)
		if err := server.administer("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = 'prism'"); err != nil {
			t.Fatal(err)
		}
	}
	got, err := stores.Checkpoints().Load(t.Context(), key("record"))
	if err != nil || got.Version != 5 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestCommitsWaitForTheDisk(t *testing.T) {
	server := theServer(t)
	if err := server.administer("ALTER ROLE prism SET synchronous_commit = off"); err != nil {
		t.Fatal(err)
	}
	defer server.administer("ALTER ROLE prism RESET synchronous_commit")
	dsn := server.fresh(t)
	stores := open(t, dsn, nil)
	run(t, raw(t, dsn), `CREATE TABLE seen (setting TEXT);
		CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO seen VALUES (current_setting(''synchronous_commit'')); RETURN NEW; END';
		CREATE TRIGGER see AFTER INSERT ON prism_record FOR EACH ROW EXECUTE FUNCTION see()`)
	save(t, stores, "record", 0)
	var setting string
	if err := raw(t, dsn).QueryRowContext(t.Context(), "SELECT setting FROM seen").Scan(&setting); err != nil || setting != "on" {
		t.Errorf("%q, %v", setting, err)
	}
}

func TestAcceptAndSummary(t *testing.T) {
	dsn := theServer(t).fresh(t)
	if _, err := postgres.Summarize(t.Context(), dsn, nil); !errors.Is(err, tools.CodeNotFound) {
		t.Errorf("where nothing is: %v", err)
	}
	stores := open(t, dsn, nil)
	save(t, stores, "record", 0)
	lease, err := stores.Leases().TryAcquire(t.Context(), key("lease"), "one", 0)
	if err != nil {
		t.Fatal(err)
	}
	effect, err := stores.Effects().Begin(t.Context(), state.Owner{}, state.EffectIdentity{Operation: "write"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := postgres.Accept(t.Context(), dsn, nil)
	if err != nil || accepted.Effects != 1 || accepted.Leases != 1 || accepted.Records != 1 || accepted.Sequence < 1<<32 {
		t.Errorf("%+v, %v", accepted, err)
	}
	if _, err := stores.Leases().Renew(t.Context(), lease, 0); !errors.Is(err, tools.CodeStateFence) {
		t.Errorf("renewing: %v", err)
	}
	next, err := stores.Leases().TryAcquire(t.Context(), key("lease"), "two", 0)
	if err != nil || next.Token <= accepted.Sequence {
		t.Errorf("%+v, %v", next, err)
	}
	claim := state.EffectClaim{Owner: effect.Owner, Key: effect.Key, Token: effect.Claim}
	if err := stores.Effects().Complete(t.Context(), claim, nil); !errors.Is(err, tools.CodeStateConflict) {
		t.Errorf("completing: %v", err)
	}
	if _, err := stores.Checkpoints().Save(t.Context(), key("record"), state.Change{Version: 1}); !errors.Is(err, tools.CodeStateConflict) {
		t.Errorf("a version of before: %v", err)
	}
	summary, err := postgres.Summarize(t.Context(), dsn, nil)
	if err != nil || summary.Records != 1 || summary.Leases != 1 || summary.Effects[state.EffectUnknown] != 1 || summary.Schema != sqlstate.Version() || summary.Sequence <= accepted.Sequence {
		t.Errorf("%+v, %v", summary, err)
	}
}

// TestServerRestart has the server end as a crash does, while the store is open. It is
// the last test, since all share the server.
func TestServerRestart(t *testing.T) {
	server := theServer(t)
	stores := open(t, server.fresh(t), &postgres.Options{Wait: 2 * time.Second})
	save(t, stores, "record", 0)
	server.stop()
	if _, err := stores.Checkpoints().Load(t.Context(), key("record")); !errors.Is(err, tools.CodeStateUnavailable) {
		t.Errorf("without a server: %v", err)
	}
	if _, err := stores.Checkpoints().Save(t.Context(), key("record"), state.Change{Version: 1}); !errors.Is(err, tools.CodeStateUnavailable) {
		t.Errorf("without a server: %v", err)
	}
	if err := server.start(); err != nil {
		t.Fatal(err)
	}
	save(t, stores, "record", 1)
}
