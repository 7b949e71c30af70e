-- +goose Up

-- Budgets in zCDP: losses in units of 1e-15. In such a budget spent_eps_nano is the sum
-- of the epsilons of the answers without a delta and has no cap, cap_delta is 0, and
-- statement_delta is the delta of its statements. charges counts the charges.
ALTER TABLE account ADD COLUMN accounting TEXT NOT NULL DEFAULT 'epsilon' CHECK (accounting IN ('epsilon', 'zcdp'));
ALTER TABLE account ADD COLUMN statement_delta INTEGER NOT NULL DEFAULT 0 CHECK ((accounting = 'zcdp') = (statement_delta > 0));
ALTER TABLE account ADD COLUMN cap_rho INTEGER NOT NULL DEFAULT 0 CHECK (cap_rho >= 0);
ALTER TABLE account ADD COLUMN spent_rho INTEGER NOT NULL DEFAULT 0 CHECK (0 <= spent_rho AND spent_rho <= cap_rho);
ALTER TABLE account ADD COLUMN spent_gaussian INTEGER NOT NULL DEFAULT 0 CHECK (0 <= spent_gaussian AND spent_gaussian <= spent_rho);
ALTER TABLE account ADD COLUMN charges INTEGER NOT NULL DEFAULT 0 CHECK (charges >= 0);
UPDATE account SET charges = (SELECT count(*) FROM charge_line WHERE charge_line.account = account.id);

-- seq is the entry of the charge, n its number among those of the account, from 1; what
-- the account had spent and had left after it stand beside them. The first opening of an
-- older ledger fills them in for the charges that it holds, from the chain.
ALTER TABLE charge_line ADD COLUMN rho INTEGER NOT NULL DEFAULT 0 CHECK (rho >= 0);
ALTER TABLE charge_line ADD COLUMN gaussian INTEGER NOT NULL DEFAULT 0 CHECK (0 <= gaussian AND gaussian <= rho);
ALTER TABLE charge_line ADD COLUMN seq INTEGER;
ALTER TABLE charge_line ADD COLUMN n INTEGER;
ALTER TABLE charge_line ADD COLUMN spent_eps INTEGER;
ALTER TABLE charge_line ADD COLUMN spent_delta INTEGER;
ALTER TABLE charge_line ADD COLUMN spent_rho INTEGER;
ALTER TABLE charge_line ADD COLUMN left_eps INTEGER;
ALTER TABLE charge_line ADD COLUMN left_delta INTEGER;
ALTER TABLE charge_line ADD COLUMN left_rho INTEGER;
CREATE INDEX charge_line_seq ON charge_line (account, seq);
CREATE INDEX charge_forfeited ON charge (account, seq) WHERE state = 'forfeited';

-- The grants, each with the cap that it set, and with what was left after it of its
-- account (left_*) and of the data set (book_*).
CREATE TABLE passbook (
    seq        INTEGER PRIMARY KEY REFERENCES chain (seq),
    dataset    INTEGER NOT NULL REFERENCES account (id),
    account    INTEGER NOT NULL REFERENCES account (id),
    kind       TEXT    NOT NULL CHECK (kind IN ('opened', 'replaced', 'version', 'cap', 'path', 'account', 'closed')),
    version    INTEGER NOT NULL,
    accounting TEXT    NOT NULL,
    cap_eps    INTEGER NOT NULL,
    cap_delta  INTEGER NOT NULL,
    cap_rho    INTEGER NOT NULL,
    left_eps   INTEGER NOT NULL,
    left_delta INTEGER NOT NULL,
    left_rho   INTEGER NOT NULL,
    book_eps   INTEGER NOT NULL,
    book_delta INTEGER NOT NULL,
    book_rho   INTEGER NOT NULL
) STRICT;
CREATE INDEX passbook_dataset ON passbook (dataset, seq);
CREATE INDEX passbook_account ON passbook (account, seq);

-- Where the anchor is kept, once there is one. Not on the chain.
CREATE TABLE anchor (
    one  INTEGER PRIMARY KEY CHECK (one = 1),
    path TEXT    NOT NULL CHECK (path <> '')
) STRICT;

-- Checkpoints of the older form have none of this: the chain is replayed once.
DELETE FROM checkpoint;

-- +goose StatementBegin
CREATE TRIGGER passbook_keep BEFORE DELETE ON passbook BEGIN SELECT raise(ABORT, 'the ledger forgets nothing'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER passbook_fixed BEFORE UPDATE ON passbook BEGIN SELECT raise(ABORT, 'an entry of the passbook never changes'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER anchor_keep BEFORE DELETE ON anchor BEGIN SELECT raise(ABORT, 'the ledger forgets nothing'); END;
-- +goose StatementEnd

DROP TRIGGER charge_line_fixed;
-- +goose StatementBegin
CREATE TRIGGER charge_line_fixed BEFORE UPDATE ON charge_line
WHEN OLD.n IS NOT NULL OR NEW.charge IS NOT OLD.charge OR NEW.account IS NOT OLD.account OR NEW.eps IS NOT OLD.eps
  OR NEW.delta IS NOT OLD.delta OR NEW.rho IS NOT OLD.rho OR NEW.gaussian IS NOT OLD.gaussian
BEGIN SELECT raise(ABORT, 'a cost never changes'); END;
-- +goose StatementEnd

DROP TRIGGER account_fixed;
-- +goose StatementBegin
CREATE TRIGGER account_fixed BEFORE UPDATE ON account
WHEN NEW.id IS NOT OLD.id OR NEW.parent IS NOT OLD.parent OR NEW.kind IS NOT OLD.kind OR NEW.name IS NOT OLD.name
  OR ((NEW.unit IS NOT OLD.unit OR NEW.neighbours IS NOT OLD.neighbours OR NEW.accounting IS NOT OLD.accounting OR NEW.statement_delta IS NOT OLD.statement_delta)
    AND (OLD.spent_eps_nano <> 0 OR OLD.spent_delta <> 0 OR OLD.spent_rho <> 0 OR NEW.spent_eps_nano <> 0 OR NEW.spent_delta <> 0 OR NEW.spent_rho <> 0))
BEGIN SELECT raise(ABORT, 'relation, unit and accounting of a budget are fixed once something is spent'); END;
-- +goose StatementEnd
DROP TRIGGER account_spent;
-- +goose StatementBegin
CREATE TRIGGER account_spent BEFORE UPDATE ON account
WHEN NEW.spent_eps_nano < OLD.spent_eps_nano OR NEW.spent_delta < OLD.spent_delta OR NEW.spent_rho < OLD.spent_rho
  OR NEW.spent_gaussian < OLD.spent_gaussian OR NEW.charges < OLD.charges
BEGIN SELECT raise(ABORT, 'spent never falls'); END;
-- +goose StatementEnd
