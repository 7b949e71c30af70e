package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/internal/server/auth"
	"github.com/noren-privacy/noren/internal/server/jobs"
	"github.com/noren-privacy/noren/internal/server/records"
)

// TestRecorded sends requests in both languages, most of which are refused, and compares the
// replies with testdata/recorded.txt: a change of a text is seen wherever it shows. Write the
// records anew with
//
//	go test ./internal/cli ./internal/server -run 'TestRecorded$' -update
func TestRecorded(t *testing.T) {
	randtest.SkipShort(t)
	s, a := opened(t, nil)
	table := s.people(t, 60, "of at least %d records")
	recipe := s.recipe(t, table.ID, func(p *records.Parameters) { p.K = 5 })
	p := s.preview(t, recipe.ID)
	rel := s.release(t, recipe.ID, p)
	quote := a.quote(t, "0.5", "height < 160", "height >= 160")
	paid := a.pay(t, 200, quote, "one")
	var answered struct{ ID string }
	paid.decode(t, &answered)
	reader := s.token(t, "Ito", auth.Auditor, auth.Everything)
	tag := match(etag(table.Version))

	r := &replies{steward: s}
	// What there is.
	for _, path := range []string{
		"/tables", "/tables/" + table.ID, "/tables/" + table.ID + "/rows", "/tables/" + table.ID + "/recipes", "/recipes/" + recipe.ID,
		"/recipes/" + recipe.ID + "/preview",
		"/releases", "/releases/" + rel.ID, "/releases/" + rel.ID + "/recipe", "/releases/" + rel.ID + "/certificate", "/releases/" + rel.ID +
			"/dossier",
		"/books", "/books/" + a.book.ID, "/books/" + a.book.ID + "/entries", "/books/" + a.book.ID + "/afford", "/books/" + a.book.ID + "/spend",
		"/books/" + a.book.ID + "/check", "/keys", "/sources", "/uploads", "/certificates",
	} {
		r.send(t, "GET", path, nil, nil)
	}
	r.send(t, "POST", "/tables/"+table.ID+"/hierarchies/age/proposal", map[string]any{}, tag)

	// What is refused.
	for _, path := range []string{
		"/nothing", "/tables/tb_aaaaaaaaaaaaaaaa", "/tables?limit=0", "/tables?after=x", "/tables/" + table.ID + "/rows?limit=100000",
		"/recipes/" + recipe.ID + "/curve",
		"/sources/roots/none", "/sources/databases/none", "/audit?after=x", "/jobs/jb_aaaaaaaaaaaaaaaa", "/books/bk_aaaaaaaaaaaaaaaa",
		"/tables/" + table.ID + "/hierarchies/none",
		"/books/" + a.book.ID + "/entries?state=none", "/releases?after=cannot%20be%20written",
	} {
		r.send(t, "GET", path, nil, nil)
	}
	for _, source := range []map[string]any{
		{"kind": "upload", "upload": "up_aaaaaaaaaaaaaaaa"},
		{"kind": "upload"},
		{"kind": "none"},
		{"kind": "root", "root": "none", "path": "Patient files (2026)/visits.csv"},
		{"kind": "database", "database": "none", "query": "SELECT 1"},
		{"kind": "upload", "other": 1},
	} {
		r.send(t, "POST", "/tables", map[string]any{"source": source}, nil)
	}
	r.send(t, "POST", "/tables", map[string]any{}, nil)
	for _, body := range []map[string]any{
		{"name": "../x.csv", "size": 10},
		{"name": "x.csv", "size": 0},
		{"name": "x.csv", "size": 1 << 60},
		{"name": "", "size": 1},
	} {
		r.send(t, "POST", "/uploads", body, nil)
	}
	for _, change := range []func(map[string]any){
		func(c map[string]any) { c["type"] = "none" },
		func(c map[string]any) { c["type"] = "date" },
		func(c map[string]any) { c["role"] = "analyst 7" },
		func(c map[string]any) { c["name"] = "cannot be written" },
		func(c map[string]any) { c["bounds"] = []string{"x", "3"} },
		func(c map[string]any) { c["bounds"] = []string{"5", "3"} },
		func(c map[string]any) { c["round"] = "-1" },
	} {
		var body map[string]any
		text, err := json.Marshal(stated(table))
		if err == nil {
			err = json.Unmarshal(text, &body)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range body["columns"].([]any) {
			if c := one.(map[string]any); c["name"] == "age" {
				change(c)
			}
		}
		r.send(t, "PUT", "/tables/"+table.ID+"/columns", body, tag)
	}
	r.send(t, "PUT", "/tables/"+table.ID+"/columns", stated(table), match(`"99"`))
	r.send(t, "PUT", "/tables/"+table.ID+"/columns", stated(table), nil)
	for _, change := range []func(*records.Parameters){
		func(p *records.Parameters) { p.K = 1 },
		func(p *records.Parameters) { p.K = 61 },
		func(p *records.Parameters) { p.K = -1 },
		func(p *records.Parameters) { p.Method = "none" },
		func(p *records.Parameters) { p.Scale = "none" },
	} {
		parameters := recipe.Parameters
		change(&parameters)
		r.send(t, "PUT", "/recipes/"+recipe.ID, map[string]any{"parameters": parameters}, match(`"9"`))
		r.send(t, "POST", "/tables/"+table.ID+"/recipes", map[string]any{"parameters": parameters}, nil)
	}
	r.send(t, "POST", "/releases", map[string]any{"recipe": recipe.ID, "preview_sha256": "x"}, withKey("x"))
	r.send(t, "POST", "/releases", map[string]any{"recipe": recipe.ID, "preview_sha256": p.Leaving.SHA256}, nil)
	r.send(t, "POST", "/releases/"+rel.ID+"/compare", map[string]any{"with": "rl_aaaaaaaaaaaaaaaa"}, nil)

	for _, change := range []func(map[string]any){
		func(b map[string]any) { b["epsilon"] = "-1" },
		func(b map[string]any) { b["epsilon"] = "1e400" },
		func(b map[string]any) { b["accounting"] = "none" },
		func(b map[string]any) { b["confirm"] = false },
		func(b map[string]any) { b["unit"] = "cannot be written" },
		func(b map[string]any) {
			b["columns"] = []map[string]any{{"name": "none", "bounds": []string{"1", "2"}}}
		},
		func(b map[string]any) {
			b["columns"] = []map[string]any{{"name": "height", "bounds": []string{"2", "1"}}}
		},
	} {
		body := smallBook(table.ID)
		change(body)
		r.send(t, "POST", "/books", body, nil)
	}
	for _, account := range []map[string]any{{"epsilon": "100"}, {"epsilon": "-1"}, {}} {
		r.send(t, "PUT", "/books/"+a.book.ID+"/accounts/"+a.id, account, nil)
	}
	r.send(t, "POST", "/books/"+a.book.ID+"/cap", map[string]any{"epsilon": "0.001"}, nil)

	// An analyst.
	r.steward = a.steward
	for _, q := range []struct {
		question map[string]any
		epsilon  string
	}{
		{map[string]any{"kind": "count", "where": `city == "Nara"`}, "0.1"},
		{map[string]any{"kind": "mean", "column": "height"}, "0.1"},
		{map[string]any{"kind": "histogram", "column": "city"}, "0.1"},
		{map[string]any{"kind": "quantile", "column": "height", "q": []string{"0.5"}}, "0.1"},
		{map[string]any{"kind": "count", "where": "city ="}, "0.1"},
		{map[string]any{"kind": "count", "where": "none = 1"}, "0.1"},
		{map[string]any{"kind": "count", "where": "height >= cannot be written"}, "0.1"},
		{map[string]any{"kind": "none"}, "0.1"},
		{map[string]any{"kind": "mean", "column": "city"}, "0.1"},
		{map[string]any{"kind": "sum", "column": "of at least %d records"}, "0.1"},
		{map[string]any{"kind": "count"}, "0"},
		{map[string]any{"kind": "count"}, "1e400"},
		{map[string]any{"kind": "count"}, "100"},
	} {
		r.send(t, "POST", "/quotes", map[string]any{
			"book": a.book.ID, "questions": []any{q.question},
			"pay": []any{map[string]any{"epsilon": q.epsilon}},
		}, nil)
	}
	r.send(t, "POST", "/quotes", map[string]any{"book": "bk_aaaaaaaaaaaaaaaa", "questions": []any{}, "pay": []any{}}, nil)
	r.send(t, "POST", "/answers", map[string]any{"quote": "x"}, withKey("y"))
	r.send(t, "POST", "/answers", map[string]any{"quote": quote.Token, "most": quote.Cost}, nil)
	r.send(t, "POST", "/answers", map[string]any{"quote": quote.Token, "most": map[string]string{"epsilon": "0.1"}}, withKey("z"))
	r.send(t, "GET", "/answers/an_aaaaaaaaaaaaaaaa", nil, nil)
	r.send(t, "GET", "/tables", nil, nil)
	r.send(t, "POST", "/books", smallBook(table.ID), nil)

	// An auditor, no sign-in, and a token that does not exist.
	for _, secret := range []string{reader, "", "none"} {
		r.steward = &steward{s.running, secret}
		r.send(t, "GET", "/tables", nil, nil)
		r.send(t, "POST", "/tokens", map[string]any{"name": "x", "days": 0}, nil)
		r.send(t, "POST", "/certificates/check", map[string]any{"certificate": map[string]any{}, "sha256": "x"}, nil)
	}
	golden(t, "testdata/recorded.txt", r.out.String())
}

// replies are the replies to requests of one principal after another.
type replies struct {
	*steward
	out strings.Builder
}

// send sends a request in both languages.
func (r *replies) send(t *testing.T, method, path string, body any, change func(*http.Request)) {
	t.Helper()
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			t.Fatal(err)
		}
	}
	fmt.Fprintf(&r.out, "> %s\n", marked(strings.TrimSpace(method+" "+path+" "+string(text))))
	english := ""
	for _, accepted := range []string{"en", "ja"} {
		reply := r.ask(t, method, "/api/v1"+path, r.secret, body, func(q *http.Request) {
			q.Header.Set("Accept-Language", accepted)
			if change != nil {
				change(q)
			}
		})
		if reply.status == http.StatusAccepted { // what comes of it is recorded; its state now follows from the clock
			var job jobs.Job
			reply.decode(t, &job)
			r.wait(t, job.ID)
			reply = r.ask(t, "GET", "/api/v1/jobs/"+job.ID, r.secret, nil, speaking(accepted))
		}
		shown := fmt.Sprintf("%d %s\n", reply.status, marked(shortened(t, reply.body)))
		if accepted == "en" {
			english = shown
			r.out.WriteString(shown)
		} else if shown != english {
			r.out.WriteString("ja " + shown)
		}
	}
	r.out.WriteString("\n")
}

