package verify_test

import (
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/kanon/verify"
	"github.com/noren-privacy/noren/table"
)

// Properties read and write files, which costs little: more cases than the hundred that
// rapid tries, and far more in the long trials.
func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue {
		cases := "200"
		if os.Getenv("NOREN_TRIALS") == "1" {
			cases = "1000"
		}
		_ = f.Value.Set(cases)
	}
	os.Exit(m.Run())
}

// words are texts that a careless counter takes for one another.
var words = []string{
	"", "NA", "a", "b", "a,b", "a\x01b", "ab", " a", "a ", `"a"`, `a"`, "\n", "a\nb", "日本", "日", "本", "1", "1.0", "01",
	"-9", "9223372036854775807",
}

// drawTable draws a table of up to 40 records with many duplicates.
func drawTable(t *rapid.T, columns int) [][]string {
	pool := rapid.SliceOfN(rapid.SampledFrom(words), 1, 4).Draw(t, "pool")
	n := rapid.IntRange(1, 40).Draw(t, "n")
	rows := make([][]string, n)
	for i := range rows {
		for range columns {
			rows[i] = append(rows[i], rapid.SampledFrom(pool).Draw(t, "v"))
		}
	}
	return rows
}

// naive counts classes by what Go prints of their values.
func naive(rows [][]string, columns []int) map[string][]int {
	classes := map[string][]int{}
	for i, row := range rows {
		key := ""
		for _, j := range columns {
			if row[j] == null {
				key += "null;"
			} else {
				key += fmt.Sprintf("%q;", row[j])
			}
		}
		classes[key] = append(classes[key], i)
	}
	return classes
}

func TestCountsAsANaiveCounterDoes(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		names := []string{"a", "b", "c", "d"}[:rapid.IntRange(1, 4).Draw(t, "columns")]
		rows := drawTable(t, len(names))
		var path string
		if rapid.Bool().Draw(t, "parquet") {
			names = slices.Clone(names)
			if rapid.Bool().Draw(t, "number") {
				names[0] = "n"
			}
			for _, row := range rows {
				for j := range row {
					if _, err := strconv.ParseInt(row[j], 10, 64); err != nil && names[j] == "n" {
						row[j] = rapid.SampledFrom([]string{"-9", "0", "17", null}).Draw(t, "number")
					} else if rapid.IntRange(0, 9).Draw(t, "null") == 0 {
						row[j] = null
					}
					if names[j] == "n" {
						row[j] = strings.TrimPrefix(row[j], "0") // as a number is shown
						if row[j] == "" {
							row[j] = "0"
						}
					}
				}
			}
			path = writeParquet(t, dir, names, rows)
		} else {
			path = writeCSV(t, dir, names, rows)
		}
		quasi := rapid.Permutation(names).Draw(t, "quasi")[:rapid.IntRange(1, len(names)).Draw(t, "of")]
		var at []int
		for _, q := range quasi {
			at = append(at, slices.Index(names, q))
		}
		missing := rapid.SampledFrom([][]string{nil, {"NA"}, {"NA", "-9", "a"}}).Draw(t, "missing")
		size := rapid.IntRange(1, 8).Draw(t, "k")

		got, err := verifyFile(t, path, verify.Options{Quasi: quasi, Requirement: k(size), Missing: missing})
		if err != nil {
			t.Fatal(err)
		}
		want := &verify.Result{
			Schema: verify.ResultSchema, File: noren.Place{noren.File(path)}, Rows: int64(len(rows)), Quasi: quasi, K: size,
			AchievedK: math.MaxInt64, Failures: noren.Texts{},
		}
		for _, class := range naive(rows, at) {
			n := int64(len(class))
			want.Classes++
			want.AchievedK = min(want.AchievedK, n)
			want.ClassSize.Max = max(want.ClassSize.Max, n)
			if n < int64(size) {
				want.BelowK.Classes++
				want.BelowK.Records += n
			}
		}
		want.ClassSize.Min = want.AchievedK
		want.ClassSize.Mean = float64(len(rows)) / float64(want.Classes)
		want.Met = want.AchievedK >= int64(size)
		if !want.Met {
			want.Failures = got.Failures
			if len(got.Failures) != 1 {
				t.Fatalf("got the failures %q", got.Failures)
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("%q by %v (-want +got)\n%s", rows, quasi, d)
		}
	})
}

// none is the rank of a missing value.
const none = math.MinInt

// distance is the definition of Li, Li and Venkatasubramanian for equal and
// ordered distance, with the rule for missing values, by floating point. Values
// are given by their rank, or none.
func distance(class, whole []int, ordered bool) float64 {
	share := func(of []int, v int) float64 {
		n := 0
		for _, o := range of {
			if o == v {
				n++
			}
		}
		return float64(n) / float64(len(of))
	}
	distinct := func(of []int) []int {
		of = slices.Clone(of)
		slices.Sort(of)
		return slices.Compact(of)
	}
	if !ordered {
		d := 0.0
		for _, v := range distinct(whole) {
			d += math.Abs(share(class, v)-share(whole, v)) / 2
		}
		return d
	}
	s, u := 1-share(class, none), 1-share(whole, none)
	have := func(of []int) []int {
		return slices.DeleteFunc(slices.Clone(of), func(v int) bool { return v == none })
	}
	class, whole = have(class), have(whole)
	values := distinct(whole)
	e, c := 0.0, 0.0
	if len(class) > 0 && len(values) > 1 {
		for _, v := range values {
			c += share(class, v) - share(whole, v)
			e += math.Abs(c) / float64(len(values)-1)
		}
	}
	return math.Abs(s-u) + min(s, u)*e
}

