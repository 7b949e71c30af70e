package infer_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
	"github.com/noren-privacy/noren/table/infer"
)

func look(t interface {
	Helper()
	Fatal(...any)
}, dir, text string, opts infer.Options,
) (*infer.Report, file.Source) {
	t.Helper()
	path := filepath.Join(dir, "in.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := file.Open(context.Background(), path, file.Options{Delimiter: ','})
	if err != nil {
		t.Fatal(err)
	}
	report, err := infer.Infer(context.Background(), src, opts)
	if err != nil {
		t.Fatal(err)
	}
	return report, src
}

// one looks at a table of one column.
func one(t *testing.T, name string, values ...string) infer.Column {
	t.Helper()
	report, src := look(t, t.TempDir(), name+"\n"+strings.Join(values, "\n")+"\n", infer.Options{})
	defer func() { _ = src.Close() }()
	return report.Columns[0]
}

// times repeats values until there are enough of them for evidence.
func times(n int, values ...string) []string { return slices.Repeat(values, n) }

func TestTypes(t *testing.T) {
	for _, c := range []struct {
		name   string
		values []string
		want   table.Type
		layout table.Layout
		reason string
	}{
		{"n", []string{"1", "-2", "35"}, table.Integer, "", "whole numbers"},
		{"n", []string{"1", "NA", "?", "", "35"}, table.Integer, "", "whole numbers"},
		{"n", []string{"1", "none", "なし", "35"}, table.Integer, "", "whole numbers"},
		{"n", []string{"1", "2.5", "1e3"}, table.Decimal, "", "not whole"},
		{"n", []string{"9223372036854775808", "1"}, table.Decimal, "", ""},
		{"n", []string{"0123", "1234"}, table.Category, "", "begin with a zero"},
		{"n", []string{"0", "10"}, table.Integer, "", ""},
		{"n", []string{"0.5", "00.5"}, table.Decimal, "", ""},
		{"n", []string{"+81", "1"}, table.Category, "", "begin with a zero or a plus"},
		{"郵便番号", []string{"1234567", "9876543"}, table.Category, "", "codes"},
		{"zip_code", []string{"12345", "98765"}, table.Category, "", "codes"},
		{"flag", times(10, "0", "1"), table.Category, "", "two whole numbers"},
		{"n", append(times(100, "1", "2", "3"), "abc"), table.Category, "", "1 of its 301 values is no number, the first on line 302; "},
		{"n", []string{`"1,5"`}, table.Category, "", "words"},
		{"n", []string{"", ""}, table.Category, "", "no value"},
		{"n", []string{"inf", "1"}, table.Category, "", "no number"},
		{"n", []string{"0x10", "1"}, table.Category, "", "no number"},
		{"w", []string{"a", "b"}, table.Category, "", "words"},
		{"w", []string{"none", "a"}, table.Category, "", "words"},
		{"d", []string{"2024-02-29", "1950-01-01"}, table.Date, "YYYY-MM-DD", "YYYY-MM-DD"},
		{"d", []string{"2024-02-30", "1950-01-01"}, table.Category, "", ""},
		{"d", []string{"29.02.2024", "NA"}, table.Date, "DD.MM.YYYY", ""},
		{"d", []string{"9.2.2024", "10.12.2024"}, table.Date, "D.M.YYYY", ""},
		{"d", []string{"2024/02/29"}, table.Date, "YYYY/MM/DD", ""},
		{"d", []string{"2024/2/9", "2024/12/10"}, table.Date, "YYYY/M/D", ""},
		{"d", []string{"2024年02月29日"}, table.Date, "YYYY年MM月DD日", ""},
		{"d", []string{"2024年2月9日"}, table.Date, "YYYY年M月D日", ""},
		{"d", []string{"01/02/2024", "01/31/2024"}, table.Date, "MM/DD/YYYY", ""},
		{"d", []string{"01/02/2024", "31/01/2024"}, table.Date, "DD/MM/YYYY", ""},
		{"d", []string{"01/02/2024", "03/04/2024"}, table.Date, "MM/DD/YYYY", "MM/DD/YYYY, and as DD/MM/YYYY too"},
		{"d", []string{"2024-02-29 12:00:01"}, table.Date, "YYYY-MM-DD hh:mm:ss", ""},
		{"d", []string{"2024-02-29T12:00:01Z"}, table.Date, "YYYY-MM-DDThh:mm:ssZ", ""},
		{"d", []string{"2024/2/29 9:05", "2024/2/29 19:05"}, table.Date, "YYYY/M/D h:mm", ""},
		{"admission_date", []string{"20240229", "20231231"}, table.Date, "YYYYMMDD", ""},
		{"n", []string{"20240229", "20231231"}, table.Integer, "", ""},
		{"n", times(6, "20240229", "20231231"), table.Date, "YYYYMMDD", ""},
		{"n", times(6, "99990229", "20231231", "20240101"), table.Integer, "", ""},
		{"pain", []string{"Mild", "Severe", "Mild", "Moderate"}, table.Ordered, "", "well-known scale"},
		{"重症度", []string{"重度", "軽度", "中等度"}, table.Ordered, "", "well-known scale"},
		{"pain", []string{"Mild", "mild", "Severe"}, table.Category, "", ""},
		{"pain", []string{"mild", "severe", "purple"}, table.Category, "", ""},
	} {
		got := one(t, c.name, c.values...)
		if got.Field.Type != c.want || got.Field.Layout != c.layout || !strings.Contains(got.TypeReason.Text, c.reason) {
			t.Errorf("%s %q: got %s %q: %s", c.name, c.values[:min(3, len(c.values))], got.Field.Type, got.Field.Layout, got.TypeReason.Text)
		}
	}
}

func TestScale(t *testing.T) {
	got := one(t, "pain", "severe", "mild", "none", "severe", "NA")
	if d := cmp.Diff([]string{"none", "mild", "severe"}, got.Field.Levels); d != "" {
		t.Error(d)
	}
	if got.Smallest != "none" || got.Largest != "severe" || got.Missing != 1 || got.Records != 4 {
		t.Errorf("got %+v", got)
	}
}

func TestAmbiguousDates(t *testing.T) {
	for _, c := range []struct {
		values []string
		want   []table.Layout
	}{
		{[]string{"01/02/2024", "03/04/2024"}, []table.Layout{"MM/DD/YYYY", "DD/MM/YYYY"}},
		{[]string{"01-02-2024"}, []table.Layout{"DD-MM-YYYY", "MM-DD-YYYY"}},
		{[]string{"1/2/2024", "3/14/2024"}, []table.Layout{"M/D/YYYY"}},
		{[]string{"2024-01-02"}, []table.Layout{"YYYY-MM-DD"}},
	} {
		if got := one(t, "d", c.values...); !slices.Equal(got.Layouts, c.want) {
			t.Errorf("%q: got %v, want %v", c.values, got.Layouts, c.want)
		}
	}
}

func TestCounts(t *testing.T) {
	got := one(t, "n", "3", "10", "NA", "", "-2", "NA", "10", "-")
	want := infer.Column{
		Field:      table.Field{Name: "n", Type: table.Integer},
		TypeReason: got.TypeReason, RoleReason: got.RoleReason,
		Records: 4, Missing: 4, Tokens: []infer.Count{{"NA", 2}, {"", 1}, {"-", 1}},
		Distinct: 3, Smallest: "-2", Largest: "10", Values: []infer.Count{{"10", 2}, {"-2", 1}, {"3", 1}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// A word that may stand for a missing value is one where there are numbers,
// and then in the whole file, as it is for who reads it.
func TestDoubtfulTokens(t *testing.T) {
	report, src := look(t, t.TempDir(), "n,w\n1,none\nnone,a\n2,b\n", infer.Options{})
	defer func() { _ = src.Close() }()
	if d := cmp.Diff([]string{"none"}, report.Missing); d != "" {
		t.Error(d)
	}
	if w := report.Columns[1]; w.Missing != 1 || w.Distinct != 2 || w.Records != 2 {
		t.Errorf("got %+v", w)
	}
	report, src2 := look(t, t.TempDir(), "n,w\n1,none\n3,a\n2,b\n", infer.Options{})
	defer func() { _ = src2.Close() }()
	if w := report.Columns[1]; len(report.Missing) != 0 || w.Missing != 0 || w.Distinct != 3 || w.Smallest != "a" || w.Largest != "none" {
		t.Errorf("got %+v, missing %v", w, report.Missing)
	}
}

func TestSaidMissing(t *testing.T) {
	text := "n\n1\n-9\nNA\n"
	for _, c := range []struct {
		said []string
		want table.Type
		sum  int64
	}{
		{nil, table.Integer, 1},
		{[]string{}, table.Category, 0},
		{[]string{"-9"}, table.Category, 1},
		{[]string{"-9", "NA"}, table.Integer, 2},
	} {
		report, src := look(t, t.TempDir(), text, infer.Options{Missing: c.said})
		if got := report.Columns[0]; got.Field.Type != c.want || got.Missing != c.sum {
			t.Errorf("%q: got %s with %d missing", c.said, got.Field.Type, got.Missing)
		}
		_ = src.Close()
	}
}

func numbered(n int, f func(i int) string) []string {
	values := make([]string, n)
	for i := range values {
		values[i] = f(i)
	}
	return values
}

func TestRoles(t *testing.T) {
	words := numbered(100, func(i int) string { return fmt.Sprintf("w%d", i*7919%100) })
	few := times(25, "a", "b", "c", "d")
	ages := numbered(100, func(i int) string { return fmt.Sprint(20 + i%60) })
	seen := numbered(62, func(i int) string { return fmt.Sprint(10 + i*i%42) })
	visits := numbered(300, func(i int) string { return fmt.Sprintf("P%03d", i/3) })
	for _, c := range []struct {
		name   string
		values []string
		want   table.Role
		reason string
		unit   bool
	}{
		{"x", words, table.Identifier, "every value is different and it is a word", false},
		{"row", numbered(100, func(i int) string { return fmt.Sprint(i) }), table.Identifier, "rise from record to record", false},
		{"Age", ages, table.Quasi, "60 values, typical of what others know", false},
		{"dosage", ages, table.Other, "nothing tells", false},
		{"年齢", ages, table.Quasi, "", false},
		{"性別", few, table.Quasi, "", false},
		{"dateOfBirth", numbered(100, func(i int) string { return table.ISODate.Format(int64(i % 90)) }), table.Quasi, "", false},
		{"生年月日", numbered(100, func(i int) string { return table.ISODate.Format(int64(i)) }), table.Quasi, "", false},
		{"when", numbered(100, func(i int) string { return table.ISODate.Format(int64(i % 90)) }), table.Quasi, "date", false},
		{"native-country", few, table.Quasi, "", false},
		{"salary-class", few, table.Sensitive, "", false},
		{"diagnosis", few, table.Sensitive, "", false},
		{"病名", few, table.Sensitive, "", false},
		{"income", ages, table.Sensitive, "", false},
		{"氏名", words, table.Identifier, "", false},
		{"name", words, table.Identifier, "", false},
		{"email_address", words, table.Identifier, "", false},
		{"住所", words, table.Identifier, "address", false},
		{"住所", few, table.Quasi, "", false},
		{"patient_id", visits, table.Identifier, "a person has several", true},
		{"patient_id", words, table.Identifier, "names a person", false},
		{"患者番号", visits, table.Identifier, "a person has several", true},
		{"患者ID", seen, table.Identifier, "a person has several", true},
		{"患者ＩＤ", seen, table.Identifier, "a person has several", true},
		{"患者No", seen, table.Identifier, "a person has several", true},
		{"職員id", seen, table.Identifier, "a person has several", true},
		{"受診者ID", seen, table.Identifier, "a person has several", true},
		{"ID患者", seen, table.Identifier, "a person has several", true},
		{"record_id", words, table.Identifier, "numbers the records", false},
		{"state_id", few, table.Quasi, "", false},
		{"group", few, table.Other, "nothing tells", false},
		{
			"remarks", numbered(100, func(i int) string { return fmt.Sprintf("spoke to the family of number %d at length", i/2*2+i%2*i) }),
			table.Identifier, "free text", false,
		},
		{"weight_kg", numbered(100, func(i int) string { return fmt.Sprintf("%d.5", 40+i%50) }), table.Quasi, "", false},
		{"measure", numbered(100, func(i int) string { return fmt.Sprintf("%d.5", 4000+i*37%100) }), table.Other, "", false},
	} {
		got := one(t, c.name, c.values...)
		if !strings.HasPrefix(got.RoleReason.Code, "role-") || !strings.HasPrefix(got.TypeReason.Code, "type-") {
			t.Errorf("%s: got the codes %q and %q", c.name, got.TypeReason.Code, got.RoleReason.Code)
		}
		if got.Field.Role != c.want || !strings.Contains(got.RoleReason.Text, c.reason) || got.Unit != c.unit {
			t.Errorf("%s: got %s (unit %v): %s", c.name, got.Field.Role, got.Unit, got.RoleReason.Text)
		}
		for _, v := range c.values {
			if len(v) > 3 && strings.Contains(got.RoleReason.Text+got.TypeReason.Text, v) {
				t.Errorf("%s: a reason holds a value", c.name)
			}
		}
	}
}

// What looks like an identifier is never proposed to be kept, however few its
// values are.
func TestIdentifiersAreNotProposedToBeKept(t *testing.T) {
	for header, values := range map[string][]string{
		"street": {"Elm", "Elm", "Mill"}, "name": {"x", "y", "x", "y"}, "c1": {"John Smith", "Mary Jones", "John Smith"},
		"birth_date": {"1990-01-01", "1990-01-01"}, "blood result mail": {"a@b.example", "c@d.example"}, "credit card": {"12", "13", "12"},
	} {
		if role := one(t, header, values...).Field.Role; role != table.Identifier && role != table.Quasi {
			t.Errorf("%s: %s", header, role)
		}
	}
}

// Beyond the limit distinct values are estimated within four standard errors.
func TestDistinctIsBounded(t *testing.T) {
	const n = 50000
	values := numbered(2*n, func(i int) string { return fmt.Sprintf("v%d", i*7919%n) })
	report, src := look(t, t.TempDir(), "x\n"+strings.Join(values, "\n"), infer.Options{Distinct: 1000})
	defer func() { _ = src.Close() }()
	c := report.Columns[0]
	if !c.Estimated || c.Unique || c.Values != nil {
		t.Errorf("got %+v", c)
	}
	if off := float64(c.Distinct)/n - 1; off < -0.033 || off > 0.033 {
		t.Errorf("%d distinct values were estimated as %d", n, c.Distinct)
	}
	if c.Records != 2*n || report.Rows != 2*n {
		t.Errorf("%d records of %d", c.Records, report.Rows)
	}
	// Rising numbers are known to be unique without being kept.
	rising := numbered(n, func(i int) string { return fmt.Sprint(i) })
	report, src2 := look(t, t.TempDir(), "x\n"+strings.Join(rising, "\n"), infer.Options{Distinct: 1000})
	defer func() { _ = src2.Close() }()
	if c := report.Columns[0]; !c.Unique || c.Estimated || c.Distinct != n {
		t.Errorf("got %+v", c)
	}
}

// What is proposed reads the whole file.
func TestProposalReads(t *testing.T) {
	dir := t.TempDir()
	pools := [][]string{
		{"1", "2", "-3", "NA", "", "none", "+5", "007"},
		{"1.5", "2", "?", "1e5", "NaN", "Inf", "1_0", "0x1"},
		{"2024-01-02", "2024-02-30", "-", "なし", "2024-1-2"},
		{"01/02/2024", "13/02/2024", "02/13/2024", "1/2/2024", ""},
		{"20240102", "20241301", "NA"},
		{"low", "high", "Low", "unknown", "medium", "なし"},
		{"a", "b", "null", "9223372036854775808", "0"},
	}
	rapid.Check(t, func(t *rapid.T) {
		columns := rapid.IntRange(1, 3).Draw(t, "columns")
		rows := rapid.IntRange(0, 30).Draw(t, "rows")
		var text strings.Builder
		w := csv.NewWriter(&text)
		record := make([]string, columns)
		drawn := make([][]string, columns)
		for i := range record {
			record[i] = fmt.Sprintf("c%d", i)
			pool := rapid.SampledFrom(pools).Draw(t, "pool")
			drawn[i] = rapid.SliceOfNDistinct(rapid.SampledFrom(pool), 1, len(pool), rapid.ID).Draw(t, "values")
		}
		_ = w.Write(record)
		for range rows {
			for i := range record {
				record[i] = rapid.SampledFrom(drawn[i]).Draw(t, "value")
			}
			_ = w.Write(record)
		}
		w.Flush()
		report, src := look(t, dir, text.String(), infer.Options{})
		defer func() { _ = src.Close() }()
		got, err := table.Read(context.Background(), src, report.Fields(), table.ReadOptions{Missing: report.Missing})
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range got.Columns {
			if int64(c.Missing()) != report.Columns[i].Missing || int64(got.Rows) != report.Rows || report.Columns[i].Missing+
				report.Columns[i].Records != report.Rows {
				t.Fatalf("column %d: %d missing of %d, reported %+v", i, c.Missing(), got.Rows, report.Columns[i])
			}
			if c.Field.Type == table.Category && int64(len(c.Dict)) != report.Columns[i].Distinct {
				t.Fatalf("column %d: %d distinct, reported %d", i, len(c.Dict), report.Columns[i].Distinct)
			}
		}
	})
}

func TestSomeColumns(t *testing.T) {
	report, src := look(t, t.TempDir(), "a,b,c\n1,x,2\n", infer.Options{Columns: []int{2, 1}})
	defer func() { _ = src.Close() }()
	if len(report.Columns) != 2 || report.Columns[0].Field.Name != "c" || report.Columns[0].Position != 2 ||
		report.Columns[1].Field.Name != "b" {
		t.Errorf("got %+v", report.Columns)
	}
}

func TestErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in.csv")
	if err := os.WriteFile(path, []byte("a,b\n1,2\n3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := file.Open(context.Background(), path, file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	if _, err := infer.Infer(context.Background(), src, infer.Options{}); noren.KindOf(err) != noren.BadData {
		t.Errorf("got %v, want an error of kind bad-data", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := infer.Infer(ctx, src, infer.Options{}); noren.KindOf(err) != noren.Interrupted {
		t.Errorf("got %v, want the context's error", err)
	}
}

// The data sets of the literature, whose columns are known.
func TestKnownData(t *testing.T) {
	dir := os.Getenv("NOREN_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	path := filepath.Join(dir, "adult.csv")
	if _, err := os.Stat(path); err != nil {
		t.Skip("needs adult.csv; say by NOREN_DATA where the data sets are")
	}
	src, err := file.Open(context.Background(), path, file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	report, err := infer.Infer(context.Background(), src, infer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if report.Rows != 30162 || len(report.Missing) != 0 {
		t.Errorf("%d rows, missing %q", report.Rows, report.Missing)
	}
	for _, c := range report.Columns {
		wantType, wantRole := table.Category, table.Quasi
		switch c.Field.Name {
		case "age":
			wantType = table.Integer
		case "salary-class":
			wantRole = table.Sensitive
		}
		if c.Field.Type != wantType || c.Field.Role != wantRole {
			t.Errorf("%s: got %s, %s: %s", c.Field.Name, c.Field.Type, c.Field.Role, c.RoleReason.Text)
		}
	}
}

func ExampleInfer() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "visits.csv")
	if err := os.WriteFile(path, []byte("age,admitted,diagnosis\n34,29.02.2024,J45\nNA,01.03.2024,E11\n34,01.03.2024,J45\n"),
		0o600); err != nil {
		panic(err)
	}
	ctx := context.Background()
	src, err := file.Open(ctx, path, file.Options{})
	if err != nil {
		panic(err)
	}
	defer func() { _ = src.Close() }()
	report, err := infer.Infer(ctx, src, infer.Options{})
	if err != nil {
		panic(err)
	}
	for _, c := range report.Columns {
		fmt.Println(c.Field.Name)
		fmt.Println(" ", c.TypeReason.Text)
		fmt.Println(" ", c.RoleReason.Text)
	}
	fmt.Println("missing:", report.Missing)
	// Output:
	// age
	//   integer: all its values are whole numbers
	//   quasi-identifier: 1 value, typical of what others know by its name
	// admitted
	//   date: all its values read as DD.MM.YYYY
	//   quasi-identifier: it is a date, and dates are what others know
	// diagnosis
	//   category: its values are words
	//   sensitive: its name says that it tells what a person would not want known; 2 values
	// missing: [NA]
}

func TestNearlyAllOfAType(t *testing.T) {
	dates := func(n int, odd string, at int) []string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf("2024-%02d-%02d", i%12+1, i%28+1))
		}
		all[at] = odd
		return all
	}
	us := func(odd string, at int) []string {
		var all []string
		for i := range 40 {
			all = append(all, fmt.Sprintf("%02d/%02d/2020", i%12+1, i%28+1))
		}
		all[at] = odd
		return all
	}
	amounts := func(odd string, at int) []string {
		var all []string
		for i := range 40 {
			all = append(all, fmt.Sprintf("¥%d,%03d", i+1, i))
		}
		all[at] = odd
		return all
	}
	compact := []string{"20240105", "20231231", "20240230", "20240117"}
	for _, c := range []struct {
		name   string
		values []string
		want   string
	}{
		{
			"visit", dates(40, "2024-02-30", 0),
			"1 of its 40 values is no valid date written as YYYY-MM-DD, the first on line 2; correct it in the file",
		},
		{"visit", dates(40, "2024-02-30", 7), "line 9"},
		{"visit", dates(40, "2024-02-30", 39), "line 41"},
		{"n", dates(4, "13/45/2020", 1), "1 of its 4 values is no valid date"},
		{"n", us("13/45/2020", 30), "written as MM/DD/YYYY, the first on line 32"},
		{"n", us("25/01/2020", 2), "written as MM/DD/YYYY, the first on line 4"},
		{
			"n", slices.Concat(dates(700, "2024-04-31", 600), []string{"x", "不明"}),
			"2 of its 701 values are no valid dates written as YYYY-MM-DD, the first on line 602",
		},
		{"visit", compact, "1 of its 4 values is no valid date written as YYYYMMDD, the first on line 4"},
		{"n", []string{"1", "2", "4O", "7"}, "1 of its 4 values is no number, the first on line 4"},
		{"n", slices.Concat(times(10, "1", "2", "3"), []string{"4O"}), "1 of its 31 values is no number"},
		// Without the others the column would be text all the same.
		{"n", slices.Concat(times(10, "0", "1"), []string{"x"}), "its values are words"},
		{"zip", slices.Concat(times(10, "00123", "00456", "00789"), []string{"0O123"}), "its values are words"},
		{"code", slices.Concat(times(10, "1001", "1002", "1003"), []string{"1O04"}), "its values are words"},
		{"code", slices.Concat(times(10, "1,001", "1,002", "1,003"), []string{"1O,004"}), "its values are words"},
		{"n", slices.Concat(times(10, "00,001", "00,002", "00,003"), []string{"1O,000"}), "its values are words"},
		{
			"n", slices.Concat(times(10, "20240105", "20231231", "20240117"), []string{"2024O105"}),
			"1 of its 31 values is no valid date written as YYYYMMDD",
		},
		{"n", amounts("¥1O,000", 0), "1 of its 40 values is no number written as ¥1,234, the first on line 2"},
		{"n", amounts("¥1O,000", 20), "the first on line 22"},
		{"n", []string{"a", "b", "1"}, "its values are words"},
		{"n", []string{"a", "b", "2024-01-02"}, "its values are words"},
		{"n", times(20, "a", "2024-01-02", "b"), "its values are words"},
	} {
		values := make([]string, len(c.values))
		for i, v := range c.values {
			values[i] = `"` + v + `"`
		}
		dir := t.TempDir()
		report, src := look(t, dir, c.name+"\n"+strings.Join(values, "\n")+"\n", infer.Options{Formats: true})
		col := report.Columns[0]
		_ = src.Close()
		if got := strings.ReplaceAll(col.TypeReason.Text, dir+"/", ""); col.Field.Type != table.Category || !strings.Contains(got, c.want) {
			t.Errorf("%s %v ...: %s, want %q", c.name, c.values[:3], got, c.want)
		}
	}
	// Numbers of records are no dates, even where most could be.
	if col := one(t, "record", "20240105", "20231231", "20240230", "20240117"); col.Field.Type != table.Integer {
		t.Errorf("numbers: %s", col.TypeReason.Text)
	}
	// Dates but for one are what others know, as dates are.
	if col := one(t, "n", dates(40, "2024-02-30", 0)...); col.Field.Role != table.Quasi {
		t.Errorf("role: %s", col.RoleReason.Text)
	}
}
