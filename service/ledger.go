package service

import (
	"context"
	"encoding/hex"
	"errors"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/ledger"
)

// withLedger opens the ledger for one piece of work, or takes the one that is kept open.
func (s *Service) withLedger(ctx context.Context, work func(*ledger.Ledger) error) error {
	if s.Kept != nil && s.Kept.path == s.ledger() {
		return work(s.Kept.ledger)
	}
	l, err := ledger.Open(ctx, s.ledger(), ledger.Options{Anchor: s.Anchor})
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }()
	return work(l)
}

// LedgerCreate creates an empty ledger with its head file and, where the service has
// one, its anchor. A file that exists is refused.
func (s *Service) LedgerCreate(ctx context.Context) error {
	if s.Anchor == "" {
		return ledger.Create(ctx, s.ledger())
	}
	if err := ledger.CheckAnchor(s.ledger(), s.Anchor); err != nil {
		return err
	}
	if err := ledger.Create(ctx, s.ledger()); err != nil {
		return err
	}
	return s.withLedger(ctx, func(l *ledger.Ledger) error { return l.Sealed() })
}

// LedgerShow returns the budgets and schemas of the data sets. A sealed ledger is
// shown, with a warning of the code sealed.
func (s *Service) LedgerShow(ctx context.Context, r *api.LedgerShowRequest) (*api.Ledger, error) {
	var out *api.Ledger
	err := s.withLedger(ctx, func(l *ledger.Ledger) error {
		books, err := l.Show(ctx)
		if err == nil && r.Dataset != "" {
			var b *ledger.Book
			b, err = l.Book(ctx, r.Dataset)
			books = []*ledger.Book{b}
		}
		if err != nil {
			return err
		}
		out = &api.Ledger{Schema: api.LedgerSchema, Ledger: l.ID(), Sealed: l.Sealed() != nil, Datasets: []api.Dataset{}}
		if err := l.Sealed(); err != nil {
			s.note(api.Warning, "sealed", "%s", unhinted(err))
		}
		for _, b := range books {
			out.Datasets = append(out.Datasets, api.DatasetOf(b))
		}
		return nil
	})
	return out, err
}

// LedgerCloseAnalyst closes the budget of an analyst in a data set: the analyst may
// ask nothing more of it. What was spent stays spent, and analysts without a grant
// are still refused. A new grant to the analyst opens the budget again.
func (s *Service) LedgerCloseAnalyst(ctx context.Context, r *api.LedgerCloseAnalystRequest) (*api.Granted, error) {
	if r.Analyst == "" {
		return nil, noren.Usagef("analyst", "say whose budget is closed")
	}
	var out *api.Granted
	err := s.withLedger(ctx, func(l *ledger.Ledger) error {
		book, err := l.CloseAnalyst(ctx, r.Dataset, r.Analyst)
		if err == nil {
			out = &api.Granted{Schema: api.LedgerSchema, Dataset: api.DatasetOf(book)}
		}
		return err
	})
	return out, err
}

// LedgerHistory returns the charges of the ledger, of a data set or of an analyst,
// the oldest first.
func (s *Service) LedgerHistory(ctx context.Context, r *api.LedgerHistoryRequest) (*api.History, error) {
	var out *api.History
	err := s.withLedger(ctx, func(l *ledger.Ledger) error {
		if r.Dataset != "" {
			if _, err := l.Book(ctx, r.Dataset); err != nil {
				return err
			}
		}
		h := &api.History{Schema: api.LedgerSchema, Ledger: l.ID(), Charges: []api.Charged{}}
		err := l.History(ctx, ledger.HistoryOptions{Dataset: r.Dataset, Analyst: r.Analyst}, func(e ledger.Entry) error {
			h.Charges = append(h.Charges, api.ChargedOf(&e))
			return nil
		})
		if err == nil {
			out = h
		}
		return err
	})
	return out, err
}

// LedgerVerify replays the chain from its first entry and compares it with the rows of
// the ledger and with its head file. If there are faults, or the ledger is sealed, it
// returns both what it found and an error: of kind NotMet and code unsound for
// faults, of kind Refused and code sealed otherwise.
func (s *Service) LedgerVerify(ctx context.Context) (*api.LedgerVerification, error) {
	var out *api.LedgerVerification
	err := s.withLedger(ctx, func(l *ledger.Ledger) error {
		r, err := l.Verify(ctx)
		if err != nil {
			return err
		}
		out = &api.LedgerVerification{
			Schema: api.LedgerSchema, Ledger: l.ID(), Sound: r.Err() == nil, Links: r.Links, Charges: r.Charges,
			Head: hex.EncodeToString(r.Head[:]), Faults: append(noren.Texts{}, r.Faults...), Sealed: l.Sealed() != nil,
		}
		if err := r.Err(); err != nil {
			return err
		}
		return l.Sealed()
	})
	return out, err
}

// unhinted is the text of an error without its hint, which a front end adds to a note.
func unhinted(err error) error {
	var e *noren.Error
	if !errors.As(err, &e) {
		return err
	}
	plain := *e
	plain.Hinted("")
	return &plain
}
