-- +goose Up

-- The fingerprints of the bytes of the files that data sets were read from, by which a file
-- and its copies are known however they are read. A file that holds the tables of several data
-- sets belongs to each. Not on the chain: they are keyed by the ledger's secret, a row that is
-- missing makes no budget, and a version of before has none.
CREATE TABLE dataset_file (
    print   TEXT    NOT NULL CHECK (print <> ''),
    account INTEGER NOT NULL REFERENCES account (id),
    PRIMARY KEY (print, account)
) STRICT;

-- +goose StatementBegin
CREATE TRIGGER dataset_file_keep BEFORE DELETE ON dataset_file BEGIN SELECT raise(ABORT, 'the ledger forgets nothing'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER dataset_file_fixed BEFORE UPDATE ON dataset_file BEGIN SELECT raise(ABORT, 'a file belongs to its data sets permanently'); END;
-- +goose StatementEnd
