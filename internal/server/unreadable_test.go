package server

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/internal/server/audit"
	"github.com/noren-privacy/noren/internal/server/books"
	"github.com/noren-privacy/noren/internal/server/store"
)

// broken stores another document of a resource: JSON of another form.
func (s *steward) broken(t *testing.T, kind, id string) {
	t.Helper()
	row, err := s.store.FindResource(t.Context(), kind, id)
	if err != nil {
		t.Fatal(err)
	}
	row.Doc = []byte(`{"by":[],"saved":[],"added":[],"at":[],"opened":[],"made":[]}`)
	if err := s.store.Write(t.Context(), func(ctx context.Context, tx *store.Tx) error { return tx.PutResource(ctx, row) }); err != nil {
		t.Fatal(err)
	}
}

// listsOf are the routes of lists in the document of the interface: those whose answer has
// items.
func (r *running) listsOf() (all []string) {
	for path, item := range r.api.OpenAPI().Paths {
		if item.Get == nil || item.Get.Responses["200"] == nil {
			continue
		}
		media := item.Get.Responses["200"].Content["application/json"]
		if media == nil || media.Schema == nil || media.Schema.Ref == "" {
			continue
		}
		if schema := r.api.OpenAPI().Components.Schemas.SchemaFromRef(media.Schema.Ref); schema != nil && schema.Properties["items"] != nil {
			all = append(all, strings.TrimPrefix(path, apiPrefix))
		}
	}
	slices.Sort(all)
	return all
}

