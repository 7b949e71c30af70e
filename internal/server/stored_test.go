package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/internal/server/auth"
	"github.com/noren-privacy/noren/internal/server/questions"
)

// second is another analyst of the table of a, with an account of 1 of its book.
func (a *asker) second(t *testing.T, s *steward, name string) *asker {
	t.Helper()
	b := &asker{steward: &steward{s.running, s.token(t, name, auth.Analyst, a.book.Table)}, book: a.book}
	b.id = s.principal(t, name)
	s.do(t, 200, "PUT", "/books/"+a.book.ID+"/accounts/"+b.id, map[string]any{"epsilon": "1"}, nil)
	return b
}

// A quote offers the newest answer that its reader may read: where answers are not shared,
// the own one, also after others asked the same.
func TestStoredIsTheReaders(t *testing.T) {
	t.Parallel()
	for _, share := range []bool{false, true} {
		r := start(t, func(c *Config) { c.RequestsPerSecond, c.AnswersPerMinute = -1, -1 })
		s := r.steward(t)
		book := smallBook(s.people(t, 60, "x").ID)
		book["share_answers"] = share
		a := s.opened(t, book)
		b := a.second(t, s, "Kimura")
		const asked = "age >= 65"
		var own, theirs questions.Answer
		a.pay(t, 200, a.quote(t, "0.1", asked), "one").decode(t, &own)
		if q := b.quote(t, "0.1", asked); (q.Stored != nil) != share {
			t.Errorf("shared %t: the other is offered %+v", share, q.Stored)
		}
		b.pay(t, 200, b.quote(t, "0.1", asked), "two").decode(t, &theirs)
		want := map[bool]map[*asker]string{false: {a: own.ID, b: theirs.ID}, true: {a: theirs.ID, b: theirs.ID}}[share]
		for reader, id := range want {
			q := reader.quote(t, "0.1", asked)
			if q.Stored == nil || q.Stored.Answer != id {
				t.Errorf("shared %t: got %+v, want %s", share, q.Stored, id)
			}
			if q := reader.quote(t, "0.1", "age >= 66"); q.Stored != nil {
				t.Errorf("shared %t: another question is offered %+v", share, q.Stored)
			}
		}
	}
}

// A quote is paid as it was made: after the public table that it read has changed it is
// outdated, nothing is charged, and what is stored under its request is an answer to that
// request.
func TestAQuoteIsPaidAsItWasMade(t *testing.T) {
	t.Parallel()
	public := filepath.Join(patientFiles(t), "survey.csv")
	write := func(income string) {
		t.Helper()
		text := "age,income\n" + strings.Repeat("30,100\n50,"+income+"\n70,300\n", 40)
		if err := os.WriteFile(public, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("200")
	s, a := opened(t, func(c *Config) { c.Public = map[string]string{"survey": public} })
	quote := func() *questions.Quote {
		t.Helper()
		var q questions.Quote
		a.do(t, 200, "POST", "/quotes", map[string]any{
			"book": a.book.ID, "pay": []any{map[string]any{"epsilon": "0.2"}},
			"questions": []any{map[string]any{"kind": "ratio", "public": "survey", "columns": []string{"age"}, "of": "mean", "column": "income"}},
		}, nil).decode(t, &q)
		return &q
	}
	first := quote()
	a.pay(t, 200, first, "one")
	if again := quote(); again.RequestHash != first.RequestHash || again.Stored == nil {
		t.Errorf("the answer is not offered: %+v", again.Stored)
	}
	write("900")
	if b := a.pay(t, 409, first, "two"); b.code() != "quote-outdated" {
		t.Errorf("%s", b.body)
	}
	if next := quote(); next.RequestHash == first.RequestHash || next.Stored != nil {
		t.Errorf("the answer from another public table is offered: %+v", next.Stored)
	}
	if b := a.pay(t, 200, first, "one"); b.header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("%s", b.body)
	}

	if b := s.books0(t); b.Spent.Epsilon != "0.2" {
		t.Errorf("spent %s", b.Spent.Epsilon)
	}
}
