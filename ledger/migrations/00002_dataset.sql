-- +goose Up

-- The versions of a data set: the definition (public, canonical JSON), its
-- hash, the keyed print of the table, the keyed print of each column (JSON:
-- name -> print) and the path. seq is the grant link that made the version.
CREATE TABLE dataset_version (
    account         INTEGER NOT NULL REFERENCES account (id),
    version         INTEGER NOT NULL CHECK (version >= 1),
    seq             INTEGER NOT NULL UNIQUE REFERENCES chain (seq),
    definition      TEXT    NOT NULL CHECK (definition <> ''),
    definition_hash BLOB    NOT NULL CHECK (length(definition_hash) = 32),
    print           TEXT    NOT NULL CHECK (print <> ''),
    columns         TEXT    NOT NULL,
    path            TEXT    NOT NULL CHECK (path <> ''),
    PRIMARY KEY (account, version)
) STRICT;

-- A print and a path belong to one data set permanently: the first that a grant
-- gave them to.
CREATE TABLE dataset_print (
    print   TEXT    PRIMARY KEY CHECK (print <> ''),
    account INTEGER NOT NULL REFERENCES account (id)
) STRICT;
CREATE TABLE dataset_path (
    path    TEXT    PRIMARY KEY CHECK (path <> ''),
    account INTEGER NOT NULL REFERENCES account (id)
) STRICT;

-- Size and modification time of a data set's file when it was last compared
-- with the version. Not on the chain.
CREATE TABLE dataset_seen (
    account INTEGER PRIMARY KEY REFERENCES account (id),
    version INTEGER NOT NULL,
    size    INTEGER NOT NULL,
    mtime   INTEGER NOT NULL
) STRICT;

-- The accounts and data sets as the chain gives them at link seq (JSON), with
-- an HMAC under the ledger's secret. Not on the chain.
CREATE TABLE checkpoint (
    seq   INTEGER PRIMARY KEY REFERENCES chain (seq),
    state TEXT    NOT NULL,
    mac   BLOB    NOT NULL CHECK (length(mac) = 32)
) STRICT;

ALTER TABLE account ADD COLUMN closed INTEGER NOT NULL DEFAULT 0 CHECK (closed IN (0, 1));

CREATE INDEX charge_question ON charge (account, request_hash) WHERE state = 'released';
CREATE INDEX charge_account ON charge (account, seq);
CREATE INDEX chain_grant ON chain (seq) WHERE kind = 'grant';

-- +goose StatementBegin
CREATE TRIGGER dataset_version_keep BEFORE DELETE ON dataset_version BEGIN SELECT raise(ABORT, 'the ledger forgets nothing'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER dataset_version_fixed BEFORE UPDATE ON dataset_version BEGIN SELECT raise(ABORT, 'a version of a data set never changes'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER dataset_print_keep BEFORE DELETE ON dataset_print BEGIN SELECT raise(ABORT, 'the ledger forgets nothing'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER dataset_print_fixed BEFORE UPDATE ON dataset_print BEGIN SELECT raise(ABORT, 'a print belongs to one data set permanently'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER dataset_path_keep BEFORE DELETE ON dataset_path BEGIN SELECT raise(ABORT, 'the ledger forgets nothing'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER dataset_path_fixed BEFORE UPDATE ON dataset_path BEGIN SELECT raise(ABORT, 'a path belongs to one data set permanently'); END;
-- +goose StatementEnd

-- The relation and the unit may be replaced while nothing is spent.
DROP TRIGGER account_fixed;
-- +goose StatementBegin
CREATE TRIGGER account_fixed BEFORE UPDATE ON account
WHEN NEW.id IS NOT OLD.id OR NEW.parent IS NOT OLD.parent OR NEW.kind IS NOT OLD.kind OR NEW.name IS NOT OLD.name
  OR ((NEW.unit IS NOT OLD.unit OR NEW.neighbours IS NOT OLD.neighbours)
    AND (OLD.spent_eps_nano <> 0 OR OLD.spent_delta <> 0 OR NEW.spent_eps_nano <> 0 OR NEW.spent_delta <> 0))
BEGIN SELECT raise(ABORT, 'the relation and the unit of a budget are fixed once something is spent'); END;
-- +goose StatementEnd

-- The prints and paths of the grants before data sets had versions. One that
-- two data sets were granted belongs to the first.
INSERT OR IGNORE INTO dataset_print (print, account)
    SELECT json_extract(body, '$.fingerprint'), json_extract(body, '$.account')
    FROM chain WHERE kind = 'grant' AND json_extract(body, '$.kind') = 'dataset' ORDER BY seq;
INSERT OR IGNORE INTO dataset_path (path, account)
    SELECT json_extract(body, '$.path'), json_extract(body, '$.account')
    FROM chain WHERE kind = 'grant' AND json_extract(body, '$.kind') = 'dataset' ORDER BY seq;
