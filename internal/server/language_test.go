package server

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/server/auth"
	"github.com/noren-privacy/noren/internal/server/jobs"
	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/internal/server/questions"
	"github.com/noren-privacy/noren/internal/server/store"
	"github.com/noren-privacy/noren/internal/server/tables"
	"github.com/noren-privacy/noren/lang"
)

// speaking sends the languages that a client prefers.
func speaking(accepted string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Accept-Language", accepted) }
}

// A refused request gets the reason in the language that it prefers; code and places are the
// same in every language.
func TestProblemsInJapanese(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	steward := r.token(t, "steward", auth.Steward, auth.Everything)
	for _, c := range []struct {
		name, method, path, token string
		body                      any
		code                      string
		want                      []string
	}{
		{"by the guard", "GET", "/api/v1/tables", "", nil, "unauthenticated", []string{"有効なセッションかトークンが必要です。", "サインインのリンクを開くか"}},
		{"by a route", "GET", "/api/v1/tables/tb_aaaaaaaaaaaaaaaa", steward, nil, "not-found", []string{"対象が存在しないか"}},
		{"of its form", "GET", "/api/v1/tables?limit=0", steward, nil, "invalid", []string{"1 以上の数が必要です", `"pointer":"limit"`}},
		{"of a page", "GET", "/api/v1/tables?after=x", steward, nil, "invalid", []string{"前のページの next の値が必要です"}},
		{
			"of a body", "POST", "/api/v1/tables", steward,
			map[string]any{"source": map[string]string{"kind": "upload"}, "other": 1},
			"invalid",
			[]string{"知られていない項目です"},
		},
		{"outside of the interface", "GET", "/api/v1/nothing", steward, nil, "not-found", []string{"対象が存在しないか"}},
	} {
		english := r.ask(t, c.method, c.path, c.token, c.body, speaking("en, ja;q=0.9"))
		japanese := r.ask(t, c.method, c.path, c.token, c.body, speaking("ja, en;q=0.9"))
		if english.code() != c.code || japanese.code() != c.code || english.status != japanese.status {
			t.Fatalf("%s: %d %s and %d %s", c.name, english.status, english.body, japanese.status, japanese.body)
		}
		for _, text := range c.want {
			if !strings.Contains(japanese.body, text) {
				t.Errorf("%s: expected %s in %s", c.name, text, japanese.body)
			}
		}
		for _, a := range []struct {
			*answer
			lang string
		}{{english, "en"}, {japanese, "ja"}} {
			if a.header.Get("Content-Language") != a.lang || a.header.Get("Vary") != "Accept-Language" {
				t.Errorf("%s: %v", c.name, a.header)
			}
		}
		if strings.ContainsFunc(english.body, func(r rune) bool { return r >= 0x3000 }) {
			t.Errorf("%s: in Japanese: %s", c.name, english.body)
		}
		var p problem.Problem
		japanese.decode(t, &p)
		if p.Title == "" || strings.Contains(p.Title+p.Detail+p.Hint, " the ") {
			t.Errorf("%s: %+v", c.name, p)
		}
	}
}

// The problem of a job is stored in English and read in the language of a request.
func TestStoredProblems(t *testing.T) {
	stored := []byte(`{"title":"The server cannot do this now.","detail":"The disk is full.","code":"unavailable","status":503}`)
	if got := string(problem.Said(stored, nil, lang.English)); got != string(stored) {
		t.Error(got)
	}
	if got := string(problem.Said(stored, nil, lang.Japanese)); !strings.Contains(got, "ディスクに空きがありません。") ||
		!strings.Contains(got, `"code":"unavailable"`) {
		t.Error(got)
	}
	if got := problem.Said(nil, nil, lang.Japanese); got != nil {
		t.Errorf("%s", got)
	}
}

