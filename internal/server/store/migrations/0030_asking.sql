-- +goose Up

-- Whose paid questions in which book have ended, because a computation took longer than its
-- bound. A steward allows them again, which deletes the row.
CREATE TABLE asking_ended (
    book      TEXT    NOT NULL,
    principal TEXT    NOT NULL,
    made      INTEGER NOT NULL,
    PRIMARY KEY (book, principal)
) STRICT;
