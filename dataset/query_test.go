package dataset

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/query"
	"github.com/noren-privacy/noren/table"
)

var contributionKey = []byte("0123456789abcdef")

// The number of persons does not depend on the type that the definition or a
// question gives to the unit column: 07 and 7, ids that merge as floating-point
// numbers, and equal numbers written differently are persons of their own.
func TestOnePersonOneText(t *testing.T) {
	for name, c := range map[string]struct {
		ids     []string
		persons float64
	}{
		"07 and 7":           {[]string{"07", "7"}, 2},
		"17 digits":          {[]string{"12345678901234567", "12345678901234568", "12345678901234569"}, 3},
		"one number":         {[]string{"0.1", "0.10", "1e-1", ".1"}, 4},
		"beyond 64 bits":     {[]string{"92233720368547758080", "92233720368547758081"}, 2},
		"one text is one":    {[]string{"7", "7", "7"}, 1},
		"blanks count":       {[]string{"7", " 7", "7 "}, 3},
		"no label, no count": {[]string{"", "NA", "7"}, 1},
	} {
		for _, kind := range []string{"category", "integer", "decimal"} {
			d := complete(t, Definition{Columns: []Column{{Name: "id", Type: kind}, {Name: "g"}}, Missing: []string{"NA"}, Unit: "id"})
			text := "id,g\n"
			for i, id := range c.ids {
				text += fmt.Sprintf("%s,%d\n", id, i)
			}
			wheres := []string{"", "not g is missing", "id is missing or not id is missing"}
			if kind != "category" {
				// A condition on the number types the column in the question.
				wheres = append(wheres, "id > 0 or id is missing")
			}
			for _, where := range wheres {
				q, err := query.New(context.Background(), query.Options{
					Kind: query.Count, Fields: d.Fields(), Where: where, Unit: "id", MaxRows: 1, Key: contributionKey,
					Cost: account.Cost{Epsilon: 1000 * account.EpsilonUnits},
				})
				if err != nil {
					t.Fatal(err)
				}
				tab, _, err := Read(bg, openString(t, text, d), d, q.Columns(), nil)
				if err != nil {
					t.Fatal(err)
				}
				answer, err := q.Answer(bg, tab, randtest.Source(1)) // noise of scale 1/1000: none
				if err != nil {
					t.Fatal(err)
				}
				if v := answer.(*query.Result).Value; v == nil || float64(*v) != c.persons {
					t.Errorf("%s as %s where %q: %v, want %v persons", name, kind, where, v, c.persons)
				}
			}
		}
	}
}

// everyQuery are questions of every kind and method on the columns of d.
func everyQuery(d *Definition) (all []query.Options) {
	by, keys := []string{"o"}, [][]string{{"low"}, {"high"}, {""}}
	all = []query.Options{
		{Kind: query.Count},
		{Kind: query.Count, Where: "i > 3 or c = 'a,b' or day is missing", By: by, Keys: keys},
		{Kind: query.Histogram, Column: "o", Values: []string{"low", "high", ""}},
		{Kind: query.Histogram, Column: "c", Values: []string{"日", ""}, By: by, Keys: keys},
		{Kind: query.Histogram, Column: "i", Bins: []float64{-5, 0, 10}},
	}
	largest := float64(1<<53 - 1)
	for column, bounds := range map[string][]query.Bounds{
		"i": {{Lo: 0, Hi: 100}, {Lo: -largest, Hi: largest}}, "x": {{Lo: -1, Hi: 1.5}, {Lo: -largest, Hi: largest}, {Lo: 0, Hi: 1e-100}},
		"day": {{Lo: 0, Hi: 20000}},
	} {
		for _, b := range bounds {
			for _, k := range []query.Kind{query.Sum, query.Mean, query.Variance, query.Quantile} {
				all = append(all, query.Options{Kind: k, Column: column, Bounds: &b},
					query.Options{Kind: k, Column: column, Bounds: &b, By: by, Keys: keys})
			}
			all = append(all, query.Options{Kind: query.Quantile, Noise: query.Smooth, Column: column, Bounds: &b})
		}
	}
	for _, o := range slices.Clone(all) {
		if o.Kind != query.Quantile {
			o.Noise = query.Gaussian
			all = append(all, o)
		}
	}
	var out []query.Options
	for _, o := range all {
		o.Fields, o.Neighbours, o.Unit = d.Fields(), d.Relation(), d.Unit
		o.Cost.Epsilon = account.EpsilonUnits
		if o.Noise == query.Gaussian {
			o.Cost.Delta = account.DeltaUnits / 1_000_000
		}
		if o.Unit != account.Record {
			o.MaxRows, o.Key = 2, contributionKey
		}
		out = append(out, o)
	}
	return out
}

