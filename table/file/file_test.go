package file_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/file"
)

func put(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t testing.TB, path string) file.Source {
	t.Helper()
	src, err := file.Open(context.Background(), path, file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = src.Close() })
	return src
}

var fields = []table.Field{
	{Name: "age", Type: table.Integer},
	{Name: "day", Type: table.Date, Layout: "DD.MM.YYYY"},
	{Name: "income", Type: table.Decimal},
	{Name: "level", Type: table.Ordered, Levels: []string{"low", "high"}},
	{Name: "sex", Type: table.Category},
}

const visits = `sex,age,income,day,level,note
M,34,1.50,29.02.2024,low,x
F,NA,2,01.01.1970,high,
,57,,NA,NA,y
`

func TestRead(t *testing.T) {
	src := open(t, put(t, "visits.csv", visits))
	got, err := table.Read(context.Background(), src, fields, table.ReadOptions{Missing: []string{"NA"}})
	if err != nil {
		t.Fatal(err)
	}
	if got.Rows != 3 || len(got.Columns) != len(fields) {
		t.Fatalf("%d rows, %d columns", got.Rows, len(got.Columns))
	}
	for i, c := range got.Columns {
		if c.Field.Name != fields[i].Name || c.Len() != 3 {
			t.Errorf("column %d is %s with %d records", i, c.Field.Name, c.Len())
		}
	}
	check := func(what string, got, want any) {
		t.Helper()
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got) %s", what, d)
		}
	}
	age, day, income, level, sex := got.Columns[0], got.Columns[1], got.Columns[2], got.Columns[3], got.Columns[4]
	check("age", age.Ints, []int64{34, 0, 57})
	check("day", day.Ints, []int64{19782, 0, 0})
	check("income", income.Floats, []float64{1.5, 2, 0})
	check("places", income.Places, 2)
	check("level", level.Codes, []uint32{0, 1, 0})
	check("sex", []any{sex.Dict, sex.Codes}, []any{[]string{"F", "M"}, []uint32{1, 0, 0}})
	for i, c := range got.Columns {
		want := [][]bool{{false, true, false}, {false, false, true}, {false, false, true}, {false, false, true}, {false, false, true}}[i]
		for j := range want {
			if c.IsMissing(j) != want[j] {
				t.Errorf("%s, record %d: missing is %v", c.Field.Name, j, c.IsMissing(j))
			}
		}
	}
}

