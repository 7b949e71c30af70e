-- +goose Up

-- Tables, recipes, releases and jobs: a document in JSON each. parent is the table
-- that the document belongs to, or '' for tables. The version grows by one with
-- each change.
CREATE TABLE resource (
    n       INTEGER PRIMARY KEY AUTOINCREMENT,
    id      TEXT    NOT NULL UNIQUE CHECK (length(id) = 19),
    kind    TEXT    NOT NULL CHECK (kind IN ('table', 'recipe', 'release', 'job')),
    parent  TEXT    NOT NULL,
    version INTEGER NOT NULL CHECK (version > 0),
    doc     TEXT    NOT NULL CHECK (json_valid(doc))
) STRICT;

CREATE INDEX resource_kind ON resource (kind, parent, n);
