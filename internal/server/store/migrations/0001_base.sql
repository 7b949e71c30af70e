-- +goose Up

-- One row: when this store was made, the greatest time that any process has
-- seen (milliseconds since 1970), and the address that links begin with.
CREATE TABLE server (
    one       INTEGER PRIMARY KEY CHECK (one = 1),
    made      INTEGER NOT NULL,
    last_seen INTEGER NOT NULL,
    base      TEXT    NOT NULL
) STRICT;

-- People and programs that may sign in.
CREATE TABLE principal (
    id       TEXT    PRIMARY KEY CHECK (length(id) = 19),
    name     TEXT    NOT NULL UNIQUE CHECK (name <> ''),
    made     INTEGER NOT NULL,
    ended    INTEGER,
    seen_day TEXT
) STRICT;

-- A role of a principal on an object: a table, or '*' for all.
CREATE TABLE role_grant (
    principal TEXT    NOT NULL REFERENCES principal (id),
    object    TEXT    NOT NULL CHECK (object <> ''),
    role      TEXT    NOT NULL CHECK (role IN ('steward', 'analyst', 'auditor')),
    made      INTEGER NOT NULL,
    PRIMARY KEY (principal, object, role)
) STRICT;

-- Bearer tokens. Only the SHA-256 of the secret is stored.
CREATE TABLE token (
    id        TEXT    PRIMARY KEY CHECK (length(id) = 19),
    principal TEXT    NOT NULL REFERENCES principal (id),
    name      TEXT    NOT NULL CHECK (name <> ''),
    hash      BLOB    NOT NULL UNIQUE CHECK (length(hash) = 32),
    networks  TEXT    NOT NULL,
    made      INTEGER NOT NULL,
    ends      INTEGER NOT NULL,
    used_day  TEXT,
    revoked   INTEGER
) STRICT;

-- Sessions of browsers, by the SHA-256 of the cookie's secret.
CREATE TABLE session (
    hash      BLOB    PRIMARY KEY CHECK (length(hash) = 32),
    principal TEXT    NOT NULL REFERENCES principal (id),
    made      INTEGER NOT NULL,
    seen      INTEGER NOT NULL,
    ends      INTEGER NOT NULL
) STRICT;

-- Sign-in links of one use, by the SHA-256 of their secret.
CREATE TABLE link (
    hash      BLOB    PRIMARY KEY CHECK (length(hash) = 32),
    principal TEXT    NOT NULL REFERENCES principal (id),
    made      INTEGER NOT NULL,
    until     INTEGER NOT NULL,
    used      INTEGER
) STRICT;

-- Answers to requests with an Idempotency-Key.
CREATE TABLE idempotency (
    principal TEXT    NOT NULL,
    route     TEXT    NOT NULL,
    key       TEXT    NOT NULL,
    body_hash BLOB    NOT NULL CHECK (length(body_hash) = 32),
    status    INTEGER NOT NULL,
    body      BLOB    NOT NULL,
    made      INTEGER NOT NULL,
    PRIMARY KEY (principal, route, key)
) STRICT;

-- Public keys that have signed here.
CREATE TABLE signing_key (
    id    TEXT    PRIMARY KEY CHECK (id <> ''),
    pem   TEXT    NOT NULL CHECK (pem <> ''),
    since INTEGER NOT NULL,
    until INTEGER
) STRICT;

-- Certificates of releases. object is what grants are made on: the table.
CREATE TABLE certificate (
    id        TEXT    PRIMARY KEY CHECK (id <> ''),
    release   TEXT    NOT NULL,
    object    TEXT    NOT NULL,
    key_id    TEXT    NOT NULL,
    file_name TEXT    NOT NULL,
    sha256    TEXT    NOT NULL CHECK (length(sha256) = 64),
    guarantee TEXT    NOT NULL,
    made      INTEGER NOT NULL
) STRICT;

-- The last entry of the audit log that is known to be on disk.
CREATE TABLE audit_head (
    one  INTEGER PRIMARY KEY CHECK (one = 1),
    n    INTEGER NOT NULL,
    hash BLOB    NOT NULL CHECK (length(hash) = 32),
    size INTEGER NOT NULL
) STRICT;
