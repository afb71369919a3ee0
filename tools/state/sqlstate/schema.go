package sqlstate

import (
	"github.com/prism-ls/prism-ls/tools"
)

// migrations bring a database from each version to the next; version 0 is empty. One
// that has been released is never changed. Processes of an earlier version may have the
// database open while it is brought to a later one: what they go on to do to it has to
// be right, or to fail (a column that they do not name must not be null, say). Types and options are SQLite's: postgres
// has others for them.
func migrations() []string {
	return []string{`
CREATE TABLE prism_meta (name TEXT NOT NULL PRIMARY KEY, value INTEGER NOT NULL) STRICT;
CREATE TABLE prism_record (
	namespace TEXT NOT NULL, name TEXT NOT NULL,
	tenant TEXT NOT NULL, account TEXT NOT NULL, person TEXT NOT NULL,
	version INTEGER NOT NULL CHECK (version > 0), fence INTEGER NOT NULL CHECK (fence >= 0),
	saved INTEGER NOT NULL, data BLOB NOT NULL,
	PRIMARY KEY (namespace, name)
) STRICT;
CREATE INDEX prism_record_owner ON prism_record (namespace, tenant, account, person, name);
CREATE TABLE prism_lease (
	namespace TEXT NOT NULL, name TEXT NOT NULL,
	tenant TEXT NOT NULL, account TEXT NOT NULL, person TEXT NOT NULL,
	holder TEXT NOT NULL, token INTEGER NOT NULL CHECK (token > 0), expires INTEGER NOT NULL,
	PRIMARY KEY (namespace, name)
) STRICT;
CREATE TABLE prism_effect (
	key TEXT NOT NULL PRIMARY KEY,
	tenant TEXT NOT NULL, account TEXT NOT NULL, person TEXT NOT NULL,
	operation TEXT NOT NULL, state TEXT NOT NULL,
	attempts INTEGER NOT NULL, claim INTEGER NOT NULL CHECK (claim > 0), expires INTEGER NOT NULL,
	witnesses BLOB NOT NULL, result BLOB NOT NULL, reason TEXT NOT NULL,
	created INTEGER NOT NULL, updated INTEGER NOT NULL
) STRICT;
CREATE INDEX prism_effect_owner ON prism_effect (tenant, account, person, key);
CREATE TABLE prism_artifact (
	id INTEGER NOT NULL PRIMARY KEY,
	tenant TEXT NOT NULL, account TEXT NOT NULL, person TEXT NOT NULL,
	sha256 TEXT, bytes INTEGER NOT NULL, saved INTEGER NOT NULL, touched INTEGER NOT NULL,
	UNIQUE (tenant, account, person, sha256)
) STRICT;
CREATE TABLE prism_chunk (
	artifact INTEGER NOT NULL REFERENCES prism_artifact (id), number INTEGER NOT NULL, data BLOB NOT NULL,
	PRIMARY KEY (artifact, number)
) STRICT;
`}
}

// Version is the schema's that this package has.
func Version() int64 { return int64(len(migrations())) }

// Migrate brings the schema from a version (0: nothing is there) to this package's.
// rewrite turns a statement into the dialect's. A later version is refused,
// CodeStateUnavailable.
func Migrate(tx Tx, from int64, rewrite func(string) string) error {
	if from > Version() {
		return tools.Errorf(tools.CodeStateUnavailable, "the store was written by a later prism-ls (schema %d, this one knows up to %d); use that one", from, Version())
	}
	for at := from; at < Version(); at++ {
		if _, err := tx.Exec(rewrite(migrations()[at])); err != nil {
			return err
		}
	}
	if from == Version() {
		return nil
	}
	_, err := tx.Exec(`INSERT INTO prism_meta (name, value) VALUES ('version', $1) ON CONFLICT (name) DO UPDATE SET value = $1`, Version())
	return err
}
