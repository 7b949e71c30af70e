package store

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/noren-privacy/noren"
)

// The end of a request within a transaction is an interruption, wherever it is found: package database/sql ends the
// transaction by itself, and what is done with it afterwards says only that it is done.
func TestRequestThatEnds(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "server.db"), SystemClock())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	// ended ends the request, and waits until the transaction has noticed it.
	ended := func(t *testing.T, cancel func(), tx *Tx) error {
		cancel()
		for range 2000 {
			if err := tx.exec(context.Background(), "SELECT 1"); errors.Is(err, sql.ErrTxDone) {
				return err
			}
			time.Sleep(time.Millisecond)
		}
		t.Error("the transaction goes on")
		return nil
	}
	for name, do := range map[string]func(t *testing.T, cancel func(), tx *Tx) error{
		"before it is committed": func(t *testing.T, cancel func(), tx *Tx) error { _ = ended(t, cancel, tx); return nil },
		"at a statement":         ended,
		"at a row":               func(t *testing.T, cancel func(), tx *Tx) error { return found(ended(t, cancel, tx)) },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			err := s.Write(ctx, func(_ context.Context, tx *Tx) error { return do(t, cancel, tx) })
			if noren.KindOf(err) != noren.Interrupted || !errors.Is(err, context.Canceled) {
				t.Errorf("%v of kind %v", err, noren.KindOf(err))
			}
		})
	}
	t.Run("while a statement runs", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		var n int64
		err := found(s.reads.QueryRowContext(ctx,
			"WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 1000000000) SELECT max(n) FROM r").Scan(&n))
		if noren.KindOf(err) != noren.Interrupted {
			t.Errorf("%v of kind %v", err, noren.KindOf(err))
		}
	})
}
