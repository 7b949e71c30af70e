package query

import (
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter/metertest"
	"github.com/noren-privacy/noren/table"

	"pgregory.net/rapid"
)

var people = []table.Field{
	{Name: "age", Type: table.Integer},
	{Name: "sex", Type: table.Category},
	{Name: "bmi", Type: table.Decimal},
	{Name: "stage", Type: table.Ordered, Levels: []string{"mild", "severe", "critical"}},
	{Name: "visit", Type: table.Date, Layout: "YYYY/MM/DD"},
	{Name: "native-country", Type: table.Category},
	{Name: "the `odd` one", Type: table.Category},
	{Name: "missing", Type: table.Category},
	{Name: "年齢", Type: table.Integer},
}

// makeTable builds a table from rows of texts; "" is missing. A column named
// person is read a second time, as the labels of the records.
func makeTable(t testing.TB, fields []table.Field, rows ...[]string) *table.Table {
	t.Helper()
	out := &table.Table{Rows: len(rows)}
	for c := range fields {
		b, err := table.NewBuilder(fields[c], nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			if err := b.Append([]byte(row[c])); err != nil {
				t.Fatal(err)
			}
		}
		out.Columns = append(out.Columns, b.Column())
		if fields[c].Name == "person" {
			labels := fields[c]
			labels.Name, labels.Type = "label", table.Category
			texts := make([][]string, len(rows))
			for i := range rows {
				texts[i] = []string{rows[i][c]}
			}
			out.Unit = makeTable(t, []table.Field{labels}, texts...).Columns[0]
			out.Unit.Field.Name = "person"
		}
	}
	return out
}

func peopleTable(t testing.TB) *table.Table {
	return makeTable(t, people,
		[]string{"30", "F", "21.5", "mild", "2020/01/02", "it's", "a", "x", "30"},
		[]string{"41", "M", "", "critical", "2021/12/31", "US", "b", "", "41"},
		[]string{"", "", "30", "severe", "", "US", "", "x", "7"},
		[]string{"-5", "F", "-0.5", "", "2020/01/02", "", "a", "x", "1"},
	)
}

func TestPredicateSelects(t *testing.T) {
	tab := peopleTable(t)
	for _, test := range []struct{ text, rows, canonical string }{
		{"age > 29", "1100", ""},
		{"age>=30 AND sex='F'", "1000", "age >= 30 and sex = 'F'"},
		{`sex != "F"`, "0100", "sex != 'F'"},
		{"not sex = 'F'", "0100", ""},
		{"sex is missing", "0010", ""},
		{"sex is not missing", "1101", "not sex is missing"},
		{"age < 31 or bmi = 30", "1011", ""},
		{"not (age < 31 or bmi = 30)", "0000", ""}, // unknown for the second record
		{"age = 41 or (age = 30 and sex = 'M' or bmi <= -0.5)", "0101", ""},
		{"(age = 41 or age = 30) and stage != 'mild'", "0100", ""},
		{"stage < 'critical'", "1010", ""},
		{"stage >= 'severe'", "0110", ""},
		{"stage in ('mild','critical')", "1100", "stage in ('mild', 'critical')"},
		{"visit = '2020/01/02'", "1001", ""},
		{"visit > '2020/01/02' and visit <= '2021/12/31'", "0100", ""},
		{"native-country = 'it''s'", "1000", ""},
		{`native-country = "it's"`, "1000", "native-country = 'it''s'"},
		{"native-country not in ('US')", "1000", "not native-country in ('US')"},
		{"native-country = 'nowhere'", "0000", ""},
		{"native-country != 'nowhere'", "1110", ""},
		{"`the ``odd`` one` = 'a'", "1001", ""},
		{"`missing` is missing", "0100", ""},
		{"年齢 = +30", "1000", "年齢 = 30"},
		{"age in (30, -5)", "1001", ""},
		{"bmi in (3e1, 21.50)", "1010", "bmi in (30, 21.5)"},
		{"age == 30", "1000", "age = 30"},
		{"age <> 30", "0101", "age != 30"},
		{"((age = 30))", "1000", "age = 30"},
		{"age = 1 or (age = 2 or age = 30)", "1000", ""},
		{"not not age = 30", "1000", ""},
		{"not (age = 30 and sex = 'F')", "0101", ""},
	} {
		p, err := ParsePredicate(test.text, people)
		if err != nil {
			t.Errorf("%s: %v", test.text, err)
			continue
		}
		holds, err := p.Select(tab)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, v := range holds {
			got += map[bool]string{true: "1", false: "0"}[v]
		}
		if got != test.rows {
			t.Errorf("%s: selects %s, want %s", test.text, got, test.rows)
		}
		want := test.canonical
		if want == "" {
			want = test.text
		}
		if p.String() != want {
			t.Errorf("%s: written as %s, want %s", test.text, p, want)
		}
	}
}

