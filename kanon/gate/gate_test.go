package gate_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/gate"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/infer"
	"github.com/noren-privacy/noren/table/tabletest"
)

// columns are a table, column by column, with a header and a role each.
type column struct {
	field  table.Field
	values []string
}

// check writes a table and has it checked.
func check(t testing.TB, columns []column, kept ...string) *gate.Report {
	t.Helper()
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	schema := &table.Schema{}
	var header []string
	for _, c := range columns {
		header = append(header, c.field.Name)
		schema.Fields = append(schema.Fields, c.field)
	}
	_ = w.Write(header)
	for i := range columns[0].values {
		var row []string
		for _, c := range columns {
			row = append(row, c.values[i])
		}
		_ = w.Write(row)
	}
	w.Flush()
	path := filepath.Join(t.TempDir(), "in.csv")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	src := tabletest.CSV(t, path)
	defer func() { _ = src.Close() }()
	r, err := gate.Check(context.Background(), gate.Request{Source: src, Schema: schema, Missing: []string{"NA"}, Kept: kept})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func refused(r *gate.Report) []string {
	var names []string
	for _, x := range r.Refused {
		names = append(names, x.Column)
	}
	return names
}

// fill makes n values by a function of the record.
func fill(n int, value func(i int) string) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = value(i)
	}
	return out
}

func field(name string, role table.Role, kind table.Type) table.Field {
	return table.Field{Name: name, Role: role, Type: kind}
}

// Columns that tell a quasi-identifier, and columns that nearly do.
func TestPredictors(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 2000
	ages := fill(n, func(int) string { return fmt.Sprint(18 + rng.IntN(70)) })
	zips := fill(n, func(int) string { return fmt.Sprintf("%03d", rng.IntN(40)) })
	sexes := fill(n, func(int) string { return []string{"f", "m"}[rng.IntN(2)] })
	rare := fill(n, func(int) string { return []string{"no", "no", "no", "yes"}[min(3, rng.IntN(800)/3)] })
	wrong := func(of []string, share float64, other func() string) []string {
		return fill(n, func(i int) string {
			if rng.Float64() < share {
				return other()
			}
			return of[i]
		})
	}
	age := func(i int) int { var a int; _, _ = fmt.Sscan(ages[i], &a); return a }
	for _, c := range []struct {
		name   string
		values []string
		want   string // the quasi-identifiers that it tells
	}{
		{"birth year", fill(n, func(i int) string { return fmt.Sprint(2024 - age(i) - rng.IntN(2)) }), "age"},
		{"full zip", fill(n, func(i int) string { return zips[i] + fmt.Sprint(rng.IntN(10)) }), "zip"},
		{"coded sex", fill(n, func(i int) string { return map[string]string{"f": "1", "m": "2"}[sexes[i]] }), "sex"},
		{"nearly all", wrong(sexes, 0.01, func() string { return "f" }), "sex"},
		{"19 of 20", wrong(sexes, 0.1, func() string { return []string{"f", "m"}[rng.IntN(2)] }), ""},
		{"chance", fill(n, func(int) string { return fmt.Sprint(rng.IntN(500)) }), ""},
		{"three a value", fill(n, func(i int) string { return fmt.Sprint(i / 3) }), ""},
		{"every one different", fill(n, func(i int) string { return fmt.Sprintf("%d.5", rng.IntN(1<<40)) }), ""},
		{"one value", fill(n, func(int) string { return "x" }), ""},
		{"the zip's region", fill(n, func(i int) string { return zips[i][:1] }), ""},
		{"age band", fill(n, func(i int) string { return fmt.Sprint(age(i) / 20) }), ""},
	} {
		r := check(t, []column{
			{field("age", table.Quasi, table.Integer), ages},
			{field("zip", table.Quasi, table.Category), zips},
			{field("sex", table.Quasi, table.Category), sexes},
			{field("rare", table.Quasi, table.Category), rare},
			{field("c", table.Other, table.Category), c.values},
		})
		got := ""
		for _, p := range r.Predictors {
			got += strings.Join(p.Quasi, " ")
		}
		told := slices.ContainsFunc(r.Refused, func(x gate.Refusal) bool { return strings.Contains(x.Why.String(), "tells the value") })
		if got != c.want || told != (c.want != "") {
			t.Errorf("%s tells %q, want %q; refused: %+v", c.name, got, c.want, r.Refused)
		}
	}
}