// few is how many elements of a list are recorded.
const few = 12

// shortened is a body of JSON with a line for each member and without long lists, or the text
// of a page.
func shortened(t *testing.T, body string) string {
	t.Helper()
	var v any
	if json.Unmarshal([]byte(body), &v) != nil {
		text := unseen.ReplaceAllString(body, "")
		text = strings.TrimSpace(blankLines.ReplaceAllString(tag.ReplaceAllString(text, "\n"), "\n"))
		text = digits.ReplaceAllString(marked(text), "<n>") // its random questions differ each time
		lines := strings.Split(text, "\n")
		slices.Sort(lines) // so do the errors by which its lists are sorted
		return strings.Join(slices.Compact(lines), "\n")
	}
	var short func(any) any
	short = func(v any) any {
		switch v := v.(type) {
		case []any:
			all := make([]any, 0, few+1)
			for i, one := range v {
				if _, is := one.(float64); is || i == few {
					all = append(all, fmt.Sprintf("... %d in all", len(v)))
					break
				}
				all = append(all, short(one))
			}
			return all
		case map[string]any:
			for key, one := range v {
				if _, is := one.(bool); is || one == nil { // no text
					delete(v, key)
					continue
				}
				v[key] = short(one)
			}
		}
		return v
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(short(v)); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(b.String())
}

var (
	unseen     = regexp.MustCompile(`(?s)<style.*?</style>|<script.*?</script>`)
	tag        = regexp.MustCompile(`<[^>]*>`)
	digits     = regexp.MustCompile(`\d+([.,]\d+)*`)
	blankLines = regexp.MustCompile(`\s*\n\s*`)
)

// marks replace what differs between two runs: ids, times, keys, digests, tokens, random
// values, what is measured.
var marks = []struct {
	of   *regexp.Regexp
	mark string
}{
	{regexp.MustCompile(`\b([a-z]{2})_[a-z2-7]{16}\b`), "${1}_<id>"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`), "<time>"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?( UTC)?`), "<time>"},
	{regexp.MustCompile(`\b[0-9a-f]{16,}\b`), "<hex>"},
	{regexp.MustCompile(`[A-Za-z0-9+/_.-]{43,}={0,2}`), "<base64>"},
	{regexp.MustCompile(`([0-9a-f]{4} ){3,}[0-9a-f]{4}`), "<fingerprint>"},
	{regexp.MustCompile(`--seed \d+`), "--seed <seed>"},
	{regexp.MustCompile(`"(seed|took|seconds|milliseconds|bytes|value|token|at|peak_bytes)": ("[^"]*"|[0-9.e+-]+)`), `"$1": "<$1>"`},
}

func marked(text string) string {
	for _, m := range marks {
		text = m.of.ReplaceAllString(text, m.mark)
	}
	return text
}
