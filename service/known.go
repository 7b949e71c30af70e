package service

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"iter"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/ledger"
)

// Known is what a file beside the ledger, such as the store of a server, knows of it.
type Known struct {
	// Ledger is the ledger's id, Seq and Hash its last entry.
	Ledger string
	Seq    int64
	Hash   []byte
	// Spent is what each data set had spent after that entry, in JSON.
	Spent []byte
}

func knownOf(s *ledger.Seen) (*Known, error) {
	spent, err := json.Marshal(s.Spent)
	return &Known{s.Ledger, s.Seq, s.Hash, spent}, err
}

func (k *Known) seen() (*ledger.Seen, error) {
	s := &ledger.Seen{Ledger: k.Ledger, Seq: k.Seq, Hash: k.Hash}
	if err := json.Unmarshal(k.Spent, &s.Spent); err != nil {
		return nil, &noren.Error{
			Kind: noren.BadData, Where: "ledger", What: "what is known to be spent cannot be read",
			Hint: "put an older copy of the file that holds it back",
		}
	}
	return s, nil
}

// Beside is what the files beside a ledger know, for a reconciliation.
type Beside struct {
	// Known is what they know to be spent; nil where they know nothing.
	Known *Known
	// Certificates are those that they hold.
	Certificates []*certificate.Signed
	// Keys are the keys that signed there.
	Keys []ed25519.PublicKey
	// Reconciled is called with what the ledger is afterwards. Required.
	Reconciled func(ctx context.Context, now *Known) error
}

// Known is the ledger's last entry with what is spent.
func (k *Kept) Known(ctx context.Context) (*Known, error) {
	s, err := k.ledger.Known(ctx)
	if err != nil {
		return nil, err
	}
	return knownOf(s)
}

// Compare fails with an error of kind Refused, code sealed, unless the ledger contains the
// entry that is known. by says who knows it, as in "server.db knows".
func (k *Kept) Compare(ctx context.Context, known *Known, by noren.Phrase) error {
	s, err := known.seen()
	if err != nil {
		return err
	}
	return k.ledger.Holds(ctx, s, by)
}

// CompareCharge fails as [Kept.Compare] does unless the entry is the charge of a request key.
func (k *Kept) CompareCharge(ctx context.Context, entry int64, key string, by noren.Phrase) error {
	return k.ledger.HoldsCharge(ctx, entry, key, by)
}

// ChargesAfter calls do with the principal and the request key of each charge after an
// entry, in their order, until it fails.
func (k *Kept) ChargesAfter(ctx context.Context, entry int64, do func(principal, key string) error) error {
	return k.ledger.ChargesAfter(ctx, entry, do)
}

// LogEntry is the last entry of a log that is kept beside the ledger: its number and hash.
type LogEntry = ledger.Beside

// LastBeside is the last entry of the log beside the ledger when the ledger was last written
// to; entry 0 where none is noted.
func (k *Kept) LastBeside(ctx context.Context) (LogEntry, error) {
	return k.ledger.LastBeside(ctx)
}

// NoteBeside stores what the log beside the ledger is now.
func (k *Kept) NoteBeside(ctx context.Context, last LogEntry) error {
	return k.ledger.NoteBeside(ctx, last)
}

// Owed is what a log beside the ledger notes as spent, by data set. What it notes for a data
// set without a name is charged to all that were not named to [NewOwed].
type Owed struct {
	of     map[string]account.Cost
	others account.Cost
}

// NewOwed owes nothing to the data sets.
func NewOwed(datasets iter.Seq[string]) *Owed {
	o := &Owed{of: map[string]account.Cost{}}
	for name := range datasets {
		o.of[name] = account.Cost{}
	}
	return o
}

// Add adds an amount, as [api.Amount.String] writes it, that was spent on a data set; the name
// is empty where the data set is not known.
func (o *Owed) Add(dataset, amount string) error {
	cost, err := account.ParseAmount(amount)
	if err != nil {
		return err
	}
	if dataset == "" {
		o.others, err = o.others.Add(cost)
	} else {
		o.of[dataset], err = o.of[dataset].Add(cost)
	}
	return err
}

// cost is what a data set owes.
func (o *Owed) cost(dataset string) account.Cost {
	if cost, named := o.of[dataset]; named {
		return cost
	}
	return o.others
}

// ChargeNoted charges to each data set what a log beside the ledger, whose last entry is given,
// notes as spent and the ledger does not know. A second call with the same entry charges nothing.
func (k *Kept) ChargeNoted(ctx context.Context, last LogEntry, owed *Owed) error {
	s, err := k.ledger.Known(ctx)
	if err != nil {
		return err
	}
	// The entry stands for those of the ledger that are lost.
	s.Seq, s.Hash = s.Seq+1, last.Hash[:]
	for i := range s.Spent {
		one := &s.Spent[i]
		more := owed.cost(one.Dataset)
		if one.Accounting == string(account.ZCDP) {
			more = account.Cost{Rho: more.Rho}
		} else {
			more.Rho = 0
		}
		c, err := account.Cost{Epsilon: one.Epsilon, Delta: one.Delta, Rho: account.Rho(one.Rho)}.Add(more)
		if err != nil {
			return err
		}
		one.Epsilon, one.Delta, one.Rho = c.Epsilon, c.Delta, int64(c.Rho)
	}
	_, err = k.ledger.Reconcile(ctx, ledger.ReconcileOptions{Seen: []ledger.Seen{*s}})
	return err
}

// LedgerMove makes the ledger read the file of a data set at another path, to which it was
// moved or copied. The file is compared with the grant when it is read.
func (s *Service) LedgerMove(ctx context.Context, r *api.LedgerMoveRequest) error {
	return s.withLedger(ctx, func(l *ledger.Ledger) error { return l.Move(ctx, r.Dataset, r.Path) })
}
