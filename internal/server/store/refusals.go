package store

import (
	"context"
	"time"
)

// Refusal is a request that a budget did not cover.
type Refusal struct {
	N               int64
	Book, Principal string
	Made            time.Time
	// Doc is JSON.
	Doc []byte
}

// keptRefusals is how many refusals of a book are kept.
const keptRefusals = 10_000

// AddRefusal stores a refusal, and drops the oldest of a book that has too many.
func (tx *Tx) AddRefusal(ctx context.Context, r *Refusal) error {
	var n int64
	if err := tx.row(ctx, "INSERT INTO refusal (book, principal, made, doc) VALUES (?, ?, ?, ?) RETURNING n",
		[]any{r.Book, r.Principal, r.Made.UnixMilli(), string(r.Doc)}, &n); err != nil {
		return err
	}
	if n%100 != 0 {
		return nil
	}
	return tx.exec(ctx, "DELETE FROM refusal WHERE book = ?1 AND n <= (SELECT n FROM refusal WHERE book = ?1 ORDER BY n DESC LIMIT 1 "+
		"OFFSET ?2)", r.Book, keptRefusals)
}

// RefusalAt is a place in the list of refusals: behind the refusal N of that time.
type RefusalAt struct {
	Made time.Time
	N    int64
}

// Refusals lists refusals of a book, the newest first: those of a principal where that is
// not "", behind a place where that is not zero, and not made before since.
func (s *Store) Refusals(ctx context.Context, book, principal string, behind RefusalAt, since time.Time, limit int) ([]Refusal, error) {
	from, least := int64(1)<<62, int64(-1)<<62
	if !behind.Made.IsZero() {
		from = behind.Made.UnixMilli()
	}
	if !since.IsZero() {
		least = since.UnixMilli()
	}
	query := `SELECT n, book, principal, made, doc FROM refusal WHERE book = ?1 AND (made < ?3 OR made = ?3 AND n < ?4) AND made >= ?5 ORDER BY made DESC, n DESC LIMIT ?6`
	if principal != "" {
		query = `SELECT n, book, principal, made, doc FROM refusal WHERE book = ?1 AND principal = ?2 AND (made < ?3 OR made = ?3 AND n < ?4) AND made >= ?5 ORDER BY made DESC, n DESC LIMIT ?6`
	}
	rows, err := s.reads.QueryContext(ctx, query, book, principal, from, behind.N, least, limit)
	if err != nil {
		return nil, found(err)
	}
	defer func() { _ = rows.Close() }()
	var all []Refusal
	for rows.Next() {
		var r Refusal
		var made int64
		var doc string
		if err := rows.Scan(&r.N, &r.Book, &r.Principal, &made, &doc); err != nil {
			return nil, found(err)
		}
		r.Made, r.Doc = at(made), []byte(doc)
		all = append(all, r)
	}
	return all, found(rows.Err())
}

// Alert is a level of a cap that what is spent has passed.
type Alert struct {
	// Account is the id of a principal; "" for the book itself.
	Account string
	// Level is 50, 80 or 100, in percent of Cap.
	Level int
	Cap   string
	Made  time.Time
}

// AddAlert stores an alert, and reports whether it is new.
func (tx *Tx) AddAlert(ctx context.Context, book string, a *Alert) (bool, error) {
	return tx.changed(ctx, "INSERT INTO alert (book, account, level, cap, made) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", book,
		a.Account, a.Level, a.Cap, tx.Now)
}

// Alerts lists the alerts of a book, the newest first.
func (s *Store) Alerts(ctx context.Context, book string, limit int) ([]Alert, error) {
	rows, err := s.reads.QueryContext(ctx, "SELECT account, level, cap, made FROM alert WHERE book = ? ORDER BY n DESC LIMIT ?", book, limit)
	if err != nil {
		return nil, found(err)
	}
	defer func() { _ = rows.Close() }()
	var all []Alert
	for rows.Next() {
		var a Alert
		var made int64
		if err := rows.Scan(&a.Account, &a.Level, &a.Cap, &made); err != nil {
			return nil, found(err)
		}
		a.Made = at(made)
		all = append(all, a)
	}
	return all, found(rows.Err())
}
