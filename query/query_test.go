package query

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/table"
)

const one = account.EpsilonUnits

var visits = []table.Field{
	{Name: "person", Type: table.Category},
	{Name: "sex", Type: table.Category},
	{Name: "ward", Type: table.Integer},
	{Name: "cost", Type: table.Decimal},
	{Name: "day", Type: table.Date},
	{Name: "stage", Type: table.Ordered, Levels: []string{"mild", "severe"}},
}

func visitRows(n int, seed uint64) [][]string {
	r := rand.New(rand.NewPCG(seed, 1))
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	rows := make([][]string, n)
	for i := range rows {
		rows[i] = []string{
			pick("p1", "p2", "p3", "p4", "p5", "p6", "p7", ""), pick("F", "M", "M", ""), pick("1", "2", "7", ""),
			strconv.FormatFloat(r.Float64()*120-10, 'f', 2, 64), pick("2020-01-01", "2020-06-30", ""), pick("mild", "severe", ""),
		}
		if r.IntN(10) == 0 {
			rows[i][3] = ""
		}
	}
	return rows
}

var secret = []byte("0123456789abcdef")

// common is a set of queries of every kind, for relations and units.
func common() map[string]Options {
	kinds := map[string]Options{
		"count":        {Kind: Count, Where: "sex = 'M' or ward >= 2"},
		"count by":     {Kind: Count, By: []string{"sex", "ward"}, Keys: [][]string{{"F", "1"}, {"M", "7"}, {"", "2"}, {"M", ""}, {"X", "99"}}},
		"sum":          {Kind: Sum, Column: "cost", Bounds: &Bounds{-5, 100}},
		"sum by":       {Kind: Sum, Column: "cost", Bounds: &Bounds{-5, 100}, By: []string{"sex"}, Keys: [][]string{{"M"}, {"F"}}},
		"mean":         {Kind: Mean, Column: "cost", Bounds: &Bounds{0, 100}},
		"mean of days": {Kind: Mean, Column: "day", Bounds: &Bounds{18000, 19000}},
		"variance":     {Kind: Variance, Column: "cost", Bounds: &Bounds{0, 100}},
		"histogram":    {Kind: Histogram, Column: "cost", Bins: []float64{-10, 0, 30, 110}},
		"histogram by": {
			Kind: Histogram, Column: "stage", Values: []string{"severe", "mild", ""}, By: []string{"sex"},
			Keys: [][]string{{"M"}, {"F"}},
		},
		"median": {Kind: Quantile, Column: "cost", Bounds: &Bounds{0, 100}},
		"decile": {
			Kind: Quantile, Column: "ward", Bounds: &Bounds{0, 10}, Rank: "0.9", By: []string{"sex"},
			Keys: [][]string{{"M"}, {"F"}, {"none"}},
		},
		"smooth median": {Kind: Quantile, Column: "cost", Bounds: &Bounds{0, 100}, Noise: Smooth},
	}
	out := map[string]Options{}
	for name, o := range kinds {
		o.Fields = visits
		for _, n := range []account.Neighbours{account.AddRemove, account.ReplaceOne} {
			for _, unit := range []string{"record", "person"} {
				o.Neighbours, o.Unit, o.MaxRows, o.Key = n, unit, 0, nil
				if unit == "person" {
					o.MaxRows, o.Key = 3, secret
				}
				o.Cost = account.Cost{Epsilon: one}
				label := name + ", " + n.String() + " of one " + unit
				out[label] = o
				if o.Kind != Quantile {
					g := o
					g.Noise, g.Cost.Delta = Gaussian, 1e9
					out[label+", gaussian"] = g
				}
			}
		}
	}
	return out
}