// One member of each list that cannot be read leaves the others in the list, in the running
// server and after a restart, and is marked. The routes are those of the interface's document.
func TestListsWithAnUnreadableMember(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	cfg := config(t)
	cfg.RequestsPerSecond, cfg.AnswersPerMinute = -1, -1
	r := start(t, func(to *Config) { *to = cfg })
	s := r.steward(t)
	good := s.opened(t, smallBook(s.people(t, 60, "x").ID))
	opening := smallBook(s.people(t, 60, "y").ID)
	opening["name"], opening["other_people"] = "others", true
	var result books.Opened
	if err := json.Unmarshal(s.finish(t, s.do(t, 202, "POST", "/books", opening, nil)).Result, &result); err != nil {
		t.Fatal(err)
	}
	bad := &asker{steward: good.steward, id: good.id, book: &books.Book{}}
	s.do(t, 200, "PUT", "/books/"+result.Book+"/accounts/"+bad.id, map[string]any{"epsilon": "2"}, nil).decode(t, bad.book)
	var answers []string
	for i, a := range []*asker{bad, good, good} {
		var out struct{ ID string }
		a.pay(t, http.StatusOK, a.quote(t, "0.01", "age >= 65"), fmt.Sprint("key", i)).decode(t, &out)
		answers = append(answers, out.ID)
	}
	var recipes, releases, uploads []string
	for range 2 {
		recipe := s.recipe(t, good.book.Table, nil)
		recipes = append(recipes, recipe.ID)
		releases = append(releases, s.release(t, recipe.ID, s.preview(t, recipe.ID), releases...).ID)
		uploads = append(uploads, s.upload(t, "a.csv", people(3, "x")))
	}
	job := s.jobs.List("", 1, nil)[0].ID
	third := s.people(t, 10, "z").ID
	exec := func(text string, args ...any) func() {
		return func() {
			db, err := sql.Open("sqlite", "file:"+s.path("server.db")+"?_pragma=busy_timeout(20000)")
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = db.Close() }()
			if _, err := db.ExecContext(t.Context(), text, args...); err != nil {
				t.Fatal(err)
			}
		}
	}
	var certificates page[certificateBody]
	s.do(t, 200, "GET", "/certificates", nil, nil).decode(t, &certificates)
	signed := certificates.Items[0].ID
	type member struct {
		path  string
		id    string // how the member is marked; "" where it is shown as far as it is known
		spoil func()
	}
	spoiled := map[string]member{
		"/tables":              {"/tables", third, func() { s.broken(t, store.KindTable, third) }},
		"/tables/{id}/recipes": {"/tables/" + good.book.Table + "/recipes", recipes[0], func() { s.broken(t, store.KindRecipe, recipes[0]) }},
		"/releases":            {"/releases", releases[0], func() { s.broken(t, store.KindRelease, releases[0]) }},
		"/books":               {"/books", bad.book.ID, func() { s.broken(t, store.KindBook, bad.book.ID) }},
		"/jobs":                {"/jobs", job, func() { s.broken(t, store.KindJob, job) }},
		"/answers": {"/answers", answers[1], exec("DROP TRIGGER answer_final; UPDATE answer SET line = '[]' WHERE id = ?",
			answers[1])},
		"/certificates": {"/certificates", signed, exec("UPDATE certificate SET guarantee = '{' WHERE id = ?", signed)},
		"/uploads": {"/uploads", "", func() {
			if err := os.WriteFile(s.path("uploads", uploads[0], "upload.json"), []byte("[]"), 0o600); err != nil {
				t.Fatal(err)
			}
		}},
	}
	// Lists of what is not a document: names and times in columns of the store, whose types the
	// database keeps, the ledger's chain, whose damage seals, and what is configured.
	typed := []string{"/books/{id}/afford", "/books/{id}/entries", "/keys", "/principals", "/question-kinds", "/tokens", "/audit"}
	for _, route := range s.listsOf() {
		if _, ok := spoiled[route]; !ok && !slices.Contains(typed, route) {
			t.Errorf("GET %s is a list that this test does not spoil", route)
		}
	}
	count := func(s *steward, m *member) (items int, marked []string) {
		t.Helper()
		var p page[json.RawMessage]
		s.do(t, 200, "GET", m.path, nil, nil).decode(t, &p)
		for _, one := range p.Items {
			if m.id != "" && bytes.Contains(one, []byte(`"state":"lost"`)) && bytes.Contains(one, []byte(m.id)) {
				marked = append(marked, m.id)
			}
		}
		return len(p.Items), append(marked, p.Unreadable...)
	}
	before := map[string]int{}
	for route, m := range spoiled {
		before[route], _ = count(s, &m)
	}
	for _, m := range spoiled {
		m.spoil()
	}
	look := func(s *steward, when string) {
		t.Helper()
		for route, m := range spoiled {
			if when == "running" && (route == "/books" || route == "/jobs") {
				continue // they are in memory
			}
			n, marked := count(s, &m)
			if n < before[route]-2 || n == 0 { // an answer is not shown without its book
				t.Errorf("%s, %s: %d members, before %d", when, route, n, before[route])
			}
			if m.id != "" && !slices.Contains(marked, m.id) {
				t.Errorf("%s, %s: %s is not marked: %q", when, route, m.id, marked)
			}
		}
		// Others work on: another table's preview, with the release that cannot be read in its gate.
		var p struct{ Earlier []struct{ Release string } }
		s.do(t, 202, "POST", "/recipes/"+recipes[1]+"/preview", nil, nil)
		s.idle(t)
		if s.do(t, 200, "GET", "/recipes/"+recipes[1]+"/preview", nil, nil).
			decode(t, &p); !slices.ContainsFunc(p.Earlier, func(e struct{ Release string }) bool { return e.Release == releases[0] }) {
			t.Errorf("%s: the gate does not know of the release that cannot be read: %+v", when, p)
		}
	}
	look(s, "running")
	folder := s.path("tables", third)
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	again := &steward{start(t, func(to *Config) { *to = cfg }), s.secret}
	again.principals = unlimited()
	look(again, "restarted")
	if faults := strings.Join(again.faults(), "\n"); !strings.Contains(faults, bad.book.ID) {
		t.Errorf("health: %q", faults)
	}
	for _, kept := range []string{folder, again.path("books", bad.book.ID), again.path("releases", releases[0])} {
		if _, err := os.Stat(kept); err != nil {
			t.Errorf("the files of a member that cannot be read are removed: %v", err)
		}
	}
	// An entry of the audit log that cannot be read: the others are listed.
	entries := func() (items []struct {
		N      int64
		Action string
	},
	) {
		var p page[json.RawMessage]
		again.do(t, 200, "GET", "/audit?limit=500", nil, nil).decode(t, &p)
		for _, one := range p.Items {
			items = append(items, struct {
				N      int64
				Action string
			}{})
			if err := json.Unmarshal(one, &items[len(items)-1]); err != nil {
				t.Fatal(err)
			}
		}
		return items
	}
	n := len(entries())
	log, err := os.ReadFile(again.path("audit.log"))
	if err != nil {
		t.Fatal(err)
	}
	log[0] = '['
	if err := os.WriteFile(again.path("audit.log"), log, 0o600); err != nil {
		t.Fatal(err)
	}
	if all := entries(); len(all) < n || all[len(all)-1].N != 1 || all[len(all)-1].Action != audit.Unreadable {
		t.Errorf("%d entries, %d before, %+v", len(all), n, all[len(all)-1])
	}
}
