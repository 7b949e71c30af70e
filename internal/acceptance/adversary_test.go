package acceptance

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/internal/randtest"
)

// A pairOfTables is two neighbouring tables that an adversary chooses: they differ in one record,
// in what a reading that is no total function would fail on.
type pairOfTables struct {
	name        string
	left, right string
	set         setting
	missing     []string // texts that the steward states as missing, or the table is refused
}

// canary is a cell that no question names: a reply or a log that holds it has it from the
// table.
const canary = "kanarienvogel"

// pairsOfTables are neighbours of both relations and units.
func pairsOfTables() []pairOfTables {
	plain := "p999998,35,A,15\n"
	all := visits(60, 9)
	replace, person := setting{"neighbours": "replace-one"}, setting{"unit": "person", "max_rows": 2}
	return []pairOfTables{
		{"a cell that is no integer", all, all + "p999999,unknown,A,15\n", nil, []string{"unknown"}},
		{"delimiter, quotes and a line end in a cell", all + plain, all + "p999999,35,\"A|B;\"\"C\"\",\nd\",15\n", replace, nil},
		{
			"a ward that is not public, overflow, letters", all + plain, all + "p999999,9223372036854775808," + canary + ",1e400\n", replace,
			[]string{"9223372036854775808", "1e400"},
		},
		{"a very long cell", all, all + "p999999,35," + strings.Repeat("x", 1<<17) + ",1\n", nil, nil},
		{"a person of many records", all, all + strings.Repeat("p999999,99,D,9999\n", 40), person, nil},
		{
			"cells beyond the bounds", all + plain, all + "p999999,-7,D,123456789\n",
			setting{"neighbours": "replace-one", "unit": "person", "max_rows": 3},
			nil,
		},
	}
}

// An adversary chooses requests by what it saw before.
type adversary struct {
	rng  *rand.Rand
	edge float64  // of a search for the age of the unknown record
	half []string // of a search among levels
}

func (a *adversary) chance(n int) bool { return a.rng.IntN(n) == 0 }

func (a *adversary) pick(from ...string) string { return from[a.rng.IntN(len(from))] }

