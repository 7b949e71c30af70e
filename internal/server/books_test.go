package server

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/noren-privacy/noren/internal/server/auth"
	"github.com/noren-privacy/noren/internal/server/books"
	"github.com/noren-privacy/noren/internal/server/questions"
)

// asker is a principal who asks questions of a book.
type asker struct {
	*steward
	id   string
	book *books.Book
}

// opened is a server with the book of a small table, its steward and an analyst with an account of
// 2 of 4.
func opened(t *testing.T, change func(*Config)) (s *steward, a *asker) {
	t.Helper()
	r := start(t, func(c *Config) {
		c.RequestsPerSecond, c.AnswersPerMinute = -1, -1
		if change != nil {
			change(c)
		}
	})
	s = r.steward(t)
	return s, s.opened(t, smallBook(s.people(t, 60, "x").ID))
}

// smallBook opens the book of a table that people makes.
func smallBook(table string) map[string]any {
	return map[string]any{
		"table": table, "accounting": "epsilon", "epsilon": "4", "confirm": true,
		"columns": []map[string]any{{"name": "city", "keys": []string{"Nara", "Kobe"}}, {"name": "height", "bounds": []string{"100", "220"}}},
	}
}

// opened opens a book, and makes an analyst with an account.
func (s *steward) opened(t *testing.T, opening map[string]any) *asker {
	t.Helper()
	job := s.finish(t, s.do(t, 202, "POST", "/books", opening, nil))
	var result books.Opened
	if err := json.Unmarshal(job.Result, &result); err != nil || result.Book == "" {
		t.Fatalf("%s: %v", job.Result, err)
	}
	a := &asker{steward: &steward{s.running, s.token(t, "Sato", auth.Analyst, "tb_aaaaaaaaaaaaaaaa")}}
	a.id = s.principal(t, "Sato")
	a.book = &books.Book{}
	s.do(t, 200, "PUT", "/books/"+result.Book+"/accounts/"+a.id, map[string]any{"epsilon": "2"}, nil).decode(t, a.book)
	return a
}

// principal is the id of a principal.
func (r *running) principal(t *testing.T, name string) string {
	t.Helper()
	p, err := r.store.PrincipalByName(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return p.ID
}

// quote asks for a quote of counts at an epsilon each.
func (a *asker) quote(t *testing.T, epsilon string, where ...string) *questions.Quote {
	t.Helper()
	var all, pay []map[string]any
	for _, w := range where {
		all = append(all, map[string]any{"kind": "count", "where": w})
		pay = append(pay, map[string]any{"epsilon": epsilon})
	}
	var q questions.Quote
	a.do(t, 200, "POST", "/quotes", map[string]any{"book": a.book.ID, "questions": all, "pay": pay}, nil).decode(t, &q)
	return &q
}

func idempotency(key string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Idempotency-Key", key) }
}

// pay pays a quote.
func (a *asker) pay(t *testing.T, status int, q *questions.Quote, key string) *answer {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		b := a.ask(t, "POST", "/api/v1/answers", a.secret, map[string]any{"quote": q.Token, "most": q.Cost}, idempotency(key))
		if b.status == http.StatusAccepted && status != b.status && time.Now().Before(deadline) {
			// The machine of the test is slow: the reply is there at a later boundary.
			time.Sleep(500 * time.Millisecond)
			continue
		}
		if b.status != status {
			t.Fatalf("got %d %s, want %d", b.status, b.body, status)
		}
		return b
	}
}

func TestBookAndAnswer(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	s := r.steward(t)
	a := s.opened(t, map[string]any{
		"table": s.clinic(t).ID, "accounting": "epsilon", "epsilon": "4", "unit": "person_id", "max_rows": 3, "confirm": true,
		"columns": []map[string]any{
			{"name": "department", "keys": []string{"urology", "emergency"}}, {"name": "cost_yen", "bounds": []string{"0", "100000"}},
		},
	})
	if a.book.Accounting != "epsilon" || a.book.Cap.Epsilon != "4" || len(a.book.Accounts) != 2 || len(a.book.Statement) != 2 ||
		a.book.Unit != "person_id" {
		t.Fatalf("%+v", a.book)
	}
	reads := s.kept.Reads()
	q := a.quote(t, "0.1", "age >= 65", "age < 20")
	if q.Cost.Epsilon != "0.2" || !q.Fits || q.LeftAfter == nil || q.LeftAfter.Own == nil || q.LeftAfter.Own.Epsilon != "1.8" ||
		q.LeftAfter.Table.Epsilon != "3.8" || q.Stored != nil {
		t.Fatalf("%+v", q)
	}
	if s.kept.Reads() != reads {
		t.Errorf("%d reads before the first answer", s.kept.Reads())
	}
	begun := time.Now()
	first := a.pay(t, 200, q, "one")
	if took := time.Since(begun); took < 500*time.Millisecond {
		t.Errorf("the answer left after %s", took)
	}
	var out questions.Answer
	first.decode(t, &out)
	if out.Cost.Epsilon != "0.2" || out.N == 0 || out.Left.Own.Epsilon != "1.8" || len(out.Questions) != 2 ||
		len(out.Questions[0].Result.Rows) != 1 || out.Questions[0].Result.Rows[0].Value == nil || out.Replayed || out.By != "Sato" {
		t.Errorf("%s", strings.TrimSpace(first.body))
	}
	again := a.pay(t, 200, q, "one")
	if again.body != first.body || again.header.Get("Idempotency-Replayed") != "true" {
		t.Error("the same key gave other bytes")
	}
	if b := a.pay(t, 409, a.quote(t, "0.1", "age >= 65"), "one"); b.code() != "conflict" {
		t.Errorf("another body: %s", b.body)
	}
	if q := a.quote(t, "0.1", "age >= 65", "age < 20"); q.Stored == nil || q.Stored.Answer != out.ID {
		t.Errorf("stored: %+v", q.Stored)
	}
	var book books.Book
	a.do(t, 200, "GET", "/books/"+a.book.ID, nil, nil).decode(t, &book)
	if book.Spent.Epsilon != "0.2" || len(book.Accounts) != 1 || book.Accounts[0].Left.Epsilon != "1.8" || book.Entries != nil ||
		book.Alerts != nil {
		t.Errorf("%+v", book)
	}
	var read questions.Answer
	a.do(t, 200, "GET", "/answers/"+out.ID, nil, nil).decode(t, &read)
	if !read.Replayed || read.Payload != out.Payload {
		t.Errorf("%+v", read)
	}
	dear := a.quote(t, "2", "age >= 65")
	if dear.Fits || dear.Short == nil || dear.Short.Epsilon != "0.2" {
		t.Errorf("%+v", dear)
	}
	refused := a.pay(t, 409, dear, "two")
	if refused.code() != "budget-refused" || !strings.Contains(refused.body, `"short":{"epsilon":"0.2"`) ||
		!strings.Contains(refused.body, `"account":"Sato"`) {
		t.Errorf("%s", refused.body)
	}
}
