package server

import (
	"context"
	"time"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/server/auth"
	"github.com/noren-privacy/noren/internal/server/books"
	"github.com/noren-privacy/noren/internal/server/store"
	"github.com/noren-privacy/noren/internal/server/tables"
	"github.com/noren-privacy/noren/spec"
)

// Demo is the table of a demonstration and its book.
type Demo struct {
	// Name and Data are the file of the table.
	Name string
	Data []byte
	// Spec states the types of the table's columns, and Opening its book, without the table.
	Spec    *spec.Spec
	Opening books.Opening
	// Account is the cap of the analyst's account.
	Account api.Amount
}

// Names of the principals of a demonstration.
const (
	DemoSteward = "Demo steward"
	DemoAnalyst = "Demo analyst"
)

// Demonstrate adds the table of a demonstration and opens its book by the first steward,
// once: not where the server has a table. It returns before the table has been read. The
// book has a definition of its own: the table's columns are proposals still.
func (s *Server) Demonstrate(ctx context.Context, d *Demo) error {
	have, err := s.store.Resources(ctx, store.KindTable, "", 0, 1)
	if err != nil || len(have) > 0 {
		return err
	}
	steward, err := s.firstSteward(ctx)
	if err != nil {
		return err
	}
	table, err := s.AddTable(ctx, steward.ID, d.Name, d.Data)
	if err != nil {
		return err
	}
	analyst, err := s.Host().AddPrincipal(ctx, DemoAnalyst, auth.Analyst, table)
	if err != nil {
		return err
	}
	s.background.Go(func() { s.demoBook(d, table, steward.ID, analyst.ID) })
	return nil
}

// demoBook opens the book of a demonstration once its table is read.
func (s *Server) demoBook(d *Demo, table, steward, analyst string) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-s.closing:
			cancel()
		case <-ctx.Done():
		}
	}()
	fail := func(err error) { s.cfg.Log.Error("the book of the demonstration cannot be opened", "error", err) }
	for {
		t, err := s.tables.Get(ctx, table)
		if err != nil {
			return // deleted, or the server stops
		}
		if t.State != tables.Reading {
			break
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
	if err := s.calibrateDemo(ctx); err != nil {
		fail(err)
	}
	opening := d.Opening
	opening.Table = table
	job, err := s.books.OpenDeclared(ctx, &opening, d.Spec, steward)
	if err != nil {
		fail(err)
		return
	}
	for !job.State.Ended() {
		select {
		case <-ctx.Done():
			return
		case <-time.After(20 * time.Millisecond):
		}
		*job, _ = s.jobs.Get(job.ID)
	}
	if id, ok := s.books.Of(table); ok {
		if _, err := s.books.SetAccount(ctx, id, analyst, d.Account, books.Viewer{}); err != nil {
			fail(err)
		}
	}
}

// DemoLink is a sign-in link of the analyst of a demonstration; nil where there is none.
func (s *Server) DemoLink(ctx context.Context) (*SignInLink, error) {
	if !s.cfg.Demo {
		return nil, nil
	}
	if _, err := s.store.PrincipalByName(ctx, DemoAnalyst); err != nil {
		return nil, nil
	}
	return s.Host().LoginLink(ctx, DemoAnalyst)
}