// next is the next question, and what it costs, given what the last one gave.
func (a *adversary) next(accepted bool) (question, string) {
	// Searches: whether a request is accepted must not depend on the record searched for.
	if accepted {
		a.edge /= 2
	} else {
		a.edge += 7.5
	}
	if len(a.half) < 2 {
		a.half = nil
		for i := range 64 {
			a.half = append(a.half, fmt.Sprint("level", i))
		}
	}
	if accepted {
		a.half = a.half[:len(a.half)/2]
	} else {
		a.half = a.half[len(a.half)/2:]
	}
	if a.chance(2) {
		return a.valid(), a.pick("0.1", "0.001", "0.000000001", "0.25", "0.25")
	}
	q := question{"kind": a.pick("count", "count", "sum", "mean", "variance", "histogram", "quantile", "outliers", "correlated", "ratio",
		"max")}
	add := func(n int, name string, values ...any) {
		if a.chance(n) {
			q[name] = values[a.rng.IntN(len(values))]
		}
	}
	if q["kind"] != "count" {
		q["column"] = a.pick("age", "cost", "age", "cost", "ward", "person", "none", "AGE", "age ", "")
	}
	if q["kind"] == "histogram" {
		add(2, "bins", []string{"0", "50", "100"}, []string{"0", "0"}, []string{"9", "1"}, []string{"x", "y"}, []string{"0"},
			[]string{"-1e308", "1e308"})
		add(3, "values", []string{"A", "B"}, a.half, []string{}, []string{"A", "A"})
	}
	add(3, "rank", "0.5", "0.99", "1", "0", "-1", "NaN", "x")
	add(2, "where", "age >= 65", "ward = 'A'", "ward = 'Z'", "age = 'unknown'", fmt.Sprintf("age > %g", a.edge), "cost > 1e400",
		"age >= 65 and ward in ('A','B')",
		"person = 'p999999'", "ward is missing", "age > 9223372036854775807", "1 = 1", "ward >= 'B'", "age >= '65'; drop table visits",
		strings.Repeat("(", 500), "ward = '"+strings.Join(a.half, "")+"'")
	add(4, "by", []string{"ward"}, []string{"ward", "age"}, []string{"person"}, []string{"ward", "ward"}, []string{"none"}, []string{})
	add(5, "keys", [][]string{{"A", "B"}}, [][]string{a.half}, [][]string{{"A"}, {"35"}}, [][]string{{"A", "A"}}, [][]string{{""}},
		[][]string{})
	add(3, "bounds", []string{"0", "100"}, []string{"0", fmt.Sprintf("%g", a.edge)}, []string{"100", "0"}, []string{"-1e308", "1e308"},
		[]string{"NaN", "1"}, []string{"0", "1e-300"})
	add(6, "noise", "laplace", "gaussian", "exponential", "smooth", "none", "")
	add(6, "max_rows", 1, 2, 3, 1000000, 0, -1, 1.5)
	add(8, "grid_bits", 0, 4, 60, -60, 5000)
	// Tricks with the schema: what the book defines may not be stated anew.
	add(25, "order", []string{"ward=A<B<" + strings.Join(a.half, "<")}, map[string]any{"ward": a.half})
	add(25, "types", map[string]string{"age": "category"}, map[string]string{"cost": "date"})
	add(25, "missing", []string{"unknown"}, []string{"Z"})
	add(25, "format", "YYYY-MM-DD")
	add(25, "unit", "person", "record", "age")
	add(25, "neighbours", "replace-one", "add-remove")
	add(25, "dataset", "visits", "../visits.csv")
	add(9, "columns", []string{"age", "cost"}, []string{"person"})
	add(9, "k", 3, 0, -1, 1<<40)
	add(9, "radius", 1.5, 0, -1, 1e308)
	return q, a.pick("0.1", "0.001", "0.000000001", "0.25", "0", "-1", "1e-10", "NaN", "1000", "x", "")
}

// valid is a question that the book answers.
func (a *adversary) valid() question {
	where := a.pick("age >= 65", "ward = 'A'", fmt.Sprintf("age > %d", int(a.edge)), "cost > 9000 and age <= 50", "ward in ('A','D')")
	by, keys := []string{"ward"}, [][]string{wards}
	switch a.rng.IntN(7) {
	case 0:
		return question{"kind": "count", "where": where}
	case 1:
		return question{"kind": "count", "by": by, "keys": keys}
	case 2:
		return question{"kind": a.pick("sum", "mean", "variance"), "column": a.pick("age", "cost"), "where": where}
	case 3:
		return question{"kind": a.pick("sum", "mean"), "column": "cost", "by": by, "bounds": []string{"0", fmt.Sprint(int(a.edge) + 1)}}
	case 4:
		return question{"kind": "histogram", "column": "age", "bins": []string{"0", "20", "65", "100"}}
	case 5:
		return question{"kind": "histogram", "column": "ward", "values": wards}
	}
	return question{"kind": "quantile", "column": a.pick("age", "cost"), "rank": a.pick("0.1", "0.5", "0.99"), "where": where}
}

// masked is what an adversary may compare of a reply: all of it but what noise, time and
// chance decide.
func masked(t *testing.T, r *reply) string {
	t.Helper()
	if r.err != nil {
		t.Fatal(r.err)
	}
	var value any
	if err := json.Unmarshal(r.body, &value); err != nil {
		t.Fatalf("%v: %s", err, r)
	}
	text, err := json.Marshal(mask("", value))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for name := range r.header {
		names = append(names, name)
	}
	slices.Sort(names)
	length := len(r.body)
	if _, answer := value.(map[string]any)["payload"]; !answer && r.status < 400 {
		length = 0 // times with fewer decimals and figures over synthetic rows are shorter
	}
	return fmt.Sprintf("%d %s %q length %d %s", r.status, strings.Join(names, " "), r.header.Get("Content-Type"), length,
		unnamed(string(text)))
}

