package questions

import (
	"context"
	"time"

	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/internal/server/store"
)

// endedKey is a principal in a book.
type endedKey struct{ book, principal string }

// end ends the paid questions of a principal in a book: one of them took longer than its
// bound, and further ones could measure by their misses how long works take. It holds from
// this moment on, and is stored. What was accepted is still answered.
func (q *Questions) end(book, principal string) {
	if q.config.Fault("passed") != nil {
		return // a test on a busy machine that is about something else
	}
	q.mu.Lock()
	q.ended[endedKey{book, principal}] = true
	q.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	first := false
	err := q.config.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
		first, err = tx.EndAsking(ctx, book, principal)
		return err
	})
	if err == nil && first {
		q.config.Host.Ended(ctx, book, principal)
	}
}

// allowed refuses a paid question of a principal whose paid questions in the book have ended.
func (q *Questions) allowed(book, principal string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ended[endedKey{book, principal}] {
		return problem.New("asking-ended", "").Hinted("a steward of the book allows them again; nothing was charged for this request")
	}
	return nil
}

// Allow lets a principal ask paid questions in a book again. It refuses where they have not
// ended.
func (q *Questions) Allow(ctx context.Context, book, principal string) error {
	had := false
	err := q.config.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
		had, err = tx.AllowAsking(ctx, book, principal)
		return err
	})
	if err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	had = had || q.ended[endedKey{book, principal}]
	delete(q.ended, endedKey{book, principal})
	if !had {
		return problem.New("conflict", "The paid questions of this principal have not ended.")
	}
	return nil
}

// AskingEnded reports whether the paid questions of a principal in a book have ended.
func (q *Questions) AskingEnded(book, principal string) bool {
	return q.allowed(book, principal) != nil
}
