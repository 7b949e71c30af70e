package store

import "context"

// EndAsking ends the paid questions of a principal in a book. It reports whether they had not
// ended before.
func (tx *Tx) EndAsking(ctx context.Context, book, principal string) (bool, error) {
	return tx.changed(ctx, "INSERT OR IGNORE INTO asking_ended (book, principal, made) VALUES (?, ?, ?)", book, principal, tx.Now)
}

// AllowAsking allows them again. It reports whether they had ended.
func (tx *Tx) AllowAsking(ctx context.Context, book, principal string) (bool, error) {
	return tx.changed(ctx, "DELETE FROM asking_ended WHERE book = ? AND principal = ?", book, principal)
}

// Ended is a principal whose paid questions in a book have ended.
type Ended struct{ Book, Principal string }

// EndedAsking lists whose paid questions in which book have ended.
func (s *Store) EndedAsking(ctx context.Context) (out []Ended, err error) {
	rows, err := s.reads.QueryContext(ctx, "SELECT book, principal FROM asking_ended ORDER BY book, principal")
	if err != nil {
		return nil, found(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var one Ended
		if err := rows.Scan(&one.Book, &one.Principal); err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, rows.Err()
}
