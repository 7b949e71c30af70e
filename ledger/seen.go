package ledger

import (
	"bytes"
	"context"
	"database/sql"
	"errors"

	"github.com/noren-privacy/noren"
)

// Seen is what a file beside the ledger knows of it: the last entry that it has seen, and
// what each data set had spent then. An anchor holds one, as does the store of a server.
type Seen struct {
	Ledger string
	Seq    int64
	Hash   []byte
	Spent  []Spent

	// Entries are further entries that the file knows, such as those of the certificates in a
	// store. They tell where the ledger and the file parted.
	Entries []SeenEntry
}

// SeenEntry is an entry of the chain that a file beside the ledger knows.
type SeenEntry struct {
	Seq  int64
	Hash []byte
}

// Spent is what a data set has spent, with all that is needed to make its account anew
// where the grant is lost. Amounts are in the units of the ledger: 1e-9 of epsilon, 1e-18
// of delta, 1e-15 of rho.
type Spent struct {
	Dataset        string `json:"dataset"`
	Unit           string `json:"unit"`
	Neighbours     string `json:"neighbours"`
	Accounting     string `json:"accounting"`
	StatementDelta int64  `json:"statement_delta,omitempty"`
	Print          string `json:"print"`
	Path           string `json:"path"`
	Epsilon        int64  `json:"epsilon_nano"`
	Delta          int64  `json:"delta_atto"`
	Rho            int64  `json:"rho_femto,omitempty"`
	Gaussian       int64  `json:"gaussian_femto,omitempty"`
}

// spentIn is what each data set has spent, in the order of their grants.
func spentIn(ctx context.Context, q querier) ([]Spent, error) {
	all, err := accounts(ctx, q, "TRUE")
	if err != nil {
		return nil, err
	}
	out := make([]Spent, 0, len(all))
	for i := range all {
		a := &all[i]
		if a.kind != kindDataset {
			continue
		}
		out = append(out, Spent{
			Dataset: a.name, Unit: a.unit, Neighbours: a.neighbours, Accounting: a.accounting, StatementDelta: a.statementDelta,
			Print: a.fingerprint, Path: a.path, Epsilon: a.spent.eps, Delta: a.spent.delta, Rho: a.spent.rho, Gaussian: a.spent.gaussian,
		})
	}
	return out, nil
}

// Known is the ledger's last entry and what is spent after it.
func (l *Ledger) Known(ctx context.Context) (*Seen, error) {
	tx, err := l.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, fail(l.path, "cannot be read", err)
	}
	defer tx.Rollback()
	s := &Seen{Ledger: l.id}
	if s.Seq, s.Hash, err = lastLink(ctx, tx); err == nil {
		s.Spent, err = spentIn(ctx, tx)
	}
	if err != nil {
		return nil, fail(l.path, "cannot be read", err)
	}
	return s, nil
}

// Holds fails with an error of kind Refused, whose cause is a [*SealedError], unless the
// ledger contains the entry that s knows. knows names what knows it, as in "server.db
// knows". A ledger that is ahead of s is sound.
func (l *Ledger) Holds(ctx context.Context, s *Seen, knows noren.Phrase) error {
	if s.Ledger != l.id {
		return sealedError(l.path, noren.Textf("it is not the ledger that %s", knows))
	}
	if err := l.sealedUnless(ctx, l.readers, s, knows); err != nil {
		return fail(l.path, "cannot be read", err)
	}
	return nil
}

// HoldsCharge fails as [Ledger.Holds] does unless entry seq is the charge of a request key.
func (l *Ledger) HoldsCharge(ctx context.Context, seq int64, key string, knows noren.Phrase) error {
	var found bool
	if err := l.readers.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM charge WHERE seq = ? AND idempotency_key = ?)", seq, key).
		Scan(&found); err != nil {
		return fail(l.path, "cannot be read", err)
	}
	if !found {
		return sealedError(l.path, noren.Textf("entry %d of the ledger is not the charge that %s: an older copy was restored", seq, knows))
	}
	return nil
}

// sealedUnless fails with a sealed error unless q contains the entry that s knows.
func (l *Ledger) sealedUnless(ctx context.Context, q querier, s *Seen, knows noren.Phrase) error {
	last, _, err := lastLink(ctx, q)
	if err != nil {
		return err
	}
	var own []byte
	err = q.QueryRowContext(ctx, "SELECT hash FROM chain WHERE seq = ?", s.Seq).Scan(&own)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return sealedError(l.path, noren.Textf("the ledger ends at entry %d and %s entry %d: an older copy was restored", last, knows, s.Seq))
	case err != nil:
		return err
	case !bytes.Equal(own, s.Hash):
		return sealedError(l.path, noren.Textf("entry %d of the ledger is not the one %s", s.Seq, knows))
	}
	return nil
}

// unexplained are the entries after before, up to last, that no charge of the evidence is.
func unexplained(before, last int64, evidence []Evidence) []int64 {
	known := map[int64]bool{}
	for i := range evidence {
		known[evidence[i].Charge.Link] = true
	}
	var out []int64
	for seq := before + 1; seq <= last; seq++ {
		if !known[seq] {
			out = append(out, seq)
		}
	}
	return out
}

// Entries names entries of the chain, as in "entries 3 to 5 and 8".
func Entries(seqs []int64) noren.Text {
	if len(seqs) == 1 {
		return noren.Textf("entry %d", seqs[0])
	}
	var parts noren.Commas
	for i := 0; i < len(seqs); {
		j := i
		for j+1 < len(seqs) && seqs[j+1] == seqs[j]+1 {
			j++
		}
		if i == j {
			parts = append(parts, noren.Textf("%d", seqs[i]))
		} else {
			parts = append(parts, noren.Textf("%d to %d", seqs[i], seqs[j]))
		}
		i = j + 1
	}
	if n := len(parts); n > 1 {
		return noren.Textf("entries %s and %s", parts[:n-1], parts[n-1])
	}
	return noren.Textf("entries %s", parts)
}

// ChargesAfter calls do with the principal and the request key of each charge after an
// entry, in their order, until it fails.
func (l *Ledger) ChargesAfter(ctx context.Context, entry int64, do func(principal, key string) error) error {
	rows, err := l.readers.QueryContext(ctx, "SELECT principal, idempotency_key FROM charge WHERE seq > ? ORDER BY seq", entry)
	if err != nil {
		return fail(l.path, "cannot be read", err)
	}
	defer rows.Close()
	for rows.Next() {
		var principal, key string
		if err := rows.Scan(&principal, &key); err != nil {
			return fail(l.path, "cannot be read", err)
		}
		if err := do(principal, key); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fail(l.path, "cannot be read", err)
	}
	return nil
}
