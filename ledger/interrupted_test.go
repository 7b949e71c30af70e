package ledger

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/noren-privacy/noren"
)

// A request that ends within a transaction is an interruption: package database/sql ends the transaction by itself,
// and what is done with it afterwards says only that it is done.
func TestRequestThatEnds(t *testing.T) {
	t.Parallel()
	l := newFixture(t, Cost{Epsilon: one}).open(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := l.write(ctx, "the ledger cannot be written", func(_ context.Context, tx *sql.Tx, _ int64) error {
		cancel()
		for range 2000 {
			if _, err := tx.ExecContext(context.Background(), "SELECT 1"); errors.Is(err, sql.ErrTxDone) {
				return nil
			}
			time.Sleep(time.Millisecond)
		}
		t.Error("the transaction goes on")
		return nil
	})
	if noren.KindOf(err) != noren.Interrupted || !errors.Is(err, context.Canceled) {
		t.Errorf("%v of kind %v", err, noren.KindOf(err))
	}
}
