-- +goose Up

-- One row: who this ledger is, the key of its fingerprints, and the latest
-- time it has seen (milliseconds since 1970).
CREATE TABLE ledger (
    one        INTEGER PRIMARY KEY CHECK (one = 1),
    id         TEXT    NOT NULL CHECK (length(id) = 32),
    secret     BLOB    NOT NULL CHECK (length(secret) = 32),
    created_at INTEGER NOT NULL,
    last_seen  INTEGER NOT NULL
) STRICT;

-- Everything that bears on a budget, in order: what was done (body, JSON), and
-- the hash that binds it to all before it.
CREATE TABLE chain (
    seq       INTEGER PRIMARY KEY CHECK (seq >= 1),
    kind      TEXT NOT NULL CHECK (kind IN ('create', 'grant', 'charge', 'release', 'forfeit', 'reconcile', 'recover')),
    body      TEXT NOT NULL,
    prev_hash BLOB NOT NULL CHECK (length(prev_hash) = 32),
    hash      BLOB NOT NULL UNIQUE CHECK (length(hash) = 32)
) STRICT;

-- A data set's book, and under it the books of analysts and blocks. Amounts
-- are whole nano-epsilon and atto-delta.
CREATE TABLE account (
    id             INTEGER PRIMARY KEY CHECK (id >= 1),
    parent         INTEGER REFERENCES account (id),
    kind           TEXT    NOT NULL CHECK (kind IN ('dataset', 'analyst', 'block')),
    name           TEXT    NOT NULL CHECK (name <> ''),
    unit           TEXT    NOT NULL CHECK (unit <> ''),
    neighbours     TEXT    NOT NULL CHECK (neighbours IN ('add-remove', 'replace-one')),
    fingerprint    TEXT    UNIQUE,
    path           TEXT,
    cap_eps_nano   INTEGER NOT NULL,
    spent_eps_nano INTEGER NOT NULL DEFAULT 0,
    cap_delta      INTEGER NOT NULL,
    spent_delta    INTEGER NOT NULL DEFAULT 0,
    CHECK (0 <= spent_eps_nano AND spent_eps_nano <= cap_eps_nano),
    CHECK (0 <= spent_delta AND spent_delta <= cap_delta),
    CHECK ((kind = 'dataset') = (parent IS NULL)),
    CHECK ((kind = 'dataset') = (fingerprint IS NOT NULL)),
    CHECK ((kind = 'dataset') = (path IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX account_name ON account (coalesce(parent, 0), kind, name);

CREATE TABLE charge (
    id              TEXT    PRIMARY KEY CHECK (length(id) = 32),
    seq             INTEGER NOT NULL UNIQUE REFERENCES chain (seq),
    account         INTEGER NOT NULL REFERENCES account (id),
    principal       TEXT    NOT NULL CHECK (principal <> ''),
    idempotency_key TEXT    NOT NULL CHECK (idempotency_key <> ''),
    request_hash    BLOB    NOT NULL CHECK (length(request_hash) = 32),
    mechanism_json  TEXT    NOT NULL,
    state           TEXT    NOT NULL CHECK (state IN ('reserved', 'released', 'forfeited')),
    owner           TEXT    NOT NULL,
    owner_boot      TEXT    NOT NULL,
    lease_until     INTEGER NOT NULL,
    lease_boot      INTEGER NOT NULL,
    created_at      INTEGER NOT NULL,
    ended_at        INTEGER,
    reason          TEXT    NOT NULL DEFAULT '',
    UNIQUE (principal, idempotency_key),
    CHECK ((state = 'reserved') = (ended_at IS NULL))
) STRICT;
CREATE INDEX charge_open ON charge (id) WHERE state = 'reserved';

CREATE TABLE charge_line (
    charge  TEXT    NOT NULL REFERENCES charge (id),
    account INTEGER NOT NULL REFERENCES account (id),
    eps     INTEGER NOT NULL CHECK (eps >= 0),
    delta   INTEGER NOT NULL CHECK (delta >= 0),
    PRIMARY KEY (charge, account)
) STRICT, WITHOUT ROWID;

CREATE TABLE release (
    charge    TEXT PRIMARY KEY REFERENCES charge (id),
    payload   BLOB NOT NULL,
    signature BLOB NOT NULL,
    key_id    TEXT NOT NULL
) STRICT;

-- Nothing is ever taken back.
-- +goose StatementBegin
CREATE TRIGGER ledger_keep BEFORE DELETE ON ledger BEGIN SELECT raise(ABORT, 'the ledger forgets nothing'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER chain_keep BEFORE DELETE ON chain BEGIN SELECT raise(ABORT, 'the ledger forgets nothing'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER account_keep BEFORE DELETE ON account BEGIN SELECT raise(ABORT, 'the ledger forgets nothing'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER charge_keep BEFORE DELETE ON charge BEGIN SELECT raise(ABORT, 'the ledger forgets nothing'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER charge_line_keep BEFORE DELETE ON charge_line BEGIN SELECT raise(ABORT, 'the ledger forgets nothing'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER release_keep BEFORE DELETE ON release BEGIN SELECT raise(ABORT, 'the ledger forgets nothing'); END;
-- +goose StatementEnd

-- What was written stays as it was written.
-- +goose StatementBegin
CREATE TRIGGER chain_fixed BEFORE UPDATE ON chain BEGIN SELECT raise(ABORT, 'a link of the chain never changes'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER chain_next BEFORE INSERT ON chain
WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM chain)
  OR NEW.prev_hash IS NOT coalesce((SELECT hash FROM chain ORDER BY seq DESC LIMIT 1), zeroblob(32))
BEGIN SELECT raise(ABORT, 'a link must follow the last one'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER charge_line_fixed BEFORE UPDATE ON charge_line BEGIN SELECT raise(ABORT, 'a cost never changes'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER release_fixed BEFORE UPDATE ON release BEGIN SELECT raise(ABORT, 'a release never changes'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER ledger_fixed BEFORE UPDATE ON ledger
WHEN NEW.id IS NOT OLD.id OR NEW.secret IS NOT OLD.secret OR NEW.created_at IS NOT OLD.created_at OR NEW.last_seen < OLD.last_seen
BEGIN SELECT raise(ABORT, 'the ledger stays itself and its time does not go back'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER account_fixed BEFORE UPDATE ON account
WHEN NEW.id IS NOT OLD.id OR NEW.parent IS NOT OLD.parent OR NEW.kind IS NOT OLD.kind OR NEW.name IS NOT OLD.name
  OR NEW.unit IS NOT OLD.unit OR NEW.neighbours IS NOT OLD.neighbours
BEGIN SELECT raise(ABORT, 'the relation and the unit of a book are fixed at its grant'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER account_spent BEFORE UPDATE ON account
WHEN NEW.spent_eps_nano < OLD.spent_eps_nano OR NEW.spent_delta < OLD.spent_delta
BEGIN SELECT raise(ABORT, 'spent never falls'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER charge_fixed BEFORE UPDATE ON charge
WHEN NEW.id IS NOT OLD.id OR NEW.seq IS NOT OLD.seq OR NEW.account IS NOT OLD.account OR NEW.principal IS NOT OLD.principal
  OR NEW.idempotency_key IS NOT OLD.idempotency_key OR NEW.request_hash IS NOT OLD.request_hash
  OR NEW.mechanism_json IS NOT OLD.mechanism_json OR NEW.created_at IS NOT OLD.created_at OR NEW.owner IS NOT OLD.owner
  OR (OLD.state <> 'reserved' AND NEW.state IS NOT OLD.state)
BEGIN SELECT raise(ABORT, 'a charge never changes, and ends once'); END;
-- +goose StatementEnd
