-- +goose Up

-- Names of what the audit log is about and the store has no more, or never had: resources that
-- were deleted, and uploads.
CREATE TABLE named (
    id   TEXT PRIMARY KEY CHECK (length(id) = 19),
    name TEXT NOT NULL CHECK (name <> '')
) STRICT;

-- +goose StatementBegin
CREATE TRIGGER resource_named AFTER DELETE ON resource
BEGIN
    INSERT OR REPLACE INTO named SELECT OLD.id, name FROM (SELECT CASE OLD.kind
        WHEN 'table' THEN OLD.doc ->> '$.name'
        WHEN 'book' THEN OLD.doc ->> '$.table_name'
        WHEN 'release' THEN OLD.doc ->> '$.file_name'
        ELSE coalesce((SELECT doc ->> '$.name' FROM resource WHERE id = OLD.parent), (SELECT name FROM named WHERE id = OLD.parent))
        END AS name) WHERE name <> '';
END;
-- +goose StatementEnd