func mustNew(t testing.TB, o Options) *Query {
	t.Helper()
	q, err := New(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// With the same random bits, an answer is the same whatever the order of the
// records; also where records of a person are left out.
func TestOrderDoesNotMatter(t *testing.T) {
	randtest.SkipShort(t)
	rows := visitRows(200, 3)
	tab := makeTable(t, visits, rows...)
	for name, o := range common() {
		q := mustNew(t, o)
		want, err := q.answer(t.Context(), tab, randtest.Source(5))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for seed := range uint64(3) {
			mixed := slices.Clone(rows)
			rand.New(rand.NewPCG(seed, 2)).Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
			got, err := q.answer(t.Context(), makeTable(t, visits, mixed...), randtest.Source(5))
			if err != nil {
				t.Fatal(err)
			}
			if asJSON(t, got) != asJSON(t, want) {
				t.Errorf("%s: %s and, in another order, %s", name, asJSON(t, want), asJSON(t, got))
			}
		}
	}
}

// What one unit changes is at most what the noise was made for: exactly, on
// tables that differ by all records of one person, or of one record.
func TestOneUnitChangesAtMostTheSensitivity(t *testing.T) {
	options := common()
	names := make([]string, 0, len(options))
	for name, o := range options {
		if o.Kind != Quantile {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	rapid.Check(t, func(rt *rapid.T) {
		o := options[rapid.SampledFrom(names).Draw(rt, "query")]
		q := mustNew(t, o)
		s := q.kernel.(*sums)
		rows := visitRows(60, rapid.Uint64().Draw(rt, "seed"))
		other := slices.Clone(rows)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "change"), 1))
		extreme := func(row []string) []string {
			row = slices.Clone(row)
			row[3] = []string{"-1e300", "1e300", "0", ""}[r.IntN(4)]
			return row
		}
		if o.Unit == "record" {
			if o.Neighbours == account.AddRemove {
				rows = append(rows, extreme(rows[r.IntN(60)]))
			} else {
				rows[7] = extreme(rows[7])
				other[7] = extreme(visitRows(1, r.Uint64())[0])
			}
		} else {
			// All records of p1 are taken out of one, and perhaps replaced.
			for i := range rows {
				if rows[i][0] == "p1" {
					rows[i] = extreme(rows[i])
				}
			}
			other = slices.DeleteFunc(slices.Clone(rows), func(row []string) bool { return row[0] == "p1" })
			if o.Neighbours == account.ReplaceOne {
				for range r.IntN(6) {
					row := extreme(rows[r.IntN(60)])
					row[0] = "p1"
					other = append(other, row)
				}
			}
		}
		exact := func(rows [][]string) []int64 {
			tab := makeTable(t, visits, rows...)
			each, err := q.records(t.Context(), tab)
			if err != nil {
				rt.Fatal(err)
			}
			sum, err := s.exact(t.Context(), tab, each)
			if err != nil {
				rt.Fatal(err)
			}
			out := make([]int64, len(sum))
			for i := range sum {
				if out[i], err = sum[i].Int64(); err != nil {
					rt.Fatal(err)
				}
			}
			return out
		}
		x, y := exact(rows), exact(other)
		l1, l2, changed := 0.0, 0.0, 0
		for i := range x {
			d := math.Abs(float64(x[i] - y[i]))
			l1 += d
			l2 += d * d
			if d > 0 {
				changed++
			}
		}
		sens := s.add.sensitivity(o.Neighbours, q.o.MaxRows)
		most1, _ := sens.l1.Float64()
		most2, _ := sens.l2Square.Float64()
		if l1 > most1 || l2 > most2 || sens.single && changed > 1 {
			rt.Fatalf("L1 %g of %g, L2^2 %g of %g, %d coordinates", l1, most1, l2, most2, changed)
		}
	})
}

// Figures worked out by hand from the definition.
func TestSensitivityByHand(t *testing.T) {
	for _, test := range []struct {
		a        additive
		n        account.Neighbours
		rows     int64
		l1, l2sq int64
	}{
		{additive{1, 1, 0, 1}, account.AddRemove, 1, 1, 1},
		{additive{1, 1, 0, 1}, account.ReplaceOne, 1, 1, 1},
		{additive{9, 1, 0, 1}, account.AddRemove, 1, 1, 1},
		{additive{9, 1, 0, 1}, account.ReplaceOne, 1, 2, 2},
		{additive{9, 1, 0, 1}, account.ReplaceOne, 5, 10, 50},
		{additive{1, 1, -3, 7}, account.AddRemove, 1, 7, 49},
		{additive{1, 1, -3, 7}, account.ReplaceOne, 2, 20, 400},
		{additive{2, 1, -3, 7}, account.ReplaceOne, 1, 14, 100},
		{additive{2, 1, 0, 7}, account.ReplaceOne, 1, 14, 98},
		{additive{1, 2, 0, 10}, account.AddRemove, 3, 30, 900},
		{additive{1, 3, 0, 10}, account.ReplaceOne, 1, 20, 200},
	} {
		s := test.a.sensitivity(test.n, test.rows)
		if s.l1.Int64() != test.l1 || s.l2Square.Int64() != test.l2sq {
			t.Errorf("%+v %v rows %d: L1 %v, L2^2 %v, want %d, %d", test.a, test.n, test.rows, s.l1, s.l2Square, test.l1, test.l2sq)
		}
	}
}

func TestAnswersLieOnTheGrid(t *testing.T) {
	tab := makeTable(t, visits, visitRows(100, 9)...)
	for name, o := range common() {
		if o.Kind == Mean || o.Kind == Variance {
			continue // quotients of numbers of the grid
		}
		q := mustNew(t, o)
		step := 1.0
		if j := q.public().GridBits; j != nil {
			step = math.Ldexp(1, -*j)
		}
		r, err := q.answer(t.Context(), tab, randtest.Source(1))
		if err != nil {
			t.Fatal(err)
		}
		groups := r.Groups
		if r.Group != nil {
			groups = append(groups, *r.Group)
		}
		if len(groups) != len(q.groups.texts)*q.bins() {
			t.Errorf("%s: %d answers", name, len(groups))
		}
		for _, g := range groups {
			if v := float64(*g.Value) / step; v != math.Trunc(v) {
				t.Errorf("%s: %v is not a multiple of %v", name, *g.Value, step)
			}
		}
	}
}

func TestNewListsAllFaults(t *testing.T) {
	_, err := New(context.Background(), Options{
		Kind: Mean, Column: "sex", Fields: visits, Where: "sex = 5", By: []string{"ward"},
		Keys: [][]string{{"x"}}, Cost: account.Cost{Delta: 1}, Unit: "person", Level: 2,
	})
	if noren.KindOf(err) != noren.Usage {
		t.Fatal(err)
	}
	if code := noren.CodeOf(err); code != "column-type" {
		t.Errorf("a mean of texts has the code %q", code)
	}
	for _, part := range []string{
		"mean expects integer, decimal or date, got category", "public bounds", "predicate, character 7",
		"key 1, column ward", "epsilon", "needs no delta", "max-rows", "key: the secret", "level",
	} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in: %v", part, err)
		}
	}
}