// A large table is sampled: what is found is the same.
func TestLargeTable(t *testing.T) {
	if testing.Short() {
		t.Skip("200,000 records")
	}
	rng := rand.New(rand.NewPCG(3, 4))
	const n = 200_000
	zips := fill(n, func(int) string { return fmt.Sprintf("%04d", rng.IntN(5000)) })
	once := 0
	codes := fill(n, func(i int) string {
		if rng.IntN(4) == 0 {
			once++
			return fmt.Sprintf("u%d", i)
		}
		return fmt.Sprint(rng.IntN(50))
	})
	r := check(t, []column{
		{field("zip", table.Quasi, table.Category), zips},
		{field("full", table.Other, table.Category), fill(n, func(i int) string { return zips[i] + fmt.Sprint(rng.IntN(9)) })},
		{field("c", table.Other, table.Category), codes},
	}, "c")
	if got := refused(r); !slices.Equal(got, []string{"full"}) {
		t.Errorf("refused %v: %+v", got, r.Refused)
	}
	u := r.Unique
	if at := slices.IndexFunc(u.Columns, func(c gate.UniqueColumn) bool { return c.Column == "c" }); !u.Estimated || u.Records != n ||
		float64(u.Columns[at].Unique) < 0.97*float64(once) || float64(u.Columns[at].Unique) > 1.03*float64(once) {
		t.Errorf("%+v, want about %d unique in c", u, once)
	}
}

// The figures are those of a recount.
func TestUniqueIsARecount(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for round := range 40 {
		n, c := 1+rng.IntN(200), 1+rng.IntN(5)
		columns := []column{{field("q", table.Quasi, table.Integer), fill(n, func(i int) string { return fmt.Sprint(i % 7) })}}
		for j := range c {
			values := 1 + rng.IntN(2*n)
			columns = append(columns, column{
				field(fmt.Sprint("k", j), table.Other, table.Category),
				fill(n, func(int) string { return fmt.Sprintf("v%d", rng.IntN(values)) }),
			})
		}
		r := check(t, columns)
		alone, pairs := make([]bool, n), make([]bool, n)
		count := func(key func(i int) string, of []bool) {
			times := map[string]int{}
			for i := range n {
				times[key(i)]++
			}
			for i := range n {
				of[i] = of[i] || times[key(i)] == 1
			}
		}
		for a := 1; a <= c; a++ {
			count(func(i int) string { return columns[a].values[i] }, alone)
			count(func(i int) string { return columns[a].values[i] }, pairs)
			for b := 1; b < a; b++ {
				count(func(i int) string { return columns[a].values[i] + "," + columns[b].values[i] }, pairs)
			}
		}
		sum := func(of []bool) (k int64) {
			for _, is := range of {
				if is {
					k++
				}
			}
			return k
		}
		if u := r.Unique; u.Alone != sum(alone) || u.InPairs != sum(pairs) || u.Records != int64(n) || u.Estimated {
			t.Fatalf("round %d: %+v, want %d and %d of %d", round, u, sum(alone), sum(pairs), n)
		}
	}
}

// The names of columns are the same in every language, whatever they read like.
func TestNamesInFates(t *testing.T) {
	for _, name := range []string{"none", "of at least %d records", "analyst 7", "cannot be written"} {
		visit := "visit of " + name
		r := check(t, []column{
			{field(name, table.Quasi, table.Integer), fill(40, func(i int) string { return fmt.Sprint(i % 9) })},
			{field(visit, table.Other, table.Category), fill(40, func(i int) string { return fmt.Sprintf("2024-05-%02d", i%9+1) })},
		})
		if len(r.Refused) != 1 {
			t.Fatalf("%s: refused %v", name, r.Refused)
		}
		said := lang.Japanese.Error(r.Err("in.csv"))
		if why := lang.Japanese.Shown(r.Refused[0].Why); !strings.Contains(why, "その値から "+name+" の値が分かります") || !strings.Contains(said, visit) ||
			!strings.Contains(said, why) {
			t.Errorf("%s: %q, %q", name, why, said)
		}
	}
}