// Diversity and closeness of every class, by their definitions and by package
// privacy on the whole table.
func TestSensitiveAsByDefinition(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "n")
		field := table.Field{Name: "s", Type: rapid.SampledFrom([]table.Type{
			table.Category, table.Ordered, table.Integer, table.Decimal,
			table.Date,
		}).Draw(t, "type")}
		pool := map[table.Type][]string{
			table.Category: {"a", "b", "a,b", "", "NA"},
			table.Ordered:  {"low", "high", "middle", "", "NA"},
			table.Integer:  {"10", "9", "-3", "NA"},
			table.Decimal:  {"10", "9.5", "9.50", "-3e1", "0.001", ""},
			table.Date:     {"01.02.2024", "02.01.2024", "31.12.1999", "NA"},
		}[field.Type]
		switch field.Type {
		case table.Ordered:
			field.Levels = []string{"low", "middle", "high"}
		case table.Date:
			field.Layout = "DD.MM.YYYY"
		}
		rows := make([][]string, n)
		var whole []string
		for i := range rows {
			rows[i] = []string{rapid.SampledFrom([]string{"x", "y", "z", ""}).Draw(t, "q"), rapid.SampledFrom(pool).Draw(t, "s")}
			whole = append(whole, rows[i][1])
		}
		// The whole column, record by record, as the verifier does not have it.
		b, err := table.NewBuilder(field, []string{"NA"})
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range whole {
			if err := b.Append([]byte(v)); err != nil {
				t.Fatal(err)
			}
		}
		a := privacy.NewAttribute(b.Column())
		ranks := make([]int, n)
		for i, v := range whole {
			ranks[i] = int(a.Codes[i])
			if v == "" || v == "NA" {
				ranks[i] = none
			}
		}
		req := privacy.Requirement{K: 1}
		if rapid.Bool().Draw(t, "diverse") {
			req.Diversity = &privacy.Diversity{
				Model: rapid.SampledFrom([]privacy.DiversityModel{privacy.Distinct, privacy.Entropy, privacy.Recursive}).Draw(t, "model"),
				L:     float64(rapid.IntRange(1, 3).Draw(t, "l")),
			}
			req.Diversity.CountMissing = rapid.Bool().Draw(t, "missing values count")
			if req.Diversity.Model == privacy.Recursive {
				req.Diversity.C = rapid.SampledFrom([]float64{0.5, 1, 2.5}).Draw(t, "c")
			}
		}
		if rapid.Bool().Draw(t, "close") {
			req.Closeness = &privacy.Closeness{T: rapid.SampledFrom([]float64{0, 0.1, 0.3, 0.7}).Draw(t, "t")}
		}

		want := verify.Sensitive{Column: "s", DistinctL: math.MaxInt, EntropyL: math.Inf(1), Distance: "equal"}
		if field.Type != table.Category {
			want.Distance = "ordered"
		}
		countMissing := req.Diversity != nil && req.Diversity.CountMissing
		recursive := math.MaxInt
		for _, class := range naive(rows, []int{0}) {
			var h privacy.Histogram
			var values []int
			counts := map[uint32]int{}
			var counted privacy.Histogram
			for _, i := range class {
				h.Add(a.Codes[i])
				if countMissing || ranks[i] != none {
					counts[a.Codes[i]]++
					counted.Add(a.Codes[i])
				}
				values = append(values, ranks[i])
			}
			entropy := 0.0
			for _, n := range counts {
				p := float64(n) / float64(counted.Total())
				entropy -= p * math.Log(p)
			}
			want.DistinctL = min(want.DistinctL, len(counts))
			if len(counts) == 0 {
				want.EntropyL = 0
			}
			want.EntropyL = min(want.EntropyL, math.Exp(entropy))
			d := distance(values, ranks, field.Type != table.Category)
			want.T = max(want.T, d)
			if req.Diversity != nil {
				recursive = min(recursive, counted.RecursiveL(req.Diversity.C))
			}
			if d := req.Diversity; d != nil && !a.Diverse(&counted, &privacy.Diversity{Model: d.Model, L: d.L, C: d.C, CountMissing: true}) {
				want.NotDiverse++
			}
			if !a.Close(&h, req.Closeness) {
				want.NotClose++
			}
		}
		if req.Diversity != nil && req.Diversity.Model == privacy.Recursive {
			want.C, want.RecursiveL = req.Diversity.C, &recursive
		}
		var path string
		if rapid.Bool().Draw(t, "parquet") {
			path = writeParquet(t, dir, []string{"q", "s"}, rows)
		} else {
			path = writeCSV(t, dir, []string{"q", "s"}, rows)
		}
		got, err := verifyFile(t, path, verify.Options{
			Quasi: []string{"q"}, Requirement: req, Sensitive: []table.Field{field},
			Missing: []string{"NA"},
		})
		if err != nil {
			t.Fatal(err)
		}
		near := cmp.Comparer(func(x, y float64) bool { return math.Abs(x-y) <= 1e-12*max(1, math.Abs(x)) })
		if d := cmp.Diff([]verify.Sensitive{want}, got.Sensitive, near); d != "" {
			t.Fatalf("%q, %+v (-want +got)\n%s", rows, req, d)
		}
		if met := want.NotDiverse == 0 && want.NotClose == 0; got.Met != met || (got.Err() == nil) != met {
			t.Fatalf("met is %v, want %v: %q", got.Met, met, got.Failures)
		}
	})
}
