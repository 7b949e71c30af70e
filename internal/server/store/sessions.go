package store

import (
	"context"
	"database/sql"
	"time"
)

// Link is a sign-in link of one use.
type Link struct {
	Principal   string
	Made, Until time.Time
}

// AddLink stores the hash of a link's secret.
func (tx *Tx) AddLink(ctx context.Context, hash []byte, principal string, lives time.Duration) (until time.Time, err error) {
	if err := tx.exec(ctx, "DELETE FROM link WHERE until < ?", tx.Now); err != nil {
		return time.Time{}, err
	}
	end := tx.Now + lives.Milliseconds()
	return at(end), tx.exec(ctx, "INSERT INTO link (hash, principal, made, until) VALUES (?, ?, ?, ?)", hash, principal, tx.Now, end)
}

// LookLink finds a link that can still be used, and does not use it.
func (s *Store) LookLink(ctx context.Context, hash []byte) (*Link, error) {
	var l Link
	var made, until int64
	err := s.reads.QueryRowContext(ctx, `SELECT principal, link.made, until FROM link JOIN principal ON principal.id = principal
		WHERE hash = ? AND used IS NULL AND until >= ? AND ended IS NULL`, hash, s.now()).Scan(&l.Principal, &made, &until)
	if err != nil {
		return nil, found(err)
	}
	l.Made, l.Until = at(made), at(until)
	return &l, nil
}

// UseLink uses a link, once, and returns its principal.
func (tx *Tx) UseLink(ctx context.Context, hash []byte) (principal string, err error) {
	err = tx.row(ctx, `UPDATE link SET used = ? WHERE hash = ? AND used IS NULL AND until >= ?
		AND principal IN (SELECT id FROM principal WHERE ended IS NULL) RETURNING principal`, []any{tx.Now, hash, tx.Now}, &principal)
	return principal, found(err)
}

// SignedIn reports whether any principal was ever seen.
func (s *Store) SignedIn(ctx context.Context) (bool, error) {
	var n int
	err := s.reads.QueryRowContext(ctx, "SELECT count(*) FROM principal WHERE seen_day IS NOT NULL").Scan(&n)
	return n > 0, found(err)
}

// Session is a browser's session.
type Session struct {
	Principal        string
	Made, Seen, Ends time.Time
}

// AddSession stores the hash of a session's secret. The session ends after lives at the
// latest.
func (tx *Tx) AddSession(ctx context.Context, hash []byte, principal string, lives, idle time.Duration) (*Session, error) {
	if err := tx.exec(ctx, "DELETE FROM session WHERE ends < ? OR seen < ?", tx.Now, tx.Now-idle.Milliseconds()); err != nil {
		return nil, err
	}
	end := tx.Now + lives.Milliseconds()
	if err := tx.exec(ctx, "INSERT INTO session VALUES (?, ?, ?, ?, ?)", hash, principal, tx.Now, tx.Now, end); err != nil {
		return nil, err
	}
	return &Session{principal, at(tx.Now), at(tx.Now), at(end)}, tx.exec(ctx, "UPDATE principal SET seen_day = ? WHERE id = ?", day(tx.Now),
		principal)
}

// FindSession finds a session that has not ended.
func (s *Store) FindSession(ctx context.Context, hash []byte, idle time.Duration) (*Session, error) {
	var out Session
	var made, seen, ends int64
	now := s.now()
	err := s.reads.QueryRowContext(ctx, "SELECT principal, made, seen, ends FROM session WHERE hash = ? AND ends >= ? AND seen >= ?", hash,
		now, now-idle.Milliseconds()).
		Scan(&out.Principal, &made, &seen, &ends)
	if err != nil {
		return nil, found(err)
	}
	out.Made, out.Seen, out.Ends = at(made), at(seen), at(ends)
	return &out, nil
}

// TouchSession moves the idle time of a session on.
func (tx *Tx) TouchSession(ctx context.Context, hash []byte, principal string) error {
	if err := tx.exec(ctx, "UPDATE session SET seen = ? WHERE hash = ?", tx.Now, hash); err != nil {
		return err
	}
	return tx.exec(ctx, "UPDATE principal SET seen_day = ? WHERE id = ?", day(tx.Now), principal)
}

// EndSession ends a session.
func (tx *Tx) EndSession(ctx context.Context, hash []byte) error {
	return tx.exec(ctx, "DELETE FROM session WHERE hash = ?", hash)
}

// Token is a bearer token, without its secret.
type Token struct {
	ID, Principal, Name string
	// Networks are the networks it may be used from, by spaces; "" for all.
	Networks   string
	Made, Ends time.Time
	// UsedDay is the last day of use; "" if never.
	UsedDay string
	Hash    []byte
}

// AddToken stores a token.
func (tx *Tx) AddToken(ctx context.Context, t *Token, lives time.Duration) error {
	t.Made, t.Ends = at(tx.Now), at(tx.Now+lives.Milliseconds())
	return tx.exec(ctx, "INSERT INTO token (id, principal, name, hash, networks, made, ends) VALUES (?, ?, ?, ?, ?, ?, ?)",
		t.ID, t.Principal, t.Name, t.Hash, t.Networks, tx.Now, t.Ends.UnixMilli())
}

// CountTokens is how many tokens of a principal can be used.
func (tx *Tx) CountTokens(ctx context.Context, principal string) (n int, err error) {
	err = tx.row(ctx, "SELECT count(*) FROM token WHERE principal = ? AND revoked IS NULL AND ends >= ?", []any{principal, tx.Now}, &n)
	return n, err
}

// RevokeToken ends a token of a principal.
func (tx *Tx) RevokeToken(ctx context.Context, id, principal string) error {
	done, err := tx.changed(ctx, "UPDATE token SET revoked = ? WHERE id = ? AND principal = ? AND revoked IS NULL", tx.Now, id, principal)
	if err == nil && !done {
		err = ErrNotFound
	}
	return err
}

