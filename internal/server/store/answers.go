package store

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// The states of a paid question.
const (
	// Asked: the question may have been charged, and is not answered yet.
	Asked = "asked"
	// Answered: the answer is stored.
	Answered = "answered"
	// Withheld: the question has no answer.
	Withheld = "withheld"
)

// Question is a paid question with its answer.
type Question struct {
	// N numbers questions in the order in which they were asked.
	N int64
	// ID is an_ and 16 characters; Book and Principal are ids too.
	ID, Book, Principal string
	// Key is the request key of the charge in the ledger.
	Key string
	// BodyHash is the SHA-256 of the request's body.
	BodyHash []byte
	// Request is the hash of what was asked.
	Request string
	Made    time.Time
	State   string
	// Paid is what the quote stated, in JSON.
	Paid []byte
	// Link is the entry of the charge in the ledger's chain; 0 before.
	Link int64
	// Line is the answer's line in a list, in JSON.
	Line []byte
	// Body is the answer, as it is sent; nil in lists.
	Body []byte
}

const questionFields = "n, id, book, principal, request_key, body_hash, request, made, state, paid, link, line"

func (q *Question) fields(made *int64, paid, line *string) []any {
	return []any{&q.N, &q.ID, &q.Book, &q.Principal, &q.Key, &q.BodyHash, &q.Request, made, &q.State, paid, &q.Link, line}
}

// AddQuestion stores a question before it is charged, in the state [Asked].
func (tx *Tx) AddQuestion(ctx context.Context, q *Question) error {
	q.State, q.Made = Asked, at(tx.Now)
	return tx.exec(ctx,
		"INSERT INTO answer (id, book, principal, request_key, body_hash, request, made, state, paid) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
		q.ID, q.Book, q.Principal, q.Key, q.BodyHash, q.Request, tx.Now, Asked, string(q.Paid))
}

// DropQuestion removes a question that was not charged.
func (tx *Tx) DropQuestion(ctx context.Context, id string) error {
	return tx.exec(ctx, "DELETE FROM answer WHERE id = ? AND state = 'asked'", id)
}

// EndQuestion stores the answer of a question, or that it has none. It returns
// [ErrNotFound] for one that has ended.
func (tx *Tx) EndQuestion(ctx context.Context, id, state string, link int64, line, body []byte) error {
	ok, err := tx.changed(ctx, "UPDATE answer SET state = ?, link = ?, line = ?, body = ? WHERE id = ? AND state = 'asked'", state, link,
		string(line), body, id)
	if err == nil && !ok {
		return ErrNotFound
	}
	return err
}

// QuestionByKey finds a question by its request key, with its body.
func (s *Store) QuestionByKey(ctx context.Context, key string) (*Question, error) {
	return s.question(ctx, "request_key = ?", key)
}

// QuestionByID finds a question by its id, with its body.
func (s *Store) QuestionByID(ctx context.Context, id string) (*Question, error) {
	return s.question(ctx, "id = ?", id)
}

// AnsweredRequest finds the newest answer to a request of a book: of one principal, or of all
// where principal is "", and asked before number before where that is not 0.
func (s *Store) AnsweredRequest(ctx context.Context, book, request, principal string, before int64) (*Question, error) {
	return s.question(ctx, "book = ?1 AND request = ?2 AND state = 'answered' AND (?3 = '' OR principal = ?3) AND (?4 = 0 OR n < ?4) ORDER "+
		"BY n DESC LIMIT 1", book, request, principal, before)
}

// question is one question; where is a constant.
func (s *Store) question(ctx context.Context, where string, args ...any) (*Question, error) {
	q := &Question{}
	var made int64
	var paid, line string
	err := s.reads.QueryRowContext(ctx, "SELECT "+questionFields+", body FROM answer WHERE "+where, args...).
		Scan(append(q.fields(&made, &paid, &line), &q.Body)...)
	if err != nil {
		return nil, found(err)
	}
	q.Made, q.Paid, q.Line = at(made), []byte(paid), []byte(line)
	return q, nil
}

// Questions lists questions without their bodies, the newest first: those of a book where
// book is not "", those in a state where state is not "", and those before the one of
// number before where that is not 0.
func (s *Store) Questions(ctx context.Context, book, state string, before int64, limit int) ([]Question, error) {
	rows, err := s.reads.QueryContext(ctx, "SELECT "+questionFields+` FROM answer
		WHERE (?1 = '' OR book = ?1) AND (?2 = '' OR state = ?2) AND (?3 = 0 OR n < ?3) ORDER BY n DESC LIMIT ?4`, book, state, before, limit)
	if err != nil {
		return nil, found(err)
	}
	return questions(rows)
}

// KeptQuestion is what a list of charges shows of the question behind one.
type KeptQuestion struct {
	ID, Principal, State string
	// Paid is what the quote stated, in JSON.
	Paid []byte
}

// QuestionsByKeys finds the questions of request keys, by key.
func (s *Store) QuestionsByKeys(ctx context.Context, keys []string) (map[string]KeptQuestion, error) {
	out := make(map[string]KeptQuestion, len(keys))
	for _, key := range keys {
		var k KeptQuestion
		var paid string
		err := s.reads.QueryRowContext(ctx, "SELECT id, principal, state, paid FROM answer WHERE request_key = ?", key).
			Scan(&k.ID, &k.Principal, &k.State, &paid)
		switch {
		case err == nil:
			k.Paid = []byte(paid)
			out[key] = k
		case !errors.Is(err, sql.ErrNoRows):
			return nil, found(err)
		}
	}
	return out, nil
}

// OpenQuestions lists the questions that were asked and have not ended, the oldest first.
func (s *Store) OpenQuestions(ctx context.Context) ([]Question, error) {
	rows, err := s.reads.QueryContext(ctx, "SELECT "+questionFields+" FROM answer WHERE state = 'asked' ORDER BY n")
	if err != nil {
		return nil, found(err)
	}
	return questions(rows)
}

// questions reads questions without their bodies, and closes the rows.
func questions(rows *sql.Rows) ([]Question, error) {
	defer func() { _ = rows.Close() }()
	var all []Question
	for rows.Next() {
		var q Question
		var made int64
		var paid, line string
		if err := rows.Scan(q.fields(&made, &paid, &line)...); err != nil {
			return nil, found(err)
		}
		q.Made, q.Paid, q.Line = at(made), []byte(paid), []byte(line)
		all = append(all, q)
	}
	return all, found(rows.Err())
}
