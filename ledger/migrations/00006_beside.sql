-- +goose Up

-- The last entry of a log that is kept beside the ledger, as the process knew it that wrote
-- the ledger's last entries. It is not on the chain: it is of the folder and not of the
-- ledger, and changes when copies of both are put back.
CREATE TABLE beside (
    one  INTEGER PRIMARY KEY CHECK (one = 1),
    n    INTEGER NOT NULL CHECK (n >= 0),
    hash BLOB    NOT NULL CHECK (length(hash) = 32)
) STRICT;
