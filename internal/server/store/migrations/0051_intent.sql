-- +goose Up

-- Entries that a process is about to write to the audit log, after entry base: the hash of
-- the first of them, and the number and the hash of the last. A log that is ahead of
-- audit_head by such entries was written by a process that was killed. One that is ahead by
-- others belongs to a later store than this one. The latest rows are kept: a store without
-- any is of before this table.
CREATE TABLE audit_intent (
    first BLOB    PRIMARY KEY CHECK (length(first) = 32),
    base  INTEGER NOT NULL CHECK (base >= 0),
    n     INTEGER NOT NULL CHECK (n > base),
    last  BLOB    NOT NULL CHECK (length(last) = 32)
) STRICT;