// Each column has a fate, and the steward's word is in it.
func TestFates(t *testing.T) {
	mails := fill(40, func(i int) string { return fmt.Sprintf("p%d@example.org", i%7) })
	columns := []column{
		{field("id", table.Identifier, table.Category), fill(40, func(i int) string { return fmt.Sprint(i) })},
		{field("age", table.Quasi, table.Integer), fill(40, func(i int) string { return fmt.Sprint(i % 9) })},
		{field("contact", table.Other, table.Category), mails},
		{field("illness", table.Sensitive, table.Category), fill(40, func(i int) string { return []string{"flu", "gout"}[i%2] })},
		{field("rest", table.Other, table.Category), fill(40, func(i int) string { return fmt.Sprint(100 + i%3) })},
		{field("remark", table.Other, table.Category), fill(40, func(i int) string { return fmt.Sprint("r", i%3) })},
		{field("visit", table.Other, table.Category), fill(40, func(i int) string { return fmt.Sprintf("2024-05-%02d", i%9+1) })},
	}
	r := check(t, columns)
	err := r.Err("in.csv")
	if noren.KindOf(err) != noren.Usage || noren.CodeOf(err) != gate.Code ||
		!strings.Contains(err.Error(), "contact (its values look like e-mail addresses)") || strings.Contains(err.Error(), "@") {
		t.Errorf("got %v", err)
	}
	if got := refused(r); !slices.Equal(got, []string{"contact", "remark", "visit"}) {
		t.Errorf("refused %v", got)
	}
	r = check(t, columns, "contact", "remark", "visit")
	if err := r.Err("in.csv"); err != nil {
		t.Error(err)
	}
	want := []gate.Fate{
		{Column: "id", Role: "identifier", Fate: gate.Dropped, Why: noren.Textf("it names a person or a record")},
		{
			Column: "age", Role: "quasi-identifier", Fate: gate.Transformed,
			Why: noren.Textf("others may know it: made common to the records of a class"),
		},
		{Column: "contact", Role: "other", Fate: gate.Untouched, Why: noren.Textf("the steward decided to keep it, although %s",
			noren.Textf("its values look like %s", noren.Phrase("e-mail addresses")))},
		{
			Column: "illness", Role: "sensitive", Fate: gate.Untouched,
			Why: noren.Textf("sensitive: kept, and checked where diversity or closeness is asked for"),
		},
		{
			Column: "rest", Role: "other", Fate: gate.Untouched,
			Why: noren.Textf("no role was given, and nothing that others know was recognised in it"),
		},
		{Column: "remark", Role: "other", Fate: gate.Untouched, Why: noren.Textf("the steward decided to keep it")},
		{Column: "visit", Role: "other", Fate: gate.Untouched, Why: noren.Textf("the steward decided to keep it, although %s",
			noren.Textf("%s, and its value also tells the value of %s", noren.Textf("its name says that others know it"), "age"))},
	}
	if d := cmp.Diff(want, r.Fates); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	// A sensitive column of e-mail addresses is refused too; one that is named
	// like an identifier is not: the steward named it.
	columns[2].field.Role = table.Sensitive
	if got := refused(check(t, columns, "remark", "visit")); !slices.Equal(got, []string{"contact"}) {
		t.Errorf("refused %v", got)
	}
	columns[2] = column{field("name of illness", table.Sensitive, table.Category), columns[3].values}
	if got := refused(check(t, columns, "remark", "visit")); got != nil {
		t.Errorf("refused %v", got)
	}
}

// What was looked at already is taken over.
func TestLooked(t *testing.T) {
	looked := &infer.Report{Rows: 3, Columns: []infer.Column{{Position: 0, Field: table.Field{Name: "a", Role: table.Identifier}}}}
	path := filepath.Join(t.TempDir(), "in.csv")
	if err := os.WriteFile(path, []byte("a,b,q\n1,x,1\n1,x,1\n2,x,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	src := tabletest.CSV(t, path)
	defer func() { _ = src.Close() }()
	schema := &table.Schema{Fields: []table.Field{{Name: "a"}, {Name: "b"}, {Name: "q", Role: table.Quasi}}}
	r, err := gate.Check(context.Background(), gate.Request{Source: src, Schema: schema, Looked: looked, Kept: []string{"b"}})
	if err != nil || !slices.Equal(refused(r), []string{"a"}) {
		t.Errorf("%+v, %v", r, err)
	}
	looked.Rows = 4
	if _, err := gate.Check(context.Background(), gate.Request{Source: src, Schema: schema, Looked: looked}); noren.KindOf(
		err) != noren.BadData {
		t.Errorf("a table that shrank: %v", err)
	}
}
