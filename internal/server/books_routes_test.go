package server

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/internal/server/auth"
	"github.com/noren-privacy/noren/internal/server/books"
	"github.com/noren-privacy/noren/internal/server/jobs"
	"github.com/noren-privacy/noren/internal/server/questions"
	"github.com/noren-privacy/noren/service"
)

// Caps and accounts rise only; a table has one book; refusals of openings leave nothing.
func TestBookRoutes(t *testing.T) {
	t.Parallel()
	s, a := opened(t, nil)
	id := a.book.ID
	var b books.Book
	s.do(t, 200, "POST", "/books/"+id+"/cap", map[string]any{"epsilon": "5"}, nil).decode(t, &b)
	if b.Cap.Epsilon != "5" {
		t.Errorf("%+v", b.Cap)
	}
	for _, c := range []struct {
		method, path string
		body         any
		status       int
	}{
		{"POST", "/books/" + id + "/cap", map[string]any{"epsilon": "4"}, 422},
		{"POST", "/books/" + id + "/cap", map[string]any{}, 422},
		{"POST", "/books/" + id + "/cap", map[string]any{"rho": "1"}, 422},
		{"PUT", "/books/" + id + "/accounts/" + a.id, map[string]any{"epsilon": "1"}, 422},
		{"PUT", "/books/" + id + "/accounts/pr_cccccccccccccccc", map[string]any{"epsilon": "1"}, 404},
		{"DELETE", "/books/" + id + "/accounts/pr_cccccccccccccccc", nil, 404},
		{"POST", "/books", smallBook(a.book.Table), 409},
		{"POST", "/books", smallBook("tb_cccccccccccccccc"), 404},
		{"GET", "/books/" + id + "/entries?after=x", nil, 422},
	} {
		if got := s.ask(t, c.method, "/api/v1"+c.path, s.secret, c.body, nil); got.status != c.status {
			t.Errorf("%s %s %v: %d %s", c.method, c.path, c.body, got.status, got.body)
		}
	}
	other := s.people(t, 50, "y").ID
	for name, change := range map[string]map[string]any{
		"no cap": {"epsilon": ""}, "rho too": {"rho": "1"}, "zcdp without rho": {"accounting": "zcdp"}, "a taken name": {"name": a.book.Name},
		"a bad name":      {"name": "A b"},
		"a column of air": {"columns": []map[string]any{{"name": "air", "keys": []string{"x"}}}}, "persons without a bound": {"unit": "person"},
	} {
		body := smallBook(other)
		for k, v := range change {
			body[k] = v
		}
		if got := s.ask(t, "POST", "/api/v1/books", s.secret, body, nil); got.status != 422 {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	if n := len(s.books0(t).Accounts); n != 2 {
		t.Errorf("%d accounts", n)
	}
	var p page[questions.Affordable]
	if a.do(t, 200, "GET", "/books/"+id+"/afford", nil, nil).decode(t, &p); len(p.Items) < 3 || p.Items[0].Times < 1 ||
		p.Items[0].Cost.Epsilon == "" {
		t.Errorf("%+v", p.Items)
	}
	a.pay(t, 200, a.quote(t, "0.1", "age >= 65"), "one")
	var spend books.Spend
	if a.do(t, 200, "GET", "/books/"+id+"/spend", nil, nil).decode(t, &spend); len(spend.Points) == 0 || spend.Cap.Epsilon != "2" ||
		spend.Points[len(spend.Points)-1].Amount.Epsilon != "0.1" {
		t.Errorf("%+v", spend)
	}
	s.finish(t, s.do(t, 202, "POST", "/books/"+id+"/check", nil, nil))
	var check books.LedgerCheck
	if s.do(t, 200, "GET", "/books/"+id+"/check", nil, nil).decode(t, &check); check.State != "done" || len(check.Checks) != 2 ||
		check.Checks[0].Level != "ok" {
		t.Errorf("%+v", check)
	}
}

// A book in zCDP: its cap is a rho, and answers of both kinds of noise are charged there.
func TestBookInZCDP(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	r := start(t, func(c *Config) { c.RequestsPerSecond, c.AnswersPerMinute = -1, -1 })
	s := r.steward(t)
	opening := smallBook(s.people(t, 60, "x").ID)
	delete(opening, "epsilon")
	opening["accounting"], opening["rho"], opening["delta"] = "zcdp", "0.5", "0.000001"
	job := s.finish(t, s.do(t, 202, "POST", "/books", opening, nil))
	if !strings.Contains(string(job.Result), "bk_") {
		t.Fatalf("%s", job.Result)
	}
	b := s.books0(t)
	if b.Accounting != "zcdp" || b.Cap.Rho != "0.5" || b.Cap.Epsilon != "" || b.Delta == "" || len(b.Statement) != 2 {
		t.Fatalf("%+v", b)
	}
	a := &asker{s, s.principal(t, "Anna"), b}
	var q questions.Quote
	a.do(t, 200, "POST", "/quotes", map[string]any{"book": b.ID, "questions": []any{
		map[string]any{"kind": "count", "where": "age >= 30"},
		map[string]any{"kind": "count", "noise": "gaussian"},
	}, "pay": []any{map[string]string{"epsilon": "0.1"}, map[string]string{"rho": "0.01"}}}, nil).decode(t, &q)
	if q.Cost.Rho != "0.015" || q.Accounting != "zcdp" {
		t.Fatalf("%+v", q.Cost)
	}
	var out questions.Answer
	if a.pay(t, 200, &q, "one").decode(t, &out); out.Cost.Rho != "0.015" || out.Left.Table.Rho != "0.485" {
		t.Errorf("%+v %+v", out.Cost, out.Left)
	}
	if b := s.books0(t); b.Spent.Rho != "0.015" {
		t.Errorf("%+v", b.Spent)
	}
}

// A book with a model of dependent records says what it is about, answers questions under
// it, and keeps it in a new version.
func TestBookWithModel(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	s := start(t, func(c *Config) { c.RequestsPerSecond, c.AnswersPerMinute = -1, -1 }).steward(t)
	opening := smallBook(s.people(t, 60, "x").ID)
	opening["model"] = map[string]any{"column": "nowhere", "distribution": map[string]any{}}
	if b := s.do(t, 422, "POST", "/books", opening, nil); !strings.Contains(b.body, "/model/column") {
		t.Errorf("%s", b.body)
	}
	chain := map[string]any{
		"type": "chain", "init": []float64{0.5, 0.5}, "P": [][]float64{{0.9, 0.1}, {0.1, 0.9}}, "length": 61,
		"states": []string{"Nara", "Kobe"},
	}
	opening["model"] = map[string]any{"column": "city", "other": "Kobe", "distribution": chain}
	var job jobs.Job
	s.do(t, 202, "POST", "/books", opening, nil).decode(t, &job)
	if job := s.wait(t, job.ID); !strings.Contains(string(job.Problem), `"structure"`) {
		t.Fatalf("%+v", job)
	}
	chain["length"] = 60
	a := s.opened(t, opening)
	if m := a.book.Model; m == nil || m.Column != "city" || strings.Join(m.States, " ") != "Nara Kobe" {
		t.Fatalf("%+v", m)
	}
	if b := a.book; b.Neighbours != "replace-one" || b.AtMost != 60 || len(b.Statement) != 3 || b.Statement[2].Code != "book-model" {
		t.Errorf("%+v", b)
	}
	ask := func(key string) {
		t.Helper()
		var q questions.Quote
		a.do(t, 200, "POST", "/quotes", map[string]any{
			"book": a.book.ID, "questions": []any{map[string]any{"kind": "correlated", "query": map[string]any{"count": "Kobe"}}}, "pay": []any{
				map[string]string{"epsilon": "0.3"},
			},
		}, nil).decode(t, &q)
		var out questions.Answer
		a.pay(t, 200, &q, key).decode(t, &out)
		// What is charged covers what records tell of each other.
		if len(out.Questions) != 1 || len(out.Questions[0].Result.Rows) != 1 || out.Cost != q.Cost || q.Cost.Epsilon < "0.3" ||
			q.Cost.Epsilon > "0.31" {
			t.Errorf("%v, quoted %v: %+v", out.Cost, q.Cost, out.Questions[0].Result)
		}
	}
	ask("one")
	var dear questions.Quote
	a.do(t, 200, "POST", "/quotes", map[string]any{
		"book": a.book.ID, "questions": []any{map[string]any{"kind": "correlated", "query": map[string]any{"count": "Kobe"}}}, "margin": []any{
			map[string]any{"within": 1, "at": "0.95"},
		},
	}, nil).decode(t, &dear)
	if dear.Fits || len(dear.FitsWith) != 1 || dear.FitsWith[0].Change.Code != "change.margin" {
		t.Errorf("%v: %+v", dear.Cost, dear.FitsWith)
	}
	again := []map[string]any{{"name": "height", "bounds": []string{"90", "230"}}}
	s.finish(t, s.do(t, 202, "POST", "/books/"+a.book.ID+"/version", map[string]any{"columns": again, "confirm": true}, nil))
	s.do(t, 200, "GET", "/books/"+a.book.ID, nil, nil).decode(t, a.book)
	if a.book.Version != 2 || a.book.Model == nil {
		t.Errorf("%+v", a.book)
	}
	ask("two")
}

// A confirmed table has no cells that do not fit: its book needs no further word.
func TestBookOfConfirmedTable(t *testing.T) {
	t.Parallel()
	r := start(t, func(c *Config) { c.RequestsPerSecond = -1 })
	s := r.steward(t)
	table := s.people(t, 60, "x")
	opening := smallBook(table.ID)
	opening["confirm"] = false
	job := s.finish(t, s.do(t, 202, "POST", "/books", opening, nil))
	if !strings.Contains(string(job.Result), `"book":"bk_`) {
		t.Errorf("%s", job.Result)
	}
}

// The export is checked without the server, and is for roles on all objects.
func TestBookExport(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	s, a := opened(t, nil)
	a.pay(t, 200, a.quote(t, "0.1", "age >= 65"), "one")
	own := s.token(t, "Mori", auth.Steward, a.book.Table)
	if got := s.ask(t, "GET", "/api/v1/books/"+a.book.ID+"/export", own, nil, nil); got.status != 403 {
		t.Errorf("%d", got.status)
	}
	file := filepath.Join(t.TempDir(), "ledger.jsonl")
	text := []byte(s.do(t, 200, "GET", "/books/"+a.book.ID+"/export", nil, nil).body)
	// No path of the machine, absolute or within the folder.
	for _, place := range []string{s.cfg.Dir, filepath.Base(s.cfg.Dir), "books/", "tables/", ".csv", ".parquet"} {
		if bytes.Contains(text, []byte(place)) {
			t.Errorf("the export holds %q", place)
		}
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := (&service.Service{}).LedgerCheckExport(t.Context(), &api.LedgerCheckExportRequest{File: file, Keys: []string{s.keyID()}})
	if err != nil || !found.Sound || !found.Trusted || found.Answers != 1 {
		t.Errorf("%+v, %v", found, err)
	}
}

// The anchor is outside the folder; a folder that was put back from a copy is sealed by it.
func TestAnchor(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	cfg.Anchor = filepath.Join(cfg.Dir, "anchor")
	if _, err := New(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "anchor") {
		t.Errorf("got %v", err)
	}
	cfg.Dir = filepath.Join(t.TempDir(), "server")
	cfg.Anchor = filepath.Join(t.TempDir(), "anchor")
	cfg.RequestsPerSecond, cfg.AnswersPerMinute = -1, -1
	r := start(t, func(to *Config) { *to = cfg })
	s := r.steward(t)
	a := s.opened(t, smallBook(s.people(t, 60, "x").ID))
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(copied, os.DirFS(cfg.Dir)); err != nil {
		t.Fatal(err)
	}
	r = start(t, func(to *Config) { *to = cfg })
	(&asker{&steward{r, a.secret}, a.id, a.book}).pay(t, 200, (&asker{&steward{r, a.secret}, a.id, a.book}).quote(t, "0.1", "age >= 65"),
		"one")
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	// Ledger and head file are both of the copy: the anchor alone tells.
	if err := os.RemoveAll(cfg.Dir); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(cfg.Dir, os.DirFS(copied)); err != nil {
		t.Fatal(err)
	}
	private700(t, cfg.Dir)
	r = start(t, func(to *Config) { *to = cfg })
	if r.Sealed() == "" {
		t.Error("a restored folder is not sealed")
	}
}

// private700 gives a copied folder the modes of a server's.
func private700(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.Chmod(path, 0o700)
		}
		return os.Chmod(path, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Until a machine is calibrated answers leave after 2 s at the earliest; the calibration of
// a folder is used from the next start on.
func TestCalibration(t *testing.T) {
	randtest.SkipShort(t)
	cfg := config(t)
	s, err := New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	work := &api.AskQuote{}
	work.Work.AtMost, work.Work.Questions = 1000, []api.QuestionWork{{Kind: "count", Cells: 1}}
	class := func() time.Duration {
		t.Helper()
		return s.times(work).Class
	}
	if c := class(); c != 2*time.Second {
		t.Errorf("not calibrated: %s", c)
	}
	if err := s.calibrateDemo(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := class()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = New(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	if c := class(); c != before || s.calibration.Load().Records != demoRecords {
		t.Errorf("after a start: %s, %+v", c, s.calibration.Load())
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.path(calibrationFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(t.Context(), cfg); err == nil {
		t.Error("a calibration that cannot be read was used")
	}
}
