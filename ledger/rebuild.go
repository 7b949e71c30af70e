package ledger

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/noren-privacy/noren"
)

// rebuild makes the accounts and data sets as p, the whole chain, says, if they
// are not. What a row said to be spent beyond that is the excess, by account; it
// is charged by chargeExcess, so that nothing spent falls.
func (l *Ledger) rebuild(ctx context.Context, tx *sql.Tx, p *books, before []account, did *Recovery) (excess []excessLine, err error) {
	if p.ledger != l.id {
		return nil, l.damaged(&SealedError{noren.Textf("the chain is of another ledger")})
	}
	r := &Report{}
	if err := l.compareBooks(ctx, tx, p, r.fault); err != nil || len(r.Faults) == 0 {
		return nil, err
	}
	did.Rebuilt = r.Faults
	for _, row := range before {
		want := p.accounts[row.id]
		if want == nil {
			continue
		}
		n := want.lineOver(row.spent.minus(want.spent))
		if n.charges() {
			dataset := want.id
			if want.parent != 0 {
				dataset = want.parent
			}
			excess = append(excess, excessLine{dataset, n})
		}
	}
	fresh, err := empty()
	if err != nil {
		return nil, err
	}
	want := fresh.schema
	// The triggers forbid what follows, rightly. They stand again before the
	// transaction ends, whichever were there.
	have, err := schemaText(ctx, tx)
	if err != nil {
		return nil, err
	}
	for name := range have {
		if trigger, ok := strings.CutPrefix(name, "trigger "); ok {
			if _, err := tx.ExecContext(ctx, `DROP TRIGGER "`+strings.ReplaceAll(trigger, `"`, `""`)+`"`); err != nil {
				return nil, err
			}
		}
	}
	// Contents first: they refer to accounts that the chain may not have.
	if err := l.dropContents(ctx, tx, p); err != nil {
		return nil, err
	}
	if err := rebuildRows(ctx, tx, p); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if strings.HasPrefix(name, "trigger ") {
			if _, err := tx.ExecContext(ctx, want[name]); err != nil {
				return nil, err
			}
		}
	}
	l.at("rebuilt")
	return excess, nil
}

// lineOver is the line of a charge to a of these amounts; those below 0 count as 0.
func (a *account) lineOver(by amounts) line {
	by = by.most(amounts{})
	n := line{Account: a.id, Eps: by.eps, Delta: by.delta}
	if a.zcdp() {
		// The parts of a loss belong together: what one of them says is charged to rho.
		n.Delta, n.Gaussian = 0, by.gaussian
		n.Rho = max(by.rho, n.Gaussian)
		if n.Eps > 0 {
			n.Rho = max(n.Rho, n.Gaussian+1)
		}
	}
	return n
}

// charges reports whether the line charges anything.
func (n *line) charges() bool { return n.Eps > 0 || n.Delta > 0 || n.Rho > 0 }

// excessLine is what the row of an account below dataset said beyond the chain.
type excessLine struct {
	dataset int64
	line    line
}