// drawn are the fields whose value is noise or computed from answers with noise, the secret
// key, a draw or the time.
var drawn = []string{
	"id", "token", "until", "at", "next", "value", "low", "high", "noise", "sampling", "records", "payload", "certificate", "book", "answer",
	"location", "principal", "hash", "table", "opened", "added", "within", "read_with_care",
}

// mask replaces drawn fields by what kind of value they have.
func mask(name string, value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for n, one := range v {
			out[n] = mask(n, one)
		}
		if slices.Contains(drawn, name) {
			return "object"
		}
		return out
	case []any:
		if slices.Contains(drawn, name) {
			return "list"
		}
		out := make([]any, len(v))
		for i, one := range v {
			out[i] = mask(name, one)
		}
		if name == "rows" { // a value that noise has made null has no interval
			for i, one := range v {
				row, _ := one.(map[string]any)
				out[i] = row["keys"]
			}
		}
		if name == "errors" || name == "items" { // in no order, or by times that are not equal in both worlds
			slices.SortFunc(out, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		}
		return out
	}
	switch {
	case !slices.Contains(drawn, name):
		return value
	case name == "value": // a mean of a group whose size is 0 with noise is null
		return "a value"
	}
	return fmt.Sprintf("%T", value)
}

// A side is one of the two worlds: a server with one of two neighbouring tables.
type side struct {
	*user
	table
	steward *user
}

// worldOf starts a server with a table that has the same name in both worlds.
func worldOf(t *testing.T, csv string, p pairOfTables) *side {
	t.Helper()
	u := serve(t).steward(t)
	set := setting{"epsilon": "20", "name": "visits"}
	maps.Copy(set, p.set)
	tb := u.add(t, "visits.csv", csv, set, p.missing...)
	return &side{u.analyst(t, "K. Sato", tb.book, setting{"epsilon": "8"}), tb, u}
}

// longestAwaited is the longest time class, in seconds, of an answer that the adversary pays:
// the class follows from public parameters, and a long one keeps the trial waiting.
const longestAwaited = 32

// testAdversary lets an adversary choose requests, which go to both worlds; what it can
// see must be the same in both but for noise.
func testAdversary(t *testing.T, p pairOfTables, moves int, seed uint64) (paid, refused int) {
	both := []*side{worldOf(t, p.left, p), worldOf(t, p.right, p)}
	a := &adversary{rng: rand.New(rand.NewPCG(seed, 21)), edge: 60}
	accepted := false
	for move := range moves {
		var asked []question
		var pay []map[string]string
		for n := 1 + a.rng.IntN(8)/6; n > 0; n-- {
			q, cost := a.next(accepted)
			asked, pay = append(asked, q), append(pay, map[string]string{"epsilon": cost})
		}
		margin := []map[string]any{{"within": a.edge, "at": "0.95", "about": 1 + a.rng.IntN(100)}}
		pays := a.rng.IntN(4) > 0 && len(asked) == 1
		var seen [2][]string
		var got [2]*reply
		show := func(i int, what string, r *reply) {
			seen[i], got[i] = append(seen[i], what+": "+masked(t, r)), r
			if strings.Contains(string(r.body), canary) {
				t.Fatalf("%s holds a cell: %s", what, r)
			}
		}
		replays := a.chance(10)
		for i, w := range both {
			body := map[string]any{"book": w.table.book, "questions": asked, "pay": pay}
			if len(asked) == 1 && move%7 == 6 {
				delete(body, "pay")
				body["margin"] = margin
			}
			r := w.user.send(t.Context(), "POST", "/quotes", body)
			show(i, "quote", r)
			if r.status != 200 {
				continue
			}
			var q quote
			r.decode(t, &q)
			if move%5 == 4 {
				show(i, "rehearsal", w.user.send(t.Context(), "POST", "/rehearsals", map[string]any{"quote": q.Token}))
			}
			if !pays || q.Class > longestAwaited {
				continue
			}
			key := fmt.Sprint("move ", move)
			show(i, "answer", w.user.pay(t.Context(), &q, key))
			if replays {
				show(i, "replay", w.user.pay(t.Context(), &q, key))
			}
		}
		for i, w := range both {
			last := got[i]
			show(i, "book", w.user.send(t.Context(), "GET", "/books/"+w.table.book, nil))
			if move%4 == 0 {
				show(i, "entries", w.user.send(t.Context(), "GET", "/books/"+w.table.book+"/entries?limit=500", nil))
				show(i, "table", w.user.send(t.Context(), "GET", "/tables/"+w.table.id, nil))
				show(i, "answers", w.user.send(t.Context(), "GET", "/answers", nil))
			}
			got[i] = last
		}
		for k := range seen[0] {
			if k >= len(seen[1]) || seen[0][k] != seen[1][k] {
				text, _ := json.Marshal(asked)
				other := "nothing"
				if k < len(seen[1]) {
					other = seen[1][k]
				}
				t.Fatalf("%s, move %d: %s\nleft:  %s\nright: %s", p.name, move, text, seen[0][k], other)
			}
		}
		accepted = got[0].status == 200
		if accepted && pays {
			paid++
		} else if !accepted {
			refused++
		}
	}
	for _, w := range both {
		if w.kill(); strings.Contains(w.log.String(), canary) {
			t.Errorf("the log holds a cell: %s", w.log.String())
		}
	}
	return paid, refused
}

