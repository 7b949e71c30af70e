package server

import (
	"net/http"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/internal/server/auth"
	"github.com/noren-privacy/noren/internal/server/problem"
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
		{"of a body", "POST", "/api/v1/tables", steward, map[string]any{"source": map[string]string{"kind": "upload"}, "other": 1}, "invalid", []string{"知られていない項目です"}},
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
	if got := string(problem.Said(stored, lang.English)); got != string(stored) {
		t.Error(got)
	}
	if got := string(problem.Said(stored, lang.Japanese)); !strings.Contains(got, "ディスクに空きがありません。") || !strings.Contains(got, `"code":"unavailable"`) {
		t.Error(got)
	}
	if got := problem.Said(nil, lang.Japanese); got != nil {
		t.Errorf("%s", got)
	}
}
