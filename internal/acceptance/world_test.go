package acceptance

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
)

// Column facts that are public: the wards are those of the house's plan.
var wards = []string{"A", "B", "C", "D"}

// visits is a synthetic table of n records of people with up to three visits.
func visits(n int, seed uint64) string {
	rng := rand.New(rand.NewPCG(seed, 1))
	var out strings.Builder
	out.WriteString("person,age,ward,cost\n")
	for i := range n {
		fmt.Fprintf(&out, "p%06d,%d,%s,%d\n", i/3, rng.IntN(100), wards[rng.IntN(len(wards))], rng.IntN(10_000))
	}
	return out.String()
}

// A table is one of the server with its book.
type table struct{ id, book string }

// A setting is how a book is opened.
type setting map[string]any

// add adds a CSV table of the form of visits, confirms its columns and opens its book.
// missing are the texts that stand for missing values.
func (u *user) add(t *testing.T, name, csv string, s setting, missing ...string) table {
	t.Helper()
	var added struct {
		Table struct{ ID string }
		Job   job
	}
	u.must(t, 202, "POST", "/tables", map[string]any{
		"name":   name,
		"source": map[string]any{"kind": "upload", "upload": u.upload(t, name, []byte(csv))},
	}, &added)
	u.wait(t, added.Job.ID)
	out := table{id: added.Table.ID}
	tag := u.must(t, 200, "GET", "/tables/"+out.id, nil, nil).header.Get("ETag")
	column := func(name, kind, role string) map[string]any {
		return map[string]any{"name": name, "type": kind, "role": role}
	}
	u.must(t, 200, "PUT", "/tables/"+out.id+"/columns", map[string]any{
		"missing": append([]string{}, missing...), "confirm": true, "columns": []any{
			column("person", "category", "identifier"), column("age", "integer", "quasi-identifier"),
			column("ward", "category", "quasi-identifier"), column("cost", "integer", "sensitive"),
		},
	}, nil, "If-Match", tag)
	out.book = u.open(t, out.id, s)
	return out
}

// open opens the book of a table that has the form of visits.
func (u *user) open(t *testing.T, tableID string, s setting) string {
	t.Helper()
	body := setting{
		"table": tableID, "accounting": "epsilon", "epsilon": "100", "unit": "record", "neighbours": "add-remove", "at_most": 2000,
		"other_people": true, "confirm": true, "columns": []any{
			map[string]any{"name": "age", "bounds": []string{"0", "100"}},
			map[string]any{"name": "cost", "bounds": []string{"0", "10000"}},
			map[string]any{"name": "ward", "keys": wards},
		},
	}
	maps.Copy(body, s)
	if body["neighbours"] == "replace-one" {
		delete(body, "at_most") // the number of records is public
	}
	var begun job
	u.must(t, 202, "POST", "/books", body, &begun)
	var done struct{ Book string }
	if err := json.Unmarshal(u.wait(t, begun.ID).Result, &done); err != nil || !strings.HasPrefix(done.Book, "bk_") {
		t.Fatalf("the book was not opened: %s, %v", begun.Result, err)
	}
	return done.Book
}

// steward is the first principal of the server.
func (s *served) steward(t *testing.T) *user {
	t.Helper()
	return &user{served: s, name: "Steward", secret: s.token(t, "Steward")}
}

// analyst makes a principal with an account in a book, given by a steward.
func (u *user) analyst(t *testing.T, name, book string, limit setting) *user {
	t.Helper()
	id := noren(t, "serve", "principal", "add", "--dir", u.dir, "--name", name)
	u.must(t, 200, "PUT", "/books/"+book+"/accounts/"+id, limit, nil)
	return &user{served: u.served, id: id, name: name, secret: u.token(t, name), by: u, account: book}
}

// amount is an amount of budget in the interface.
type amount struct{ Epsilon, Delta, Rho string }

// A question is one of the interface, by the names of its fields.
type question map[string]any

// quote is the part of a quote that trials use.
type quote struct {
	Token, Until string
	Cost         amount
	Fits         bool
	Class        float64 `json:"time_class_s"`
	RequestHash  string  `json:"request_hash"`
	Questions    []struct {
		Accuracy struct{ Within *float64 }
	}
}

// quoting is the body of a request for a quote that pays epsilon for each question.
func quoting(book, epsilon string, questions ...question) map[string]any {
	pay := make([]map[string]string, len(questions))
	for i := range pay {
		pay[i] = map[string]string{"epsilon": epsilon}
	}
	return map[string]any{"book": book, "questions": questions, "pay": pay}
}

// quote asks for the cost of questions.
func (u *user) quote(t *testing.T, body map[string]any) *quote {
	t.Helper()
	var q quote
	u.must(t, 200, "POST", "/quotes", body, &q)
	return &q
}

// paying is the body of a request that pays a quote.
func (q *quote) paying() map[string]any {
	return map[string]any{"quote": q.Token, "most": map[string]string{"epsilon": q.Cost.Epsilon, "delta": q.Cost.Delta}}
}

// answer is the part of an answer that trials use.
type answer struct {
	ID, Book, Payload string
	N                 int64
	Cost              amount
	Certificate       json.RawMessage
	Questions         []struct {
		Kind   string
		Result struct {
			Rows []struct {
				Keys  []string
				Value any
				Noise *float64
			}
		}
	}
}

// bookState is the part of a book that trials use.
type bookState struct {
	ID               string
	Cap, Spent, Left amount
	Sealed           bool
}

func (u *user) book(t *testing.T, id string) *bookState {
	t.Helper()
	var b bookState
	u.must(t, 200, "GET", "/books/"+id, nil, &b)
	return &b
}
