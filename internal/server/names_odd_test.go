package server

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/internal/names/namestest"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/internal/server/auth"
	"github.com/noren-privacy/noren/internal/server/books"
	"github.com/noren-privacy/noren/internal/server/jobs"
	"github.com/noren-privacy/noren/internal/server/questions"
	"github.com/noren-privacy/noren/internal/server/records"
	"github.com/noren-privacy/noren/internal/server/tables"
)

// namedSlots are the places of names in the session of TestOddNames.
var namedSlots = []string{"absent", "age", "analyst", "height", "id", "kyoto", "nara", "osaka", "other", "renamed", "sex", "token", "top"}

// Names come out of every reply as they went in, in both languages: the replies to odd names are those to plain
// ones, apart from the names, times and noise.
func TestOddNames(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	same := func(name string, odd, plain, back *strings.Replacer) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, got := namedSession(t, plain), namedSession(t, odd)
			if len(want) != len(got) {
				t.Fatalf("%d replies, want %d", len(got), len(want))
			}
			for i, w := range want {
				if strings.Contains(w.said, "%!") || namestest.Unfilled(w.said) {
					t.Errorf("%s: %s", w.asked, w.said)
				}
				if a, b := unmeasured(back.Replace(w.said)), unmeasured(got[i].said); a != b {
					t.Errorf("%s %s:\n%s", w.lang, w.asked, namestest.Parted(a, b))
				}
			}
		})
	}
	for turn := 0; turn < len(namestest.Odd); turn += len(namedSlots) {
		odd, plain, back := namestest.Of(namedSlots, turn)
		same(namestest.Odd[turn], odd, plain, back)
	}
	odd, plain, back := namestest.Formats(namedSlots)
	same("formats", odd, plain, back)
}

var numbers = regexp.MustCompile(`[-−]?\d[\d.,]*(<hex>|e[-+]?\d+)?%?`)

// unmeasured is what a reply says, without numbers: its lines, each once and sorted, as the order of some follows from
// names and from random questions.
func unmeasured(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.Trim(namestest.Bare(numbers.ReplaceAllString(line, "N")), " ,")
	}
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "\n")
}

// said is a reply to a request.
type said struct{ asked, lang, said string }