// The store of an earlier program has problems of jobs and tables as finished English sentences. They are read in both
// languages: one that is known in Japanese, and another in English and marked so, whatever names it holds.
func TestProblemsOfAnEarlierStore(t *testing.T) {
	t.Parallel()
	const known = `{"title":"The server cannot do this now.","detail":"The disk is full.","code":"unavailable","status":503}`
	const named = `{"title":"The server cannot do this now.","detail":"column none: of at least %d records","code":"unavailable","status":503}`
	r := start(t, nil)
	secret := r.token(t, "steward", auth.Steward, auth.Everything)
	const table, other, job = "tb_aaaaaaaaaaaaaaaa", "tb_bbbbbbbbbbbbbbbb", "jb_aaaaaaaaaaaaaaaa"
	rows := []store.Resource{
		{ID: table, Kind: store.KindTable, Doc: []byte(`{"name":"visits","state":"failed","source":{"kind":"upload"},"failure":` + known + `}`)},
		{ID: other, Kind: store.KindTable, Doc: []byte(`{"name":"none","state":"failed","source":{"kind":"upload"},"failure":` + named + `}`)},
		{
			ID: job, Kind: store.KindJob, Parent: table,
			Doc: []byte(`{"kind":"read","state":"failed","created":"2026-01-02T03:04:05Z","by":"x","problem":` + known + `}`),
		},
	}
	if err := r.store.Write(t.Context(), func(ctx context.Context, tx *store.Tx) error {
		for i := range rows {
			if err := tx.AddResource(ctx, &rows[i]); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	dir := r.cfg.Dir
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	r = start(t, func(c *Config) { c.Dir = dir })
	for path, want := range map[string][2]string{
		"/api/v1/tables/" + table: {"The disk is full.", "ディスクに空きがありません。"},
		"/api/v1/tables/" + other: {"column none: of at least %d records", "column none: of at least %d records（原文）"},
		"/api/v1/jobs/" + job:     {"The disk is full.", "ディスクに空きがありません。"},
	} {
		for i, language := range []string{"en", "ja"} {
			if a := r.ask(t, "GET", path, secret, nil, speaking(language)); a.status != 200 || !strings.Contains(a.body, want[i]+`"`) {
				t.Errorf("%s in %s: %d %s", path, language, a.status, a.body)
			}
		}
	}
}

// The texts of a problem are stored with their arguments, so that a name within them stays as it is.
func TestStoredTextsOfProblems(t *testing.T) {
	p := problem.From(noren.Usagef("x", "there is no column %q", "none").Hinted("the columns are %s", "cannot be opened").
		Coded("column-missing"))
	p.Errors = []problem.Fault{
		problem.At("/x", noren.Textf("expected at most %d bytes", 7)),
		problem.From(noren.Usagef(noren.Textf("column %s", "none"), "there is no column %q", "none")).AsFault(),
	}
	stored, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var got problem.Problem
	if err := json.Unmarshal(problem.Said(stored, p.Texts(), lang.Japanese), &got); err != nil {
		t.Fatal(err)
	}
	if want := p.In(lang.Japanese); got.Detail != want.Detail || got.Hint != want.Hint || got.Errors[0].Detail != want.Errors[0].Detail ||
		got.Detail == p.Detail {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if !strings.Contains(got.Detail, `"none"`) || !strings.Contains(got.Hint, "cannot be opened") {
		t.Errorf("a name is said as a text: %q, %q", got.Detail, got.Hint)
	}
	if got.Where != "x" || got.Errors[0].Pointer != "/x" || got.Errors[1].Pointer != "列 none" {
		t.Errorf("places are %q, %q and %q", got.Where, got.Errors[0].Pointer, got.Errors[1].Pointer)
	}
}

// The events of a job, its stage and the place of its problem are in the language of the reader. A link says the language, as
// a browser that follows events sends the one of its own.
func TestEventsInJapanese(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *Config) { c.RequestsPerSecond = -1 }).steward(t)
	table := s.do(t, 202, "POST", "/tables", map[string]any{
		"source": tables.Source{Kind: "upload", Upload: s.upload(t, "none.csv", []byte("none,b\n1,2\n1,2,3\n"))},
	}, nil)
	var made struct{ Table, Job struct{ ID string } }
	table.decode(t, &made)
	s.wait(t, made.Job.ID)
	for query, want := range map[string][]string{
		"":         {"en", `"where":"none.csv: line 3`, `"detail":"`},
		"?lang=ja": {"ja", `"where":"none.csv: 3 行目`, `"detail":"`},
		"?lang=en": {"en", `"where":"none.csv: line 3`, `"detail":"`},
	} {
		a := s.ask(t, "GET", "/api/v1/jobs/"+made.Job.ID+"/events"+query, s.secret, nil, nil)
		for _, text := range want[1:] {
			if !strings.Contains(a.body, text) {
				t.Errorf("%q: expected %s in %s", query, text, a.body)
			}
		}
		if got := a.header.Get("Content-Language"); got != want[0] {
			t.Errorf("%q: the language is %q", query, got)
		}
	}
	for _, path := range []string{"/jobs/" + made.Job.ID, "/tables/" + made.Table.ID} {
		if a := s.ask(t, "GET", "/api/v1"+path, s.secret, nil, speaking("ja")); !strings.Contains(a.body, `"where":"none.csv: 3 行目`) {
			t.Errorf("%s: %s", path, a.body)
		}
	}
	progress := eventIn(lang.Japanese)("progress", []byte(`{"stage":"reading","done":1,"total":2}`), &jobs.Job{})
	if !strings.Contains(string(progress), lang.Japanese.Stage("reading")) || strings.Contains(string(progress), "reading") {
		t.Errorf("%s", progress)
	}
}

// An answer is stored once and read in the language of each request: the same bytes for one
// language, one charge, and the length that follows from public parameters in each.
func TestAnswerInEveryLanguage(t *testing.T) {
	t.Parallel()
	_, a := opened(t, nil)
	q := a.quote(t, "0.01", "age >= 65")
	english := a.pay(t, 200, q, "same")
	body := map[string]any{"quote": q.Token, "most": q.Cost}
	in := func(code, key string) func(*http.Request) {
		return func(r *http.Request) {
			speaking(code)(r)
			if key != "" {
				idempotency(key)(r)
			}
		}
	}
	japanese := a.ask(t, "POST", "/api/v1/answers", a.secret, body, in("ja", "same"))
	again := a.ask(t, "POST", "/api/v1/answers", a.secret, body, in("ja", "same"))
	if japanese.status != 200 || again.body != japanese.body || len(japanese.body) != len(english.body) {
		t.Fatalf("%d %d, %d and %d bytes: %s", japanese.status, again.status, len(japanese.body), len(english.body), japanese.body)
	}
	if repeated := a.pay(t, 200, q, "same"); repeated.body != english.body {
		t.Error("the English reply has other bytes after the Japanese one")
	}
	var one, other questions.Answer
	english.decode(t, &one)
	japanese.decode(t, &other)
	if got := other.Questions[0].Asked[0].Text; got != "レコードの件数、条件 age >= 65" ||
		one.Questions[0].Asked[0].Text != "Number of records, where age >= 65" {
		t.Errorf("asked: %s and %s", got, one.Questions[0].Asked[0].Text)
	}
	if one.Payload != other.Payload || string(one.Certificate) != string(other.Certificate) || one.ID != other.ID {
		t.Error("what is signed differs by language")
	}
	for _, at := range []struct {
		*answer
		lang string
	}{
		{english, "en"},
		{japanese, "ja"},
		{a.ask(t, "GET", "/api/v1/answers/"+one.ID, a.secret, nil, in("ja", "")), "ja"},
		{a.ask(t, "GET", "/api/v1/answers/"+one.ID, a.secret, nil, nil), "en"},
		{a.ask(t, "GET", "/api/v1/answers", a.secret, nil, in("ja", "")), "ja"},
		{a.ask(t, "GET", "/api/v1/books/"+a.book.ID, a.secret, nil, in("ja", "")), "ja"},
	} {
		if at.header.Get("Content-Language") != at.lang || at.header.Get("Vary") != "Accept-Language" {
			t.Errorf("%v", at.header)
		}
		if isJapanese := strings.ContainsFunc(at.body, func(r rune) bool { return r >= 0x3040 && r < 0x3100 }); isJapanese != (at.lang == "ja") {
			t.Errorf("%s: %s", at.lang, at.body)
		}
	}
	if spent := a.shown(t).Spent.Epsilon; spent != "0.01" {
		t.Errorf("spent %s", spent)
	}
}

// A column keeps its name in the messages of both languages, whatever it is called, and a refusal says
// the reason of its gate in the language of the request.
func TestNamesInReplies(t *testing.T) {
	t.Parallel()
	s := start(t, nil).steward(t)
	names := []string{"none", "cannot be written", "of at least %d records", "analyst 7"}
	var text strings.Builder
	text.WriteString("age," + strings.Join(names, ",") + "\n")
	for i := range 60 {
		text.WriteString(strconv.Itoa(20+i%6) + ",x,word " + strconv.Itoa(i) + ",-5," + strconv.Itoa(i%3) + "\n")
	}
	table := s.add(t, tables.Source{Kind: "upload", Upload: s.upload(t, "notes.csv", []byte(text.String()))})
	table = s.confirm(t, table, func(c *tables.Stated) {
		for i := range c.Columns {
			c.Columns[i].Role = map[bool]string{true: "quasi-identifier", false: "other"}[c.Columns[i].Name == "age"]
		}
	})
	recipe := s.recipe(t, table.ID, nil)
	shut := s.ask(t, "POST", "/api/v1/releases", s.secret, map[string]any{
		"recipe": recipe.ID, "preview_sha256": strings.Repeat("0", 64),
		"previous_studied": []string{},
	}, func(r *http.Request) {
		speaking("ja")(r)
		idempotency("one")(r)
	})
	if !strings.Contains(shut.body, "プレビューがありません。") {
		t.Errorf("%d %s", shut.status, shut.body)
	}
	s.preview(t, recipe.ID)
	english := s.ask(t, "GET", "/api/v1/recipes/"+recipe.ID+"/preview", s.secret, nil, nil)
	japanese := s.ask(t, "GET", "/api/v1/recipes/"+recipe.ID+"/preview", s.secret, nil, speaking("ja"))
	for _, name := range names {
		if n, want := strings.Count(japanese.body, name), strings.Count(english.body, name); n < want {
			t.Errorf("%q: %d of %d times in %s", name, n, want, japanese.body)
		}
	}
	if strings.Contains(japanese.body, `"text":"The `) {
		t.Errorf("in English: %s", japanese.body)
	}
}
