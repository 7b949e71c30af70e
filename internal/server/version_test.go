package server

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/internal/server/books"
	"github.com/noren-privacy/noren/internal/server/tables"
)

// A new version that has come to hold the values of another book's column is refused until
// the steward declares that its people are others.
func TestVersionOfSimilarBook(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	r := start(t, func(c *Config) { c.RequestsPerSecond = -1 })
	s := r.steward(t)
	state := func(missing ...string) func(*tables.Stated) {
		return func(b *tables.Stated) {
			b.Unit, b.Missing = "", append([]string{}, missing...)
			for i := range b.Columns {
				b.Columns[i].Type, b.Columns[i].Role = "category", "other"
			}
		}
	}
	open := func(name, gap string) (table *tables.Table, book string) {
		t.Helper()
		text := fmt.Sprintf("length%s,note%s\n", name, name)
		for i := range 40 {
			text += fmt.Sprintf("%d,%s\n", 100+i, name)
			if i%4 == 0 {
				text += fmt.Sprintf("%s,%s\n", gap, name)
			}
		}
		table = s.confirm(t, s.add(t, tables.Source{Kind: "upload", Upload: s.upload(t, name+".csv", []byte(text))}), state())
		job := s.finish(t, s.do(t, 202, "POST", "/books", map[string]any{
			"table": table.ID, "accounting": "epsilon", "epsilon": "1", "name": name,
			"confirm": true,
		}, nil))
		var opened books.Opened
		if err := json.Unmarshal(job.Result, &opened); err != nil || opened.Book == "" {
			t.Fatalf("%s: %v", job.Result, err)
		}
		return table, opened.Book
	}
	one, book := open("one", "999")
	open("two", "")
	s.confirm(t, s.table(t, one.ID), state("999"))
	var begun struct{ ID string }
	s.do(t, 202, "POST", "/books/"+book+"/version", map[string]any{"confirm": true}, nil).decode(t, &begun)
	if job := s.wait(t, begun.ID); !strings.Contains(string(job.Problem), `"other-people"`) {
		t.Fatalf("%+v", job)
	}
	s.finish(t, s.do(t, 202, "POST", "/books/"+book+"/version", map[string]any{"confirm": true, "other_people": true}, nil))
	var b books.Book
	s.do(t, 200, "GET", "/books/"+book, nil, nil).decode(t, &b)
	if b.Version != 2 {
		t.Errorf("%+v", b)
	}
}