// Every question that is accepted is answered on every table of the form, and its
// answer has canonical JSON.
func TestEveryQueryAnswersEveryTable(t *testing.T) {
	randtest.SkipShort(t)
	randtest.Fewer(t, 3)
	testEveryQuery(t)
}

func TestLongEveryQueryAnswersEveryTable(t *testing.T) {
	randtest.Long(t)
	testEveryQuery(t)
}

func testEveryQuery(t *testing.T) {
	var asked, refused int
	definitions := map[string]*Definition{}
	queries := map[string][]*query.Query{}
	for _, relation := range []string{"add-remove", "replace-one"} {
		for _, unit := range []string{"record", "who"} {
			d := Definition{
				Columns: []Column{
					{Name: "i", Type: "integer"},
					{Name: "x", Type: "decimal"},
					{Name: "day", Type: "date"},
					{Name: "o", Type: "ordered", Levels: []string{"low", "high"}},
					{Name: "c"},
					{Name: "who", Type: "integer"},
				},
				Missing: []string{"NA"}, Neighbours: relation, Unit: unit, File: File{Kind: kindParquet},
			}
			if relation == "replace-one" && unit == "record" {
				d.Records = 10
			}
			name := relation + " " + unit
			definitions[name] = complete(t, d)
			for _, o := range everyQuery(definitions[name]) {
				asked++
				q, err := query.New(context.Background(), o)
				if err != nil {
					refused++ // by public facts alone
					continue
				}
				queries[name] = append(queries[name], q)
			}
		}
	}
	if refused*5 > asked {
		t.Fatalf("%d of %d questions are refused", refused, asked)
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"add-remove record", "add-remove who", "replace-one record", "replace-one who"}).Draw(t, "form")
		d := definitions[name]
		g := drawGrid(t, d, rapid.SampledFrom([]int{0, 1, 2, 9}).Draw(t, "rows"), true)
		if rapid.Bool().Draw(t, "nothing but missing cells") {
			for _, row := range g.rows {
				for i := range row {
					row[i] = nil
				}
			}
		}
		for range 8 {
			q := rapid.SampledFrom(queries[name]).Draw(t, "question")
			tab, _, err := Read(bg, &cellSource{g}, d, q.Columns(), nil)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := q.Answer(bg, tab, randtest.Source(rapid.Uint64().Draw(t, "seed")))
			if err != nil {
				t.Fatalf("%s: %v", q.Name(), err)
			}
			text, err := json.Marshal(answer)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := certificate.Canonical(text); err != nil {
				t.Fatalf("%s: %s: %v", q.Name(), text, err)
			}
		}
	})
}

// A cell that does not fit leaves the exit and the answer's form as they are: the
// attack that asks with ever other types and orders has nothing to ask with.
func TestMisfitsDoNotFail(t *testing.T) {
	d := complete(t, Definition{Columns: []Column{
		{Name: "age", Type: "integer"},
		{Name: "diag", Type: "ordered", Levels: []string{"none", "cold", "flu"}},
	}})
	for _, last := range []string{"26,none", "26,hiv", "unknown,none", "\"2|6\",none", "99999999999999999999,", ",\"\""} {
		for _, o := range []query.Options{
			{Kind: query.Histogram, Column: "diag", Values: []string{"none", "flu"}},
			{Kind: query.Mean, Column: "age", Bounds: &query.Bounds{Lo: 0, Hi: 100}},
		} {
			o.Fields, o.Cost = d.Fields(), account.Cost{Epsilon: 1}
			q, err := query.New(context.Background(), o)
			if err != nil {
				t.Fatal(err)
			}
			tab, prints, err := Read(bg, openString(t, "age,diag\n35,none\n"+last+"\n", d), d, q.Columns(), &testKeys)
			if err != nil || tab.Rows != 2 || len(prints) != 1 {
				t.Fatalf("%s: %v", last, err)
			}
			if _, err := q.Answer(bg, tab, randtest.Source(1)); err != nil {
				t.Fatalf("%s: %v", last, err)
			}
		}
	}
	for name, f := range map[string]table.Field{
		"an order": {Name: "diag", Type: table.Ordered, Levels: []string{"none", "cold"}},
		"a type":   {Name: "diag"},
	} {
		if _, _, err := Read(bg, openString(t, "age,diag\n35,none\n", d), d, []table.Field{f}, nil); err == nil ||
			strings.Contains(err.Error(), "35") {
			t.Errorf("%s of a question is taken: %v", name, err)
		}
	}
}
