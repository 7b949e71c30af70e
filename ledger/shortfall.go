package ledger

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/noren-privacy/noren"
)

// amounts is what other files know to be spent: given, and that of the anchor where it can
// be read and states amounts.
func (l *Ledger) amounts(given []Seen) ([]Seen, error) {
	if !l.anchored() {
		return given, nil
	}
	known, err := l.readAnchor()
	var sealed *SealedError
	switch {
	case err == nil && known.amounts:
		if known.Entries, err = l.anchorEntries(); err != nil {
			return nil, err
		}
		return append(slices.Clone(given), known.Seen), nil
	case err == nil, errors.As(err, &sealed), errors.Is(err, errNoAnchor):
		return given, nil // reconcileAnchor judges it
	}
	return nil, fileError(l.anchor, "the anchor cannot be read", err)
}

// find is the account of the data set that s is of: by its name, or else by the print of
// its table, which was granted under another name since. nil where there is none.
func (s *Spent) find(ctx context.Context, q querier) (*account, error) {
	a, err := findAccount(ctx, q, 0, kindDataset, s.Dataset)
	if err != nil || a != nil {
		return a, err
	}
	return oneAccount(ctx, q, "parent IS NULL AND fingerprint = ?", s.Print)
}

// spends reports whether anything was spent.
func (s *Spent) spends() bool { return s.Epsilon > 0 || s.Delta > 0 || s.Rho > 0 || s.Gaussian > 0 }

// restoreDatasets makes the accounts of data sets whose grants are lost, and gives those
// the accounting in which they were spent whose grant of it is lost. Their caps are 0 until
// what was spent is charged.
func (l *Ledger) restoreDatasets(ctx context.Context, tx *sql.Tx, known []unheld, did *Recovery, now int64) error {
	for i := range known {
		for j := range known[i].Spent {
			s := &known[i].Spent[j]
			a, err := s.find(ctx, tx)
			if err != nil {
				return err
			}
			var b *grantBody
			switch {
			case a == nil:
				b = &grantBody{Kind: kindDataset, Name: s.Dataset, Unit: s.Unit, Neighbours: s.Neighbours, Fingerprint: s.Print, Path: s.Path}
				if b.Account, err = nextAccount(ctx, tx); err != nil {
					return err
				}
			case s.spends() && !a.isSpent() && (a.accounting != s.Accounting || a.statementDelta != s.StatementDelta || a.unit != s.Unit ||
				a.neighbours != s.Neighbours):
				b = a.body()
				b.Unit, b.Neighbours, b.Replaces = s.Unit, s.Neighbours, true
			default:
				continue
			}
			b.setLimit(s.Accounting, s.StatementDelta, Cost{})
			b.Time = now
			k, err := l.appendLink(ctx, tx, kindGrant, b)
			if err != nil {
				return err
			}
			if err := applyGrant(ctx, tx, k.Seq, b); err != nil {
				return err
			}
			did.Restored = append(did.Restored, s.Dataset)
		}
	}
	return nil
}

// broughtBack is what evidence of the charge at an entry brought back.
type broughtBack struct {
	link  int64
	hash  []byte
	lines []line
}

// shortfall is what known states to be spent beyond the accounts. What was brought back of
// charges that the amounts of a file do not hold does not count against what it knows, and
// the charges since ledger and file parted do not count either. Where ledgers parted (forked),
// what is known of each way adds up; else the files know one history, and the largest
// amount counts.
func shortfall(ctx context.Context, q querier, known []unheld, forked bool, brought []broughtBack, did *Recovery) ([]excessLine, error) {
	short := map[int64]amounts{}
	add := func(id int64, n line) {
		was := short[id]
		now := was.most(n.amounts())
		if forked {
			now = was.plus(n.amounts())
		}
		now.rho = max(now.rho, now.gaussian)
		short[id] = now
	}
	for i := range known {
		for j := range known[i].Spent {
			s := &known[i].Spent[j]
			a, err := s.find(ctx, q)
			if err != nil {
				return nil, err
			}
			if a == nil || !s.spends() {
				continue
			}
			if a.accounting != s.Accounting {
				// Both accountings were spent. Their amounts cannot be compared: nothing is left.
				left := a.left()
				add(a.id, a.lineOver(amounts{left.Epsilon, left.Delta, int64(left.Rho), 0}))
				did.Skipped = append(did.Skipped, noren.Textf("data set %s spent in another accounting: nothing is left of its budget", a.name))
				continue
			}
			if n, ok := known[i].own[a.id]; ok {
				a.spent = a.spent.minus(n.amounts())
			}
			for k := range brought {
				counts := known[i].counts(&brought[k], forked)
				for _, n := range brought[k].lines {
					if n.Account == a.id && !counts {
						a.spent = a.spent.minus(n.amounts())
					}
				}
			}
			add(a.id, a.lineOver(s.amounts().minus(a.spent)))
		}
	}
	var out []excessLine
	for id, n := range short {
		if over := (line{id, n.eps, n.delta, n.rho, n.gaussian}); over.charges() {
			out = append(out, excessLine{id, over})
		}
	}
	return out, nil
}
