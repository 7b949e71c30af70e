package dataset

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
)

func TestInspect(t *testing.T) {
	d := complete(t, Definition{
		Missing: []string{"NA"}, Unit: "who",
		Columns: []Column{
			{Name: "age", Type: "integer"},
			{Name: "diag", Type: "ordered", Levels: []string{"none", "flu"}},
			{Name: "who", Type: "integer"},
		},
	})
	text := "who,age,diag\n07,1,none\n7,x,flu\n7,NA,s3cr3t\n\n\"7\",,\"two\nlines\"\n,2,none\n7 ,1e3,\nNA,0x1,NONE\n"
	for _, k := range []string{"1.5", "two", "3 "} {
		text += "9," + k + ",none\n"
	}
	got, err := Inspect(bg, openString(t, text, d), d, InspectOptions{Keys: testKeys})
	if err != nil {
		t.Fatal(err)
	}
	want := &Review{
		Records: 10, WithoutUnit: 2, LargestUnit: 3, Identity: got.Identity,
		Columns: []ColumnReview{
			{"age", "integer", 6, 2, []int64{2, 6, 7, 8, 9}, []string{
				"in.csv: line 3, column 2 (age)", "in.csv: line 9, column 2 (age)", "in.csv: line 10, column 2 (age)",
				"in.csv: line 11, column 2 (age)", "in.csv: line 12, column 2 (age)",
			}},
			{"diag", "ordered", 3, 1, []int64{3, 4, 7}, []string{
				"in.csv: line 4, column 3 (diag)", "in.csv: line 6, column 3 (diag)",
				"in.csv: line 10, column 3 (diag)",
			}},
			{"who", "integer", 1, 2, []int64{6}, []string{"in.csv: line 9, column 1 (who)"}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if cells, columns := got.Misfits(); cells != 10 || columns != 3 || len(got.Prints) != 3 {
		t.Errorf("%d cells, %d columns, %d prints", cells, columns, len(got.Prints))
	}
	if out, err := json.Marshal(got); err != nil || strings.Contains(string(out), "s3cr3t") {
		t.Errorf("%s, %v", out, err)
	}
}

// In the column of a model no cell is lost, and a review counts those that are no
// state.
func TestModelColumn(t *testing.T) {
	d := complete(t, Definition{
		Missing: []string{"NA"}, Neighbours: "replace-one", Records: 5, Columns: []Column{{Name: "s"}, {Name: "t"}},
		Model: &Model{Column: "s", States: []string{"off", "on", "high"}, Other: "on", Distribution: json.RawMessage(`{}`)},
	})
	const text = "s,t\nhigh,1\nNA,2\n,3\nHigh,4\noff,5\n"
	tab, _, err := Read(bg, openString(t, text, d), d, d.Fields(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if c := tab.Columns[0]; c.Missing() != 0 || !slices.Equal(c.Codes, []uint32{2, 1, 1, 1, 0}) || !slices.Equal(c.Dict, d.Model.States) {
		t.Errorf("%v of %v, %d missing", c.Codes, c.Dict, c.Missing())
	}
	got, err := Inspect(bg, openString(t, text, d), d, InspectOptions{Keys: testKeys})
	if err != nil || got.Columns[0].Misfits != 1 || got.Columns[0].Missing != 2 || !slices.Equal(got.Columns[0].First, []int64{4}) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, n := range []string{"s,t\nhigh,1\n", text + "on,6\n"} {
		if _, err := Inspect(bg, openString(t, n, d), d, InspectOptions{Keys: testKeys}); noren.CodeOf(err) != "structure" ||
			noren.KindOf(err) != noren.BadData {
			t.Errorf("another number of records: %v", err)
		}
		if tab, _, err := Read(bg, openString(t, n, d), d, d.Fields(), nil); err != nil || tab.Rows == 5 {
			t.Errorf("Read counts: %v", err)
		}
	}
}

// What Inspect counts is what Read makes of the file.
func TestInspectAgreesWithRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawDefinition(t, rapid.SampledFrom([]string{kindCSV, kindParquet}).Draw(t, "kind"))
		g := drawGrid(t, d, rapid.IntRange(1, 20).Draw(t, "rows"), d.File.Kind == kindParquet)
		if d.Records > 0 {
			d.Records, d.AtMost = int64(len(g.rows)), int64(len(g.rows))
		}
		review, err := Inspect(bg, sourceOf(t, d, g), d, InspectOptions{Keys: testKeys})
		if err != nil {
			t.Fatal(err)
		}
		tab, prints, err := Read(bg, sourceOf(t, d, g), d, d.Fields(), &testKeys)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range tab.Columns {
			r := review.Columns[i]
			if r.Name != c.Field.Name || d.Model != nil && d.Model.Column == r.Name {
				continue
			}
			if r.Missing+r.Misfits != int64(c.Missing()) || len(r.First) != int(min(r.Misfits, 5)) || len(r.Lines) != len(r.First) {
				t.Fatalf("%+v, and %d are missing", r, c.Missing())
			}
			for _, n := range r.First {
				if !c.IsMissing(int(n - 1)) {
					t.Fatalf("record %d of %s has a value", n, r.Name)
				}
			}
		}
		if diff := cmp.Diff(review.Prints, prints); diff != "" {
			t.Fatal(diff)
		}
		if u := tab.Unit; u != nil {
			count := map[uint32]int64{}
			for i, code := range u.Codes {
				if !u.IsMissing(i) {
					count[code]++
				}
			}
			largest := int64(0)
			for _, n := range count {
				largest = max(largest, n)
			}
			if review.WithoutUnit != int64(u.Missing()) || review.LargestUnit != largest {
				t.Fatalf("%d without a unit, largest %d; want %d, %d", review.WithoutUnit, review.LargestUnit, u.Missing(), largest)
			}
		}
	})
}

func TestStructure(t *testing.T) {
	d := complete(t, Definition{Columns: []Column{{Name: "a", Type: "integer"}, {Name: "b"}}, AtMost: 3})
	for name, c := range map[string]struct{ text, want string }{
		"ragged":            {"a,b\n1,2\n1\n", "line 3: 1 field, expected 2"},
		"a column more":     {"a,b,c\n1,2,3\n", `a column "c"`},
		"a column less":     {"a\n1\n", `no column "b"`},
		"an open quote":     {"a,b\n1,\"2\n", "never closed"},
		"not UTF-8":         {"a,b\n1,\x93\xfa\n", "not UTF-8"},
		"NUL":               {"a,b\n1," + strings.Repeat("x", 2000) + "\x00\n", "NUL"},
		"a lone CR":         {"a,b\n1,2\r3,4\n", "carriage return"},
		"too many records":  {"a,b\n" + strings.Repeat("1,2\n", 4), "at most 3 records"},
		"many more records": {"a,b\n" + strings.Repeat("1,2\n", 40_000), "at most 3 records"},
	} {
		src := openString(t, c.text, d)
		_, err := Inspect(bg, src, d, InspectOptions{Keys: testKeys})
		if noren.KindOf(err) != noren.BadData || noren.CodeOf(err) != "structure" || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Inspect(bg, openString(t, "a,b\n"+strings.Repeat("x,\n", 3), d), d, InspectOptions{Keys: testKeys}); err != nil {
		t.Errorf("cells that do not fit are no structure fault: %v", err)
	}
	for _, text := range []string{"a,a\n1,2\n", "a,\n1,2\n"} {
		if _, err := Open(bg, newMemory([]byte(text)), "in.csv", d); noren.CodeOf(err) != "structure" {
			t.Errorf("%q: %v", text, err)
		}
	}
	big := &grid{[]string{"a", "b"}, [][]*string{{ptr("1"), ptr(strings.Repeat("x", maxCell+1))}}}
	if _, err := Inspect(bg, &cellSource{big}, d, InspectOptions{Keys: testKeys}); noren.CodeOf(err) != "structure" {
		t.Errorf("a cell of more than 16 MiB: %v", err)
	}
}

// A column of days of a typed file reads as ISO text, and its layout is pinned.
func TestDays(t *testing.T) {
	date := table.Date
	show := func(dst []byte, v *table.Vector, i int) []byte { return table.ISODate.AppendFormat(dst, v.Ints[i]) }
	src := &typedSource{
		column: table.StoredColumn{Name: "day", Kind: table.Int, Proposed: &date, AppendText: show},
		v:      table.Vector{Kind: table.Int, Ints: []int64{0, 19782, 1e7}},
	}
	d := complete(t, Definition{File: File{Kind: "parquet"}, Columns: []Column{{Name: "day", Type: "date"}}})
	tab, _, err := Read(bg, src, d, d.Fields(), nil)
	if err != nil || !slices.Equal(tab.Columns[0].Ints, []int64{0, 19782, 0}) || tab.Columns[0].Missing() != 1 {
		t.Errorf("%+v, %v", tab, err)
	}
	got, err := Inspect(bg, src, d, InspectOptions{Keys: testKeys})
	if err != nil || got.Columns[0].Misfits != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	other := complete(t, Definition{File: File{Kind: "parquet"}, Columns: []Column{{Name: "day", Type: "date", Layout: "DD.MM.YYYY"}}})
	if _, err := Inspect(bg, src, other, InspectOptions{Keys: testKeys}); noren.CodeOf(err) != "structure" ||
		!strings.Contains(err.Error(), "YYYY-MM-DD") {
		t.Error(err)
	}
	// A value that its file cannot show is an error and no panic.
	src.column.AppendText = func([]byte, *table.Vector, int) []byte { panic("damaged") }
	if _, err := Inspect(bg, src, d, InspectOptions{Keys: testKeys}); noren.CodeOf(err) != "structure" {
		t.Error(err)
	}
	if _, _, err := Read(bg, src, d, d.Fields(), nil); noren.CodeOf(err) != "structure" {
		t.Error(err)
	}
	if _, err := TablePrint(bg, src, []Keys{testKeys}); noren.CodeOf(err) != "structure" {
		t.Error(err)
	}
}

// typedSource is a file of one typed column.
type typedSource struct {
	cellSource
	column table.StoredColumn
	v      table.Vector
}

func (s *typedSource) Columns() []table.StoredColumn { return []table.StoredColumn{s.column} }

func (s *typedSource) Open(context.Context, []int) (table.Reader, error) {
	return &typedReader{typedSource: s}, nil
}

type typedReader struct {
	*typedSource
	ended bool
}

func (r *typedReader) Position(int, int) noren.Place { return noren.Place{"somewhere"} }
func (r *typedReader) Progress() float64             { return 0 }
func (r *typedReader) Next() (*table.Chunk, error) {
	if r.ended {
		return nil, io.EOF
	}
	r.ended = true
	return &table.Chunk{Rows: len(r.v.Ints), Cols: []table.Vector{r.v}}, nil
}

func TestPropose(t *testing.T) {
	const text = "id;day;x;diag;rank\n"
	rows := ""
	for i := range 12 {
		rows += fmt.Sprintf("%d;%02d.01.2024;%d.5;%s;%d\n", i, 13+i, i, []string{"flu", "none", "NA"}[i%3], i)
	}
	loose := File{Delimiter: ";"}
	src := openString(t, text+rows, &Definition{File: loose, Columns: []Column{{Name: "id"}}})
	got, err := Propose(bg, src, ProposeOptions{
		Fields: []table.Field{{Name: "rank", Type: table.Ordered, Levels: []string{"1", "0"}}},
		Unit:   "id",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := complete(t, Definition{
		File: loose, Missing: []string{"NA"}, Unit: "id",
		Columns: []Column{
			{Name: "id", Type: "integer"},
			{Name: "day", Type: "date", Layout: "DD.MM.YYYY"},
			{Name: "x", Type: "decimal"},
			{Name: "diag", Type: "category"},
			{Name: "rank", Type: "ordered", Levels: []string{"1", "0"}},
		},
	})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// Texts that are levels are not proposed as missing; given ones are kept.
	got, err = Propose(bg, src,
		ProposeOptions{Fields: []table.Field{{Name: "diag", Type: table.Ordered, Levels: []string{"none", "flu", "NA"}}}})
	if err != nil || len(got.Missing) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	got, err = Propose(bg, src, ProposeOptions{Missing: []string{"none"}})
	if err != nil || !slices.Equal(got.Missing, []string{"none"}) {
		t.Errorf("%+v, %v", got, err)
	}
	// A model: its column by its states, its number of records from the file.
	got, err = Propose(bg, src, ProposeOptions{Neighbours: "replace-one", Model: &Model{
		Column: "diag", States: []string{"none", "flu"},
		Distribution: json.RawMessage(`{}`),
	}})
	if err != nil || got.Records != 12 || got.AtMost != 12 || got.Column("diag").Type != "ordered" || slices.Contains(got.Missing, "none") {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := Propose(bg, src, ProposeOptions{Fields: []table.Field{{Name: "dia"}}}); noren.CodeOf(err) != "column-missing" {
		t.Error(err)
	}
	g := newGrid([]string{"a"}, []string{"x"}, []string{"y"})
	parquet := openBytes(t, g.write(t, "in.parquet", csvio.Dialect{}), &Definition{File: File{Kind: "parquet"}})
	got, err = Propose(bg, parquet, ProposeOptions{Fields: []table.Field{{Name: "a"}}, Missing: []string{}, Neighbours: "replace-one"})
	if err != nil || got.File != (File{Kind: "parquet"}) || got.Records != 2 {
		t.Errorf("%+v, %v", got, err)
	}
}
