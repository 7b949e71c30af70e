-- +goose Up

-- Entries of the kind contents. SQLite has no statement that changes a check: its documents
-- of ALTER TABLE say how the text of the table is changed instead. The entries that are
-- stored fit the new check too. RESET reads the text again, and the new table below makes
-- other connections do so.
PRAGMA writable_schema = 1;
UPDATE sqlite_schema SET sql = replace(sql, '''reconcile'', ''recover'')', '''reconcile'', ''recover'', ''contents'')')
    WHERE type = 'table' AND name = 'chain';
PRAGMA writable_schema = RESET;

-- What a version's columns are recognised by, beside the names and prints in
-- dataset_version: the keyed prints of their values (JSON: name -> prints), and of a
-- sharded version the print of each column in each file (32 bytes each, file by file,
-- columns by name). The chain holds an HMAC of the row alone, so that exports hold none
-- of it. A row that is missing is made when the version's file is next read.
CREATE TABLE dataset_contents (
    account    INTEGER NOT NULL REFERENCES account (id),
    version    INTEGER NOT NULL CHECK (version >= 1),
    column_values TEXT NOT NULL,
    files      BLOB    NOT NULL,
    PRIMARY KEY (account, version)
) STRICT;

-- +goose StatementBegin
CREATE TRIGGER dataset_contents_keep BEFORE DELETE ON dataset_contents BEGIN SELECT raise(ABORT, 'the ledger forgets nothing'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER dataset_contents_fixed BEFORE UPDATE ON dataset_contents BEGIN SELECT raise(ABORT, 'what a version is recognised by never changes'); END;
-- +goose StatementEnd
