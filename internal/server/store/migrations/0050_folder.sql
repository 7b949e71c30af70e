-- +goose Up

-- The last entry of the ledger that this store has seen, and what each data set had spent
-- then (JSON). The answers up to number settled are accounted for by a reconciliation:
-- their entries need not be in the ledger.
CREATE TABLE ledger_seen (
    one     INTEGER PRIMARY KEY CHECK (one = 1),
    ledger  TEXT    NOT NULL CHECK (length(ledger) = 32),
    seq     INTEGER NOT NULL CHECK (seq >= 1),
    hash    BLOB    NOT NULL CHECK (length(hash) = 32),
    spent   TEXT    NOT NULL CHECK (json_valid(spent)),
    settled INTEGER NOT NULL DEFAULT 0
) STRICT;