func TestPredicateErrors(t *testing.T) {
	for _, test := range []struct{ text, where, what string }{
		{"", "character 1", "expected a column"},
		{"age", "character 4", "expected an operator"},
		{"age >", "character 6", "expected a value"},
		{"age > 5 age", "character 9", "expected and, or"},
		{"agee > 5", "character 1", "no column of this name"},
		{"sex = F", "character 7", "expected a value"},
		{"sex < 'F'", "character 5", "no order"},
		{"sex = 5", "character 7", "compared with a number"},
		{"age = '5'", "character 7", "compared with a text"},
		{"age = 5.5", "character 7", "expected an integer"},
		{"age = 5e0", "character 7", "expected an integer"},
		{"age = 99999999999999999999", "character 7", "64 bits"},
		{"bmi = 1e999", "character 7", "floating point"},
		{"stage = 'Mild'", "character 9", "3 levels"},
		{"visit = '2020-01-02'", "character 9", "expected a date like"},
		{"visit = '2020/02/30'", "character 9", "expected a date like"},
		{"(age = 5", "character 9", "expected )"},
		{"age = 5)", "character 8", "expected and, or"},
		{"age in 5", "character 8", "expected ("},
		{"age in ()", "character 9", "expected a value"},
		{"age in (5", "character 10", "expected )"},
		{"age is 5", "character 8", "expected missing"},
		{"age not 5", "character 9", "expected in"},
		{"missing is missing", "character 1", "expected a column"},
		{"sex = 'F", "character 7", "not closed"},
		{"年齢 = %", "character 6", "no meaning"},
		{"`` = 5", "character 1", "empty column name"},
		{"age = -", "character 7", "without digits"},
		{"age = 5 and", "character 12", "expected a column"},
		{strings.Repeat("(", 300) + "age = 5", "character 201", "nested deeper"},
		{strings.Repeat("not ", 300) + "age = 5", "character 801", "nested deeper"},
		{"sex = '\xff'", "character 1", "not UTF-8"},
		{strings.Repeat(" ", maxPredicate+1), "character 1", "longer than"},
	} {
		_, err := ParsePredicate(test.text, people)
		if noren.KindOf(err) != noren.Usage || !strings.Contains(err.Error(), "predicate, "+test.where+": ") ||
			!strings.Contains(err.Error(), test.what) {
			t.Errorf("%.40q: %v, want %s: %s", test.text, err, test.where, test.what)
		}
	}
}

// FuzzPredicate holds that a predicate that parses is written in a form that
// parses to itself and selects the same records.
func FuzzPredicate(f *testing.F) {
	for _, s := range []string{
		"age > 29 and not (sex = 'F' or bmi in (1.5, 2e3))", "stage >= 'mild' or visit is not missing",
		"`the ``odd`` one` not in ('a', \"b\"\"\")", "((((age=1))))", "not not not age != -0", "bmi = -0", "年齢 = 7",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		metertest.Hold(t, len(text))
		p, err := ParsePredicate(text, people)
		if err != nil {
			if noren.KindOf(err) != noren.Usage {
				t.Fatalf("%q: kind %v", text, noren.KindOf(err))
			}
			return
		}
		again, err := ParsePredicate(p.String(), people)
		if len(p.String()) > maxPredicate {
			return
		}
		if err != nil {
			t.Fatalf("%q was written as %q: %v", text, p, err)
		}
		if again.String() != p.String() {
			t.Fatalf("%q was written as %q and then as %q", text, p, again)
		}
		tab := peopleTable(t)
		one, two, three := truths(t, p, tab), truths(t, again, tab), plainTruths(t, p, tab)
		for i := range tab.Rows {
			if one[i] != two[i] || one[i] != three[i] {
				t.Fatalf("%q and %q differ on record %d", text, again, i)
			}
		}
	})
}

// truths are what a predicate says of each record, block by block; plainTruths record by
// record.
func truths(t interface{ Fatal(...any) }, p *Predicate, tab *table.Table) []truth {
	holds, err := p.compile(tab)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]truth, tab.Rows)
	var yes, no selection
	for from := 0; from < tab.Rows; from += blockRows {
		n := min(blockRows, tab.Rows-from)
		holds(from, n, &yes, &no)
		for w := range yes {
			if yes[w]&no[w] != 0 || (yes[w]|no[w])&^firstBits(n-64*w) != 0 {
				t.Fatal("a record is in both, or beyond the table")
			}
		}
		for i := range n {
			out[from+i] = truth(yes[i/64]>>(i%64)&1) - truth(no[i/64]>>(i%64)&1)
		}
	}
	return out
}

func plainTruths(t interface{ Fatal(...any) }, p *Predicate, tab *table.Table) []truth {
	holds, err := p.plain(tab)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]truth, tab.Rows)
	for i := range out {
		out[i] = holds(i)
	}
	return out
}

// Kleene's logic: De Morgan's rules hold with missing values too.
func TestDeMorgan(t *testing.T) {
	tab := peopleTable(t)
	atoms := []string{"age > 29", "sex = 'F'", "bmi < 25", "stage = 'mild'", "visit is missing", "native-country != 'US'"}
	rapid.Check(t, func(rt *rapid.T) {
		a, b := rapid.SampledFrom(atoms).Draw(rt, "a"), rapid.SampledFrom(atoms).Draw(rt, "b")
		var both [2][]truth
		for k, text := range []string{"not (" + a + " and " + b + ")", "not " + a + " or not " + b} {
			p, err := ParsePredicate(text, people)
			if err != nil {
				rt.Fatal(err)
			}
			both[k] = truths(rt, p, tab)
		}
		for i := range tab.Rows {
			if both[0][i] != both[1][i] {
				rt.Fatalf("%s, %s: record %d", a, b, i)
			}
		}
	})
}

func TestCompileRefusesAnotherTable(t *testing.T) {
	p, err := ParsePredicate("age > 5", people)
	if err != nil {
		t.Fatal(err)
	}
	for _, tab := range []*table.Table{
		{},
		makeTable(t, []table.Field{{Name: "age", Type: table.Category}}, []string{"5"}),
	} {
		if _, err := p.compile(tab); noren.KindOf(err) != noren.Internal || err == nil {
			t.Error(err)
		}
	}
}