// UseToken notes the day on which a token was used.
func (tx *Tx) UseToken(ctx context.Context, id, principal string) error {
	if err := tx.exec(ctx, "UPDATE token SET used_day = ? WHERE id = ?", day(tx.Now), id); err != nil {
		return err
	}
	return tx.exec(ctx, "UPDATE principal SET seen_day = ? WHERE id = ?", day(tx.Now), principal)
}

const tokenColumns = "token.id, token.principal, token.name, token.networks, token.made, token.ends, coalesce(token.used_day, ''), " +
	"token.hash"

func scanToken(row interface{ Scan(...any) error }) (*Token, error) {
	var t Token
	var made, ends int64
	if err := row.Scan(&t.ID, &t.Principal, &t.Name, &t.Networks, &made, &ends, &t.UsedDay, &t.Hash); err != nil {
		return nil, err
	}
	t.Made, t.Ends = at(made), at(ends)
	return &t, nil
}

// row is the row of a query of more columns.
type row func(to ...any) error

// Scan reads the row.
func (r row) Scan(to ...any) error { return r(to...) }

// FindToken finds a token that has neither ended nor been revoked, and its principal.
func (s *Store) FindToken(ctx context.Context, id string) (*Token, *Principal, error) {
	var p Principal
	var grants grantLines
	t, err := scanToken(row(func(to ...any) error {
		return s.reads.QueryRowContext(ctx, "SELECT "+tokenColumns+", "+principalColumns+
			" FROM token JOIN principal ON principal.id = token.principal WHERE token.id = ? AND token.revoked IS NULL AND token.ends >= ?", id,
			s.now()).
			Scan(append(to, &p.ID, &p.Name, &p.SeenDay, &p.Ended, &grants)...)
	}))
	if err != nil {
		return nil, nil, found(err)
	}
	p.Grants = grants.list()
	return t, &p, nil
}

// Tokens lists the tokens of a principal that can be used, by id, from after on.
func (s *Store) Tokens(ctx context.Context, principal, after string, limit int) (all []Token, err error) {
	rows, err := s.reads.QueryContext(ctx, "SELECT "+tokenColumns+
		" FROM token WHERE principal = ? AND revoked IS NULL AND ends >= ? AND id > ? ORDER BY id LIMIT ?", principal, s.now(), after, limit)
	if err != nil {
		return nil, found(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		t, err := scanToken(rows)
		if err != nil {
			return nil, found(err)
		}
		all = append(all, *t)
	}
	return all, found(rows.Err())
}

// Base is the address that links begin with; "" before the server has started once.
func (s *Store) Base(ctx context.Context) (string, error) {
	var base string
	err := s.reads.QueryRowContext(ctx, "SELECT base FROM server").Scan(&base)
	return base, found(err)
}

// SetBase stores the address that links begin with.
func (tx *Tx) SetBase(ctx context.Context, base string) error {
	return tx.exec(ctx, "UPDATE server SET base = ?", base)
}

// AuditHead is the last entry of the audit log that is known to be on disk: its number,
// its hash, and the size of the log up to its end. Before the first entry all are zero.
type AuditHead struct {
	N    int64
	Hash [32]byte
	Size int64
}

// AuditHead reads the head of the audit log.
func (tx *Tx) AuditHead(ctx context.Context) (AuditHead, error) {
	var h AuditHead
	var hash []byte
	err := tx.row(ctx, "SELECT n, hash, size FROM audit_head", nil, &h.N, &hash, &h.Size)
	if err == sql.ErrNoRows {
		return AuditHead{}, nil
	}
	copy(h.Hash[:], hash)
	return h, err
}

// SetAuditHead stores the head of the audit log.
func (tx *Tx) SetAuditHead(ctx context.Context, h AuditHead) error {
	return tx.exec(ctx, "INSERT INTO audit_head VALUES (1, ?, ?, ?) ON CONFLICT (one) DO UPDATE SET n = excluded.n, hash = excluded.hash, "+
		"size = excluded.size", h.N, h.Hash[:], h.Size)
}

// AuditIntent is a group of entries that a process is about to write to the audit log.
type AuditIntent struct {
	// Base is the number of the entry before them, N that of the last.
	Base, N int64
	// First and Last are the hashes of the first and the last entry.
	First, Last [32]byte
}

// AuditIntent finds the entries that a process was about to write after entry base, and of
// which first is the hash of the first; [ErrNotFound] where no process was. known is false
// where the store is of before intents were kept.
func (tx *Tx) AuditIntent(ctx context.Context, base int64, first [32]byte) (i AuditIntent, known bool, err error) {
	if err := tx.row(ctx, "SELECT EXISTS (SELECT 1 FROM audit_intent)", nil, &known); err != nil || !known {
		return i, known, err
	}
	i = AuditIntent{Base: base, First: first}
	var last []byte
	err = tx.row(ctx, "SELECT n, last FROM audit_intent WHERE base = ? AND first = ?", []any{base, first[:]}, &i.N, &last)
	copy(i.Last[:], last)
	return i, known, found(err)
}

// SetAuditIntent stores what a process is about to write, in place of what it was about to
// write before, and removes what was to be written after earlier entries.
func (tx *Tx) SetAuditIntent(ctx context.Context, i AuditIntent, before [32]byte) error {
	if err := tx.exec(ctx, "DELETE FROM audit_intent WHERE base < ? OR first = ?", i.Base, before[:]); err != nil {
		return err
	}
	return tx.exec(ctx, "INSERT INTO audit_intent (first, base, n, last) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", i.First[:], i.Base, i.N,
		i.Last[:])
}
