-- +goose Up

-- The secrets from which the noise of answers is expanded that are not stored yet, each
-- encrypted under a key that lies outside of the ledger. A secret is made with its charge,
-- and deleted when the charge ends. It is not on the chain, which forgets nothing, and no
-- export has it.
CREATE TABLE noise_secret (
    charge TEXT NOT NULL PRIMARY KEY REFERENCES charge (id),
    sealed BLOB NOT NULL CHECK (length(sealed) BETWEEN 1 AND 256),
    -- How often the charge was taken up after a crash: a computation that ends its process
    -- each time must not do so for ever.
    tries  INTEGER NOT NULL DEFAULT 0 CHECK (tries >= 0)
) STRICT;

-- +goose StatementBegin
CREATE TRIGGER noise_secret_fixed BEFORE UPDATE ON noise_secret
WHEN NEW.charge IS NOT OLD.charge OR NEW.sealed IS NOT OLD.sealed OR NEW.tries < OLD.tries
BEGIN SELECT raise(ABORT, 'a secret of noise never changes'); END;
-- +goose StatementEnd