// namedSession is the way from an upload to a release and to a paid answer, with faults, under names.
func namedSession(t *testing.T, names *strings.Replacer) (all []said) {
	t.Helper()
	n := func(slot string) string { return names.Replace("«" + slot + "»") }
	s := start(t, func(c *Config) { c.RequestsPerSecond, c.AnswersPerMinute = -1, -1 }).steward(t)
	secret := s.secret
	send := func(method, path string, body any, change func(*http.Request)) {
		t.Helper()
		for _, l := range []string{"en", "ja"} {
			reply := s.ask(t, method, "/api/v1"+path, secret, body, func(q *http.Request) {
				q.Header.Set("Accept-Language", l)
				if change != nil {
					change(q)
				}
			})
			if reply.status == http.StatusAccepted {
				var job jobs.Job
				reply.decode(t, &job)
				s.wait(t, job.ID)
				reply = s.ask(t, "GET", "/api/v1/jobs/"+job.ID, s.secret, nil, speaking(l))
			}
			body := html.UnescapeString(tag.ReplaceAllString(unseen.ReplaceAllString(reply.body, ""), "\n"))
			if json.Valid([]byte(reply.body)) {
				body = shortened(t, reply.body)
			}
			all = append(all, said{method + " " + marked(path), l, fmt.Sprint(reply.status, " ", marked(body))})
		}
	}
	get := func(paths ...string) {
		t.Helper()
		for _, path := range paths {
			send("GET", path, nil, nil)
		}
	}
	var text strings.Builder
	text.WriteString(names.Replace("«id»,«age»,«height»,«sex»,«other»\n"))
	for i := range 60 {
		sex, other := n([]string{"nara", "kyoto", "osaka"}[i%3]), n([]string{"nara", "top"}[i%2])
		fmt.Fprintf(&text, "p%03d,%d,%d,%s,%s\n", i, 20+i*7%40, 150+i*11%40, sex, other)
	}
	file := "none.csv" // the name of a released file has other signs where a shell would read them
	table := s.add(t, tables.Source{Kind: "upload", Upload: s.upload(t, file, []byte(text.String()))})
	get("/uploads", "/tables", "/tables/"+table.ID, "/tables/"+table.ID+"/rows")
	roles := map[string]string{
		n("id"): "identifier", n("age"): "quasi-identifier", n("sex"): "quasi-identifier", n("height"): "other", n("other"): "sensitive",
	}
	state := func(change func(c *tables.StatedColumn)) *tables.Stated {
		b := stated(table)
		b.Unit = ""
		for i := range b.Columns {
			c := &b.Columns[i]
			c.Role = roles[c.Name]
			if change != nil {
				change(c)
			}
		}
		return b
	}
	read := match(etag(table.Version))
	for _, change := range []func(c *tables.StatedColumn){
		func(c *tables.StatedColumn) { c.Name = strings.ReplaceAll(c.Name, n("age"), n("absent")) },
		func(c *tables.StatedColumn) { c.Type = n("absent") },
		func(c *tables.StatedColumn) { c.Role = n("absent") },
		func(c *tables.StatedColumn) { c.Type = "integer" },
	} {
		send("PUT", "/tables/"+table.ID+"/columns", state(change), read)
	}
	table = s.table(t, table.ID)
	s.do(t, 200, "PUT", "/tables/"+table.ID+"/columns", state(nil), match(etag(table.Version)))
	table = s.table(t, table.ID)
	send("PATCH", "/tables/"+table.ID, map[string]any{"name": n("renamed")}, match(etag(table.Version)))
	table = s.table(t, table.ID)
	get("/tables/"+table.ID, "/tables/"+table.ID+"/hierarchies/none")
	for _, spec := range []string{
		"version: 1\ncolumns:\n  \"«age»\": {bounds: [0, 99]}\n  \"«absent»\": {bounds: [0, 1]}\n",
		"version: 1\n\"«absent»\": 1\n",
	} {
		send("POST", "/tables/"+table.ID+"/facts", map[string]any{"text": names.Replace(spec)}, nil)
	}
	recipe := s.recipe(t, table.ID, func(p *records.Parameters) { p.K = 5 })
	send("POST", "/recipes/"+recipe.ID+"/preview", nil, nil)
	p := s.preview(t, recipe.ID)
	get("/recipes/"+recipe.ID, "/recipes/"+recipe.ID+"/preview", "/recipes/"+recipe.ID+"/file")
	for _, change := range []func(p *records.Parameters){
		func(p *records.Parameters) { p.Method = n("absent") },
		func(p *records.Parameters) { p.K = 61 },
		func(p *records.Parameters) { p.L = 9 },
	} {
		parameters := recipe.Parameters
		change(&parameters)
		send("POST", "/recipes/"+recipe.ID+"/trial", map[string]any{"parameters": parameters}, nil)
	}
	send("POST", "/recipes/"+recipe.ID+"/curve", map[string]any{"k": []int{3, 5}}, nil)
	rel := s.release(t, recipe.ID, p)
	released := "/releases/" + rel.ID
	get("/releases", released, released+"/recipe", released+"/certificate", released+"/dossier", "/certificates")
	send("POST", released+"/compare", map[string]any{"with": rel.ID}, nil)

	opening := map[string]any{
		"table": table.ID, "name": "visits", "accounting": "epsilon", "epsilon": "20", "confirm": true,
		"columns": []map[string]any{
			{"name": n("sex"), "keys": []string{n("nara"), n("kyoto")}}, {"name": n("height"), "bounds": []string{"100", "220"}},
		},
	}
	for _, columns := range []map[string]any{
		{"name": n("absent"), "bounds": []string{"1", "2"}},
		{"name": n("height"), "bounds": []string{n("absent"), "2"}},
		{"name": n("sex"), "bounds": []string{"1", "2"}},
		{"name": n("age"), "keys": []string{n("nara")}},
	} {
		opening["columns"] = append(opening["columns"].([]map[string]any), columns)
		send("POST", "/books", opening, nil)
		opening["columns"] = opening["columns"].([]map[string]any)[:2]
	}
	var opened books.Opened
	if err := json.Unmarshal(s.finish(t, s.do(t, 202, "POST", "/books", opening, nil)).Result, &opened); err != nil {
		t.Fatal(err)
	}
	secret = s.token(t, n("analyst"), auth.Analyst, table.ID)
	account := "/books/" + opened.Book + "/accounts/" + s.principal(t, n("analyst"))
	s.do(t, 200, "PUT", account, map[string]any{"epsilon": "9"}, nil)
	ask := func(q ...map[string]any) map[string]any {
		pay := make([]any, len(q))
		for i := range pay {
			pay[i] = map[string]any{"epsilon": "0.5"}
		}
		return map[string]any{"book": opened.Book, "questions": q, "pay": pay}
	}
	questioned := []map[string]any{
		{"kind": "count", "where": names.Replace("`«age»` >= 30 and `«sex»` = '«nara»'")},
		{"kind": "mean", "column": n("height")},
		{"kind": "histogram", "column": n("sex")},
		{"kind": "quantile", "column": n("height")},
		{"kind": "count", "by": []string{n("sex")}},
	}
	for _, q := range append(questioned, []map[string]any{
		{"kind": "count", "where": names.Replace("`«absent»` = 1")},
		{"kind": "count", "where": names.Replace("`«age»` = '«nara»'")},
		{"kind": "count", "where": names.Replace("`«sex»` >= ")},
		{"kind": "mean", "column": n("sex")},
		{"kind": "mean", "column": n("age")},
		{"kind": "sum", "column": n("absent")},
		{"kind": n("absent")},
		{"kind": "histogram", "column": n("other")},
	}...) {
		send("POST", "/quotes", ask(q), nil)
	}
	a := &asker{steward: &steward{s.running, secret}}
	for i, q := range questioned {
		var quote questions.Quote
		a.do(t, 200, "POST", "/quotes", ask(q), nil).decode(t, &quote)
		var paid struct{ ID string }
		a.pay(t, 200, &quote, fmt.Sprint("paid", i)).decode(t, &paid)
		get("/answers/"+paid.ID, "/answers/"+paid.ID+"/certificate", "/answers/"+paid.ID+"/file")
		if i == 0 {
			send("POST", "/rehearsals", map[string]any{"quote": quote.Token}, nil)
		}
	}
	send("POST", "/tokens", map[string]any{"name": n("token"), "days": 1}, nil)
	get("/answers", "/tables", "/tables/"+table.ID, "/books", "/tokens")
	secret = s.secret
	book := "/books/" + opened.Book
	get("/books", book, book+"/entries", book+"/afford", book+"/spend")
	get("/principals", "/audit?limit=500", "/audit/export", "/jobs", "/sources")
	var listed page[jobs.Job]
	s.do(t, 200, "GET", "/jobs?limit=500", nil, nil).decode(t, &listed)
	for i := range listed.Items {
		get("/jobs/"+listed.Items[i].ID, "/jobs/"+listed.Items[i].ID+"/events")
	}
	send("DELETE", account, nil, nil)
	return all
}
