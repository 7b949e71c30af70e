package server

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/internal/server/audit"
	"github.com/noren-privacy/noren/internal/server/auth"
	"github.com/noren-privacy/noren/internal/server/books"
	"github.com/noren-privacy/noren/internal/server/tables"
)

// facts are the facts that the server proposes, in one line.
func (s *steward) facts(t *testing.T, secret, table, text string) string {
	t.Helper()
	var out books.Facts
	a := s.ask(t, "POST", "/api/v1/tables/"+table+"/facts", secret, map[string]any{"text": text}, nil)
	if a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.body)
	}
	a.decode(t, &out)
	var b strings.Builder
	for _, c := range out.Columns {
		fmt.Fprintf(&b, "%s %v%v %s%s; ", c.Name, c.Bounds, c.Keys, c.From, c.Book)
	}
	return b.String() + strings.Join(out.Unknown, ",")
}

// Public facts of a book come from a specification, from another book that may be read and
// from names, and never from the table.
func TestFactsOfABook(t *testing.T) {
	t.Parallel()
	r := start(t, func(c *Config) { c.RequestsPerSecond, c.AnswersPerMinute = -1, -1 })
	s := r.steward(t)
	first := s.people(t, 60, "x")
	if got := s.facts(t, s.secret, first.ID, ""); got != "age [0 120][] name; " {
		t.Errorf("by name: %s", got)
	}
	text := "version: 1\ncolumns:\n  age: {bounds: [18, 90]}\n  height: {keys: [tall]}\n  city: {keys: [Nara, Kobe]}\n  air: {bounds: [0, " +
		"1]}\n"
	if got := s.facts(t, s.secret, first.ID, text); got != "age [18 90][] spec; city [][Nara Kobe] spec; air,height" {
		t.Errorf("by specification: %s", got)
	}
	a := s.opened(t, smallBook(first.ID))
	second := s.people(t, 50, "y")
	if got := s.facts(t, s.secret, second.ID,
		""); got != "age [0 120][] name; height [100 220][] bookpeople.csv; city [][Nara Kobe] bookpeople.csv; " {
		t.Errorf("by another book: %s", got)
	}
	// A steward of the second table alone does not see the book of the first.
	if got := s.facts(t, s.token(t, "Mori", auth.Steward, second.ID), second.ID, ""); got != "age [0 120][] name; " {
		t.Errorf("by a book that may not be read: %s", got)
	}
	for name, c := range map[string]struct {
		secret, table, text string
		status              int
	}{
		"an analyst":       {a.secret, second.ID, "", 404},
		"no specification": {s.secret, second.ID, "version: 1\ncolumns: {age: {bonds: [0, 1]}}", 422},
		"a secret":         {s.secret, second.ID, "postgres://steward:secret@host/clinic", 422},
		"no table":         {s.secret, "tb_cccccccccccccccc", "", 404},
	} {
		got := s.ask(t, "POST", "/api/v1/tables/"+c.table+"/facts", c.secret, map[string]any{"text": c.text}, nil)
		if got.status != c.status || strings.Contains(got.body, "steward:secret") {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
}

// The entry of a new version of the same file, read by another form, says nothing of the file.
func TestEntryOfTheSameFile(t *testing.T) {
	t.Parallel()
	s, a := opened(t, nil)
	s.confirm(t, s.read(t, "/tables/"+a.book.Table+"/read", &tables.Form{Missing: []string{"Osaka"}},
		match(etag(s.table(t, a.book.Table).Version))), peopleRoles)
	s.finish(t, s.do(t, 202, "POST", "/books/"+a.book.ID+"/version", map[string]any{"confirm": true, "other_people": true}, nil))
	var log page[audit.Item]
	s.do(t, 200, "GET", "/audit?action=book.version", nil, nil).decode(t, &log)
	if len(log.Items) != 1 || len(log.Items[0].Detail) != 1 || log.Items[0].Detail["version"] != "2" {
		t.Errorf("%+v", log.Items)
	}
}

// A new version of a definition leaves an entry that names what changed.
func TestEntryOfANewVersion(t *testing.T) {
	t.Parallel()
	s, a := opened(t, nil)
	table := s.table(t, a.book.Table)
	s.confirm(t, table, func(b *tables.Stated) {
		peopleRoles(b)
		for i := range b.Columns {
			if b.Columns[i].Name == "age" {
				b.Columns[i].Bounds = []string{"0", "99"}
			}
		}
	})
	s.finish(t, s.do(t, 202, "POST", "/books/"+a.book.ID+"/version",
		map[string]any{"columns": []map[string]any{{"name": "city", "keys": []string{"Nara"}}}, "confirm": true}, nil))
	var log page[audit.Item]
	s.do(t, 200, "GET", "/audit?action=book.version", nil, nil).decode(t, &log)
	if len(log.Items) != 1 || log.Items[0].Detail["changed"] != "age, city" || log.Items[0].Detail["version"] != "2" ||
		log.Items[0].Detail["file"] != "" {
		t.Errorf("%+v", log.Items)
	}
}