// An adversary that chooses neighbouring tables and adaptive requests sees no difference
// but noise: statuses, codes, texts, lengths, books and entries are the same.
func TestAdversary(t *testing.T) {
	short(t)
	all := pairsOfTables()
	p := all[2]
	paid, refused := testAdversary(t, p, 24, 1)
	t.Logf("%s: %d answers, %d refusals", p.name, paid, refused)
}

func TestLongServedAdversary(t *testing.T) {
	randtest.Long(t)
	for i, p := range pairsOfTables() {
		t.Run(p.name, func(t *testing.T) {
			paid, refused := testAdversary(t, p, 400, uint64(i))
			t.Logf("%d answers, %d refusals", paid, refused)
			if paid < 20 || refused < 20 {
				t.Error("too few of one kind")
			}
		})
	}
}

// The comparison finds a leak that is planted in replies.
func TestMaskFindsLeaks(t *testing.T) {
	base := func() *reply {
		return &reply{
			status: 200, header: map[string][]string{"Content-Type": {"application/json"}},
			body: []byte(`{"id":"an_1","payload":"{}","value":3.5,"notes":["none"],"cost":{"epsilon":"0.1"}}`),
		}
	}
	want := masked(t, base())
	noise := base()
	noise.body = []byte(`{"id":"an_2","payload":"{}","value":9.5,"notes":["none"],"cost":{"epsilon":"0.1"}}`)
	if masked(t, noise) != want {
		t.Error("noise is taken for a leak")
	}
	for name, leak := range map[string]func(r *reply){
		"a status": func(r *reply) { r.status = 202 },
		"a header": func(r *reply) { r.header["X-Rows"] = []string{"3"} },
		"a note":   func(r *reply) { r.body = []byte(strings.Replace(string(r.body), "none", "more", 1)) },
		"a length": func(r *reply) { r.body = append(r.body, ' ') },
		"a field":  func(r *reply) { r.body = []byte(strings.Replace(string(r.body), "notes", "rows", 1)) },
		"a cost":   func(r *reply) { r.body = []byte(strings.Replace(string(r.body), "0.1", "0.2", 1)) },
	} {
		r := base()
		if leak(r); masked(t, r) == want {
			t.Errorf("%s is not noticed", name)
		}
	}
}