// rebuildRows writes the rows of accounts and data sets anew.
func rebuildRows(ctx context.Context, tx *sql.Tx, p *books) error {
	for _, clear := range []string{
		"DELETE FROM dataset_version", "DELETE FROM dataset_print", "DELETE FROM dataset_path", "DELETE FROM dataset_seen",
		"DELETE FROM passbook",
		// Names and prints are unique: rows that swapped them must not collide.
		"UPDATE account SET name = 'rebuilt ' || id", "UPDATE account SET fingerprint = 'rebuilt ' || id WHERE fingerprint IS NOT NULL",
	} {
		if _, err := tx.ExecContext(ctx, clear); err != nil {
			return err
		}
	}
	all, err := accounts(ctx, tx, "TRUE")
	if err != nil {
		return err
	}
	slices.SortFunc(all, func(a, b account) int { return cmp.Compare(b.id, a.id) })
	for _, a := range all { // the highest id first: those below before those above
		if p.accounts[a.id] != nil {
			continue
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM dataset_file WHERE account = ?", a.id); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM account WHERE id = ?", a.id); err != nil {
			return err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(p.accounts)) {
		a := p.accounts[id]
		var parent, fingerprint, path any
		if a.parent != 0 {
			parent = a.parent
		}
		if a.kind == kindDataset {
			fingerprint, path = a.fingerprint, a.path
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO account (id, parent, kind, name, unit, neighbours, fingerprint, path, cap_eps_nano, spent_eps_nano, cap_delta, spent_delta, closed,
				accounting, statement_delta, cap_rho, spent_rho, spent_gaussian, charges)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET parent = excluded.parent, kind = excluded.kind, name = excluded.name, unit = excluded.unit, neighbours = excluded.neighbours,
				fingerprint = excluded.fingerprint, path = excluded.path, cap_eps_nano = excluded.cap_eps_nano, spent_eps_nano = excluded.spent_eps_nano,
				cap_delta = excluded.cap_delta, spent_delta = excluded.spent_delta, closed = excluded.closed,
				accounting = excluded.accounting, statement_delta = excluded.statement_delta, cap_rho = excluded.cap_rho,
				spent_rho = excluded.spent_rho, spent_gaussian = excluded.spent_gaussian, charges = excluded.charges`,
			a.id, parent, a.kind, a.name, a.unit, a.neighbours, fingerprint, path, a.cap.eps, a.spent.eps, a.cap.delta, a.spent.delta, a.closed,
			a.accounting, a.statementDelta, a.cap.rho, a.spent.rho, a.spent.gaussian, a.charges); err != nil {
			return err
		}
	}
	var grants []*link
	if err := eachLink(ctx, tx, 0, func(k *link) error {
		if k.Kind == kindGrant {
			grants = append(grants, k)
		}
		return nil
	}); err != nil {
		return err
	}
	for _, k := range grants {
		var b grantBody
		if err := decodeBody(k.Body, &b); err != nil {
			return err
		}
		if err := applyDataset(ctx, tx, k.Seq, &b); err != nil {
			return err
		}
	}
	return fillPassbook(ctx, tx)
}

// chargeExcess charges what the rows, or another file, said beyond the chain, one entry a
// data set. principal says which.
func (l *Ledger) chargeExcess(ctx context.Context, tx *sql.Tx, excess []excessLine, principal noren.Term, now int64) error {
	byDataset := map[int64][]line{}
	for _, e := range excess {
		byDataset[e.dataset] = append(byDataset[e.dataset], e.line)
	}
	for _, id := range slices.Sorted(maps.Keys(byDataset)) {
		b := chargeBody{
			Charge: randomID(), Account: id, Principal: string(principal), RequestHash: hex.EncodeToString(make([]byte, 32)),
			Mechanism: "{}", Owner: "-", Lines: byDataset[id], Time: now,
		}
		b.Key = b.Charge
		k, err := l.appendLink(ctx, tx, kindRecover, b)
		if err != nil {
			return err
		}
		if err := insertRecovered(ctx, tx, k.Seq, &b); err != nil {
			return err
		}
	}
	return nil
}

// finishBooks brings p, the books at the start of a reconciliation, up to its
// last entry, makes sure that the rows are as they say, and writes a checkpoint.
func (l *Ledger) finishBooks(ctx context.Context, tx *sql.Tx, p *books) error {
	if err := p.catchUp(ctx, tx); err != nil {
		return l.damaged(err)
	}
	r := &Report{}
	if err := l.compareBooks(ctx, tx, p, r.fault); err != nil {
		return err
	}
	if len(r.Faults) > 0 {
		return noren.Reasonf("after the reconciliation: %s", r.Faults[0])
	}
	return l.writeCheckpoint(ctx, tx, p)
}

// damaged is the error of a chain that cannot be replayed.
func (l *Ledger) damaged(err error) error {
	var sealed *SealedError
	if !errors.As(err, &sealed) {
		return err
	}
	return &noren.Error{
		Kind: noren.BadData, Code: "cannot-rebuild", Where: noren.File(l.path), What: "the ledger cannot be rebuilt", Err: sealed,
		Hint: "restore it from a copy and reconcile it, or keep it as evidence",
	}
}
