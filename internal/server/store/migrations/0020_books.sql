-- +goose Up

-- Books are resources too: parent is the table, which may be deleted while its book stays.
CREATE TABLE resource_new (
    n       INTEGER PRIMARY KEY AUTOINCREMENT,
    id      TEXT    NOT NULL UNIQUE CHECK (length(id) = 19),
    kind    TEXT    NOT NULL CHECK (kind IN ('table', 'recipe', 'release', 'job', 'book')),
    parent  TEXT    NOT NULL,
    version INTEGER NOT NULL CHECK (version > 0),
    doc     TEXT    NOT NULL CHECK (json_valid(doc))
) STRICT;

INSERT INTO resource_new SELECT n, id, kind, parent, version, doc FROM resource;
DROP TABLE resource;
ALTER TABLE resource_new RENAME TO resource;
CREATE INDEX resource_kind ON resource (kind, parent, n);

-- One book a table.
CREATE UNIQUE INDEX resource_book ON resource (parent) WHERE kind = 'book';

-- Paid questions: asked before anything is charged, then answered, or withheld where it
-- has no answer. request_key is that of the charge in the ledger: a
-- hash of the principal and the Idempotency-Key. request is the hash of what was asked,
-- by which a stored answer is found. paid is what the quote stated, line the answer's
-- line in a list, body the bytes that are sent. A row is never changed once it is
-- answered or withheld, and none of those is deleted.
CREATE TABLE answer (
    n           INTEGER PRIMARY KEY AUTOINCREMENT,
    id          TEXT    NOT NULL UNIQUE CHECK (length(id) = 19),
    book        TEXT    NOT NULL,
    principal   TEXT    NOT NULL,
    request_key TEXT    NOT NULL UNIQUE CHECK (length(request_key) = 64),
    body_hash   BLOB    NOT NULL CHECK (length(body_hash) = 32),
    request     TEXT    NOT NULL,
    made        INTEGER NOT NULL,
    state       TEXT    NOT NULL CHECK (state IN ('asked', 'answered', 'withheld')),
    paid        TEXT    NOT NULL CHECK (json_valid(paid)),
    link        INTEGER NOT NULL DEFAULT 0,
    line        TEXT    NOT NULL DEFAULT '{}' CHECK (json_valid(line)),
    body        BLOB
) STRICT;

CREATE INDEX answer_book ON answer (book, n);
CREATE INDEX answer_request ON answer (book, request, n);
CREATE INDEX answer_open ON answer (n) WHERE state = 'asked';

CREATE TRIGGER answer_final BEFORE UPDATE ON answer WHEN OLD.state <> 'asked'
BEGIN SELECT raise(ABORT, 'an answer is final'); END;

CREATE TRIGGER answer_stays BEFORE DELETE ON answer WHEN OLD.state <> 'asked'
BEGIN SELECT raise(ABORT, 'an answer is final'); END;

-- Requests that a budget did not cover. Nothing was read or charged for them. doc holds
-- what was asked, the amounts and the account.
CREATE TABLE refusal (
    n         INTEGER PRIMARY KEY AUTOINCREMENT,
    book      TEXT    NOT NULL,
    principal TEXT    NOT NULL,
    made      INTEGER NOT NULL,
    doc       TEXT    NOT NULL CHECK (json_valid(doc))
) STRICT;

CREATE INDEX refusal_book ON refusal (book, made, n);
CREATE INDEX refusal_own ON refusal (book, principal, made, n);

-- Levels of a cap that what is spent has passed: each once for each cap. account is ''
-- for the book itself.
CREATE TABLE alert (
    n       INTEGER PRIMARY KEY AUTOINCREMENT,
    book    TEXT    NOT NULL,
    account TEXT    NOT NULL,
    level   INTEGER NOT NULL CHECK (level IN (50, 80, 100)),
    cap     TEXT    NOT NULL,
    made    INTEGER NOT NULL,
    UNIQUE (book, account, level, cap)
) STRICT;