// The first bad value by record, then by column, whatever the order of work.
func TestReadRefuses(t *testing.T) {
	var text strings.Builder
	text.WriteString("a,b,c\n")
	for i := range 20000 {
		switch i {
		case 15000:
			text.WriteString("1,s3cr3t,s3cr3t\n")
		case 15001:
			text.WriteString("s3cr3t,1,1\n")
		default:
			fmt.Fprintf(&text, "%d,%d,%d\n", i, i, i)
		}
	}
	src := open(t, put(t, "in.csv", text.String()))
	for range 20 {
		_, err := table.Read(context.Background(), src, []table.Field{
			{Name: "a", Type: table.Integer},
			{Name: "c", Type: table.Decimal},
			{Name: "b", Type: table.Integer},
		}, table.ReadOptions{})
		if noren.KindOf(err) != noren.BadData || !strings.Contains(err.Error(), "line 15002, column 3 (c): expected a number") ||
			strings.Contains(err.Error(), "s3cr3t") {
			t.Fatalf("got %v", err)
		}
	}
	for name, f := range map[string]table.Field{
		"absent":            {Name: "d"},
		"no levels":         {Name: "a", Type: table.Ordered},
		"impossible layout": {Name: "a", Type: table.Date, Layout: "MM"},
	} {
		if _, err := table.Read(context.Background(), src, []table.Field{f}, table.ReadOptions{}); noren.KindOf(err) != noren.Usage {
			t.Errorf("%s: got %v, want an error of kind usage", name, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := table.Read(ctx, src, nil, table.ReadOptions{}); noren.KindOf(err) != noren.Interrupted {
		t.Errorf("got %v, want the context's error", err)
	}
}

// A table goes from text to Parquet and back, and is the same.
func TestThroughParquet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.parquet")
	src := open(t, put(t, "visits.csv", visits))
	copyTo(t, src, path)
	back := filepath.Join(t.TempDir(), "back.csv")
	copyTo(t, open(t, path), back)
	got, err := os.ReadFile(back)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(visits, string(got)); d != "" {
		t.Error(d)
	}
}

func copyTo(t *testing.T, src table.Source, path string) {
	t.Helper()
	r, err := src.Open(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	out, err := file.Create(path, src.Columns(), file.DialectFor(path, src))
	if err != nil {
		t.Fatal(err)
	}
	for {
		c, err := r.Next()
		if err != nil {
			break
		}
		if err := out.Write(c); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}

// Columns that a file types itself: whole numbers, days in another layout,
// numbers that are not finite.
func TestReadTyped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in.parquet")
	columns := []table.StoredColumn{{Name: "n", Kind: table.Int, Nullable: true}, {Name: "x", Kind: table.Float}}
	out, err := file.Create(path, columns, csvio.Dialect{})
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(out.Write(&table.Chunk{Rows: 3, Cols: []table.Vector{
		{Kind: table.Int, Ints: []int64{-9, 2, 3}, Null: []bool{false, true, false}},
		{Kind: table.Float, Floats: []float64{0.25, math.NaN(), 3}},
	}}), out.Close())
	if err != nil {
		t.Fatal(err)
	}
	src := open(t, path)
	for _, missing := range [][]string{nil, {"-9"}} {
		got, err := table.Read(context.Background(), src, []table.Field{{Name: "n", Type: table.Integer}}, table.ReadOptions{Missing: missing})
		if err != nil {
			t.Fatal(err)
		}
		c := got.Columns[0]
		if !c.IsMissing(1) || c.IsMissing(0) != (missing != nil) || c.Ints[2] != 3 {
			t.Errorf("missing %v: got %v, %d missing", missing, c.Ints, c.Missing())
		}
	}
	_, err = table.Read(context.Background(), src, []table.Field{{Name: "x", Type: table.Decimal}}, table.ReadOptions{})
	if noren.KindOf(err) != noren.BadData || !strings.Contains(err.Error(), "record 2, column 2 (x): expected a finite number") {
		t.Errorf("got %v", err)
	}
	got, err := table.Read(context.Background(), src, []table.Field{{Name: "x", Type: table.Decimal}},
		table.ReadOptions{Missing: []string{"NaN"}})
	if err != nil || got.Columns[0].Places != 2 || got.Columns[0].Missing() != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestReadText(t *testing.T) {
	got, err := table.ReadText(context.Background(), open(t, put(t, "visits.csv", visits)), nil, table.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Columns) != 6 {
		t.Fatalf("%d columns", len(got.Columns))
	}
	if d := cmp.Diff([]string{"34", "57", "NA"}, got.Column("age").Dict); d != "" {
		t.Error(d)
	}
}

func TestStdin(t *testing.T) {
	src, err := file.OpenStdin(context.Background(), strings.NewReader(visits), file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	for range 2 {
		got, err := table.Read(context.Background(), src, fields, table.ReadOptions{Missing: []string{"NA"}})
		if err != nil || got.Rows != 3 {
			t.Fatalf("got %v, %v", got, err)
		}
	}
	_, err = file.OpenStdin(context.Background(), strings.NewReader(""), file.Options{})
	if noren.KindOf(err) != noren.BadData || !strings.HasPrefix(err.Error(), "standard input: ") {
		t.Errorf("got %v", err)
	}
}

func TestProgress(t *testing.T) {
	var last int64 = -1
	_, err := table.Read(context.Background(), open(t, put(t, "visits.csv", visits)), fields,
		table.ReadOptions{Missing: []string{"NA"}, Progress: func(stage string, done, total int64) {
			if stage != "reading" || total != 1000 || done < last {
				t.Errorf("%s %d of %d after %d", stage, done, total, last)
			}
			last = done
		}})
	if err != nil || last != 1000 {
		t.Errorf("ended at %d, %v", last, err)
	}
}

func TestNames(t *testing.T) {
	for _, name := range []string{"a.csv", "a.TSV", "a.txt.gz", "a.csv.zst", "a.parquet", "a.XLSX", "-", ""} {
		if err := file.Check(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"a.xlsm", "a.ods", "a", "a.gz", "csv", "pg:a"} {
		if err := file.Check(name); noren.KindOf(err) != noren.Usage {
			t.Errorf("%q: got %v, want an error of kind usage", name, err)
		}
		if _, err := file.Create(filepath.Join(t.TempDir(), name), []table.StoredColumn{{Name: "a"}},
			csvio.Dialect{}); noren.KindOf(err) != noren.Usage {
			t.Errorf("%q: got %v, want an error of kind usage", name, err)
		}
	}
	semicolons := open(t, put(t, "in.csv", "\ufeffa;b\r\n1;2\r\n"))
	tabs := open(t, put(t, "in.tsv", "a\tb\n1\t2\n"))
	for _, c := range []struct {
		name string
		like table.Source
		want csvio.Dialect
	}{
		{"out.csv", nil, csvio.Dialect{Delimiter: ',', Encoding: csvio.UTF8}},
		{"out.csv.gz", semicolons, csvio.Dialect{Delimiter: ';', Encoding: csvio.UTF8, BOM: true, CRLF: true, Compression: csvio.Gzip}},
		{"out.tsv", semicolons, csvio.Dialect{Delimiter: '\t', Encoding: csvio.UTF8, BOM: true, CRLF: true}},
		{"-", tabs, csvio.Dialect{Delimiter: '\t', Encoding: csvio.UTF8}},
		{"out.csv", tabs, csvio.Dialect{Delimiter: ',', Encoding: csvio.UTF8}},
	} {
		if got := file.DialectFor(c.name, c.like); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
	for name, kind := range map[string]noren.Kind{"absent.csv": noren.Usage, "absent.parquet": noren.Usage, ".": noren.Usage} {
		if _, err := file.Open(context.Background(), filepath.Join(t.TempDir(), name), file.Options{}); noren.KindOf(err) != kind {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := file.Open(context.Background(), put(t, "in.parquet", "a,b\n1,2\n"), file.Options{}); noren.KindOf(err) != noren.BadData {
		t.Errorf("text by the name of .parquet: got %v", err)
	}
}

func ExampleRead() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "visits.csv")
	if err := os.WriteFile(path, []byte("age,sex\n34,M\n?,F\n"), 0o600); err != nil {
		panic(err)
	}
	ctx := context.Background()
	src, err := file.Open(ctx, path, file.Options{})
	if err != nil {
		panic(err)
	}
	defer func() { _ = src.Close() }()
	t, err := table.Read(ctx, src, []table.Field{{Name: "sex"}, {Name: "age", Type: table.Integer}}, table.ReadOptions{Missing: []string{"?"}})
	if err != nil {
		panic(err)
	}
	sex, age := t.Columns[0], t.Columns[1]
	fmt.Println(sex.Dict, sex.Codes)
	fmt.Println(age.Ints, age.Missing(), "missing")
	// Output:
	// [F M] [1 0]
	// [34 0] 1 missing
}

// A file that exists is not replaced, and one that was not finished is removed.
func TestCreate(t *testing.T) {
	there := put(t, "there.csv", "mine")
	columns := []table.StoredColumn{{Name: "a"}}
	if _, err := file.Create(there, columns, csvio.Dialect{}); noren.KindOf(err) != noren.Usage {
		t.Errorf("got %v, want an error of kind usage for a file that exists", err)
	}
	if got, _ := os.ReadFile(there); string(got) != "mine" {
		t.Error("a file that existed was changed")
	}
	for _, ending := range []string{".csv", ".parquet", ".xlsx"} {
		chunk := &table.Chunk{Rows: 1, Cols: []table.Vector{{Texts: [][]byte{[]byte("x")}}}}
		for name, end := range map[string]func(s table.Sink) error{
			"finished": func(s table.Sink) error { return errors.Join(s.Write(chunk), s.Close()) },
			"aborted":  func(s table.Sink) error { err := s.Write(chunk); s.Abort(); return err },
			"failed": func(s table.Sink) error {
				if err := s.Write(&table.Chunk{Rows: 1, Cols: []table.Vector{{Texts: [][]byte{[]byte("\xff\x00")}}}}); err == nil {
					t.Errorf("%s: bytes that are no text were written", ending)
				}
				if err := s.Close(); err == nil {
					t.Errorf("%s: Close forgets the error", ending)
				}
				return nil
			},
		} {
			path := filepath.Join(t.TempDir(), "out"+ending)
			s, err := file.Create(path, columns, csvio.Dialect{})
			if err != nil {
				t.Fatal(err)
			}
			if err := end(s); err != nil {
				t.Errorf("%s, %s: %v", ending, name, err)
			}
			if info, err := os.Stat(path); (err == nil) != (name == "finished") || err == nil && info.Mode().Perm() != 0o600 {
				t.Errorf("%s, %s: %v, %v", ending, name, info, err)
			}
		}
	}
	for _, columns := range [][]table.StoredColumn{nil, {{Name: ""}}} {
		path := filepath.Join(t.TempDir(), "out.parquet")
		if _, err := file.Create(path, columns, csvio.Dialect{}); err == nil {
			t.Errorf("columns %v were taken", columns)
		}
		if _, err := os.Stat(path); err == nil {
			t.Error("a file without columns was left")
		}
	}
}

func TestPlace(t *testing.T) {
	dir := t.TempDir()
	odd := filepath.Join(dir, "odd.xlsx?sheet=1")
	if err := os.WriteFile(odd, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"visits.csv": "visits.csv", "visits.xlsx": "visits.xlsx", "visits.xlsx?sheet=2024%20a&header=3": "visits.xlsx",
		"sqlite:a/clinic.db?table=visits": "a/clinic.db", "pg:visits": "", "-": "-", "v?.xlsx": "v?.xlsx", odd: odd,
	} {
		if got := file.Place(path); got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
	for path, want := range map[string]bool{
		"visits.xlsx?sheet=2": false, "v?.xlsx": true, "v*.csv": true, "-": false, "pg:a*": false, "sqlite:a.db?table=b": false, dir: true,
		odd: false,
	} {
		if got := file.IsParts(path); got != want {
			t.Errorf("%s: several files %v, want %v", path, got, want)
		}
	}
}

// A workbook is read whole when it is opened, and says how far it is.
func TestProgressOfOpening(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.xlsx")
	sink, err := file.Create(path, []table.StoredColumn{{Name: "a", Kind: table.Int}}, csvio.Dialect{})
	if err != nil {
		t.Fatal(err)
	}
	const rows = 5000
	if err := sink.Write(&table.Chunk{Rows: rows, Cols: []table.Vector{{Kind: table.Int, Ints: make([]int64, rows)}}}); err != nil {
		t.Fatal(err)
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	calls := 0
	src, err := file.Open(t.Context(), path, file.Options{Progress: func(stage string, done, total int64) {
		calls++
		if stage != "reading" || done < 1 || done > rows || total != 0 {
			t.Errorf("%s %d of %d", stage, done, total)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := src.Close(); err != nil || calls == 0 {
		t.Errorf("%d reports, %v", calls, err)
	}
}