// A column that does not exist is the first fault, and is not blamed on others.
func TestNewNamesTheMissingColumnFirst(t *testing.T) {
	base := Options{Kind: Sum, Column: "cost", Fields: visits, Cost: account.Cost{Epsilon: one}}
	for name, test := range map[string]struct {
		change func(*Options)
		begins string
		not    string
	}{
		"column": {func(o *Options) { o.Column = "price" }, `column: there is no column "price"`, "bounds"},
		"column with bounds": {
			func(o *Options) { o.Column, o.Bounds = "price", &Bounds{0, 1} }, `column: there is no column "price"`,
			"bounds",
		},
		"column of a histogram": {func(o *Options) { o.Kind, o.Column = Histogram, "price" }, `column: there is no column "price"`, "bins"},
		"group without keys":    {func(o *Options) { o.By = []string{"town"} }, `groups: there is no column "town"`, "public list"},
		"condition":             {func(o *Options) { o.Where = "price > 5" }, "predicate, character 1: no column of this name", ""},
	} {
		o := base
		test.change(&o)
		_, err := New(context.Background(), o)
		if noren.KindOf(err) != noren.Usage || noren.CodeOf(err) != "column-missing" || !strings.HasPrefix(err.Error(), test.begins) ||
			test.not != "" && strings.Contains(err.Error(), test.not) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	base := Options{Kind: Sum, Column: "cost", Bounds: &Bounds{0, 1}, Fields: visits, Cost: account.Cost{Epsilon: one}}
	mustNew(t, base)
	for name, change := range map[string]func(*Options){
		"kind":                   func(o *Options) { o.Kind = "mode" },
		"no column":              func(o *Options) { o.Column = "" },
		"unknown column":         func(o *Options) { o.Column = "price" },
		"count with column":      func(o *Options) { o.Kind, o.Bounds = Count, nil },
		"count with bounds":      func(o *Options) { o.Kind, o.Column = Count, "" },
		"NaN":                    func(o *Options) { o.Bounds = &Bounds{math.NaN(), 1} },
		"infinite":               func(o *Options) { o.Bounds = &Bounds{0, math.Inf(1)} },
		"equal":                  func(o *Options) { o.Bounds = &Bounds{1, 1} },
		"-0":                     func(o *Options) { o.Bounds = &Bounds{0, math.Copysign(0, -1)} },
		"reversed":               func(o *Options) { o.Bounds = &Bounds{1, 0} },
		"beyond 2^53":            func(o *Options) { o.Bounds = &Bounds{0, 1<<53 + 2} },
		"MaxInt64":               func(o *Options) { o.Bounds = &Bounds{0, math.MaxInt64} },
		"no grid point":          func(o *Options) { j := 0; o.GridBits, o.Bounds = &j, &Bounds{0.2, 0.8} },
		"one grid point":         func(o *Options) { j := 0; o.GridBits, o.Bounds = &j, &Bounds{0.2, 1.8} },
		"fine grid":              func(o *Options) { j := 40; o.GridBits = &j },
		"absurd grid":            func(o *Options) { j := 4000; o.GridBits = &j },
		"bins":                   func(o *Options) { o.Bins = []float64{1, 2} },
		"rank":                   func(o *Options) { o.Rank = "0.5" },
		"epsilon":                func(o *Options) { o.Cost = account.Cost{} },
		"huge epsilon":           func(o *Options) { o.Cost.Epsilon = 1001 * one },
		"laplace with delta":     func(o *Options) { o.Cost.Delta = 1 },
		"gaussian without delta": func(o *Options) { o.Noise = Gaussian },
		"exponential sum":        func(o *Options) { o.Noise = Exponential },
		"laplace quantile":       func(o *Options) { o.Kind, o.Noise = Quantile, Laplace },
		"smooth decile":          func(o *Options) { o.Kind, o.Noise, o.Rank = Quantile, Smooth, "0.9" },
		"rank 1":                 func(o *Options) { o.Kind, o.Rank = Quantile, "1" },
		"rank 0":                 func(o *Options) { o.Kind, o.Rank = Quantile, "0" },
		"rank too fine":          func(o *Options) { o.Kind, o.Rank = Quantile, "0.1234567" },
		"max rows of records":    func(o *Options) { o.MaxRows = 2 },
		"unit without rows":      func(o *Options) { o.Unit, o.Key = "person", secret },
		"unit without key":       func(o *Options) { o.Unit, o.MaxRows = "person", 2 },
		"unknown unit":           func(o *Options) { o.Unit, o.MaxRows, o.Key = "who", 2, secret },
		"neighbours":             func(o *Options) { o.Neighbours = 7 },
		"keys without by":        func(o *Options) { o.Keys = [][]string{{"a"}} },
		"by without keys":        func(o *Options) { o.By = []string{"sex"} },
		"by unknown":             func(o *Options) { o.By, o.Keys = []string{"x"}, [][]string{{"a"}} },
		"by twice":               func(o *Options) { o.By, o.Keys = []string{"sex", "sex"}, [][]string{{"a", "a"}} },
		"short key":              func(o *Options) { o.By, o.Keys = []string{"sex", "ward"}, [][]string{{"a"}} },
		"same key":               func(o *Options) { o.By, o.Keys = []string{"ward"}, [][]string{{"7"}, {"07"}} },
		"same keys": func(o *Options) {
			o.By, o.Keys = []string{"sex", "ward"}, [][]string{{"F", "7"}, {"F", ""}, {"F", "+7"}}
		},
		"histogram without bins":    func(o *Options) { o.Kind, o.Bounds = Histogram, nil },
		"falling bins":              func(o *Options) { o.Kind, o.Bounds, o.Bins = Histogram, nil, []float64{1, 0} },
		"NaN bins":                  func(o *Options) { o.Kind, o.Bounds, o.Bins = Histogram, nil, []float64{0, math.NaN()} },
		"histogram without values":  func(o *Options) { o.Kind, o.Bounds, o.Column = Histogram, nil, "sex" },
		"same values":               func(o *Options) { o.Kind, o.Bounds, o.Column, o.Values = Histogram, nil, "sex", []string{"a", "a"} },
		"value that is no level":    func(o *Options) { o.Kind, o.Bounds, o.Column, o.Values = Histogram, nil, "stage", []string{"odd"} },
		"number column with values": func(o *Options) { o.Kind, o.Bounds, o.Column, o.Values = Histogram, nil, "ward", []string{"1"} },
	} {
		o := base
		change(&o)
		if _, err := New(context.Background(), o); noren.KindOf(err) != noren.Usage || err == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCost(t *testing.T) {
	o := Options{Kind: Count, Fields: visits, Cost: account.Cost{Epsilon: one / 2}}
	q := mustNew(t, o)
	if c, err := q.Cost(account.AddRemove, "record"); err != nil || c.Epsilon != one/2 {
		t.Errorf("%v, %v", c, err)
	}
	if c, err := q.Cost(account.ReplaceOne, "record"); err != nil || c.Epsilon != one {
		t.Errorf("%v, %v", c, err)
	}
	if _, err := q.Cost(account.AddRemove, "person"); noren.KindOf(err) != noren.Usage {
		t.Error(err)
	}
	o.Neighbours = account.ReplaceOne
	if _, err := mustNew(t, o).Cost(account.AddRemove, "record"); noren.KindOf(err) != noren.Usage {
		t.Error(err)
	}
}

// Extra columns and the wrong ones.
func TestAnswerBindsItsColumns(t *testing.T) {
	q := mustNew(t, Options{
		Kind: Sum, Column: "cost", Bounds: &Bounds{0, 1}, Fields: visits, Where: "ward = 1", Unit: "person", MaxRows: 1,
		Key: secret, Cost: account.Cost{Epsilon: one},
	})
	names := ""
	for _, f := range q.Columns() {
		names += f.Name + " "
	}
	if names != "ward cost " {
		t.Errorf("reads %s", names)
	}
	asked := mustNew(t, Options{
		Kind: Count, Fields: visits, Where: "person = 'p1'", Unit: "person", MaxRows: 1, Key: secret,
		Cost: account.Cost{Epsilon: one},
	})
	if c := asked.Columns(); len(c) != 1 || c[0].Name != "person" {
		t.Errorf("a question about the unit column reads %v", c)
	}
	if _, err := q.answer(t.Context(), &table.Table{}, randtest.Source(1)); err == nil {
		t.Error("a table without columns was answered from")
	}
	for name, spoil := range map[string]func(tab *table.Table){
		"no labels":               func(tab *table.Table) { tab.Unit = nil },
		"labels of another name":  func(tab *table.Table) { tab.Unit = tab.Column("sex") },
		"labels that are typed":   func(tab *table.Table) { tab.Unit.Field.Type = table.Integer },
		"labels of fewer records": func(tab *table.Table) { tab.Unit = tab.Unit.Select([]uint32{0, 1}) },
	} {
		tab := makeTable(t, visits, visitRows(5, 1)...)
		if _, err := q.answer(t.Context(), tab, randtest.Source(1)); err != nil {
			t.Fatal(err)
		}
		spoil(tab)
		if _, err := q.answer(t.Context(), tab, randtest.Source(1)); noren.KindOf(err) != noren.Internal || err == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := asJSON(t, q.Parameters()); strings.Contains(got, string(secret)) {
		t.Errorf("the key is in %s", got)
	}
}

// No records at all are answered like any others.
func TestEmptyTable(t *testing.T) {
	randtest.SkipShort(t)
	tab := makeTable(t, visits)
	for name, o := range common() {
		if _, err := mustNew(t, o).answer(t.Context(), tab, randtest.Source(1)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
