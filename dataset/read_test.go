package dataset

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/file"
)

// reference is the cell rule noren.reading/1, written down a second time without
// package table's parsers: the value as a text, and ok false for missing.
func reference(d *Definition, c *Column, cell *string) (value string, ok bool) {
	missing := cell == nil || *cell == "" || slices.Contains(d.Missing, *cell)
	if d.Model != nil && d.Model.Column == c.Name {
		if missing || !slices.Contains(d.Model.States, *cell) {
			return strconv.Itoa(slices.Index(d.Model.States, d.Model.Other)), true
		}
		return strconv.Itoa(slices.Index(d.Model.States, *cell)), true
	}
	if missing {
		return "", false
	}
	only := func(s, set string) bool { return strings.Trim(s, set) == "" }
	switch c.Type {
	case "integer":
		v, err := strconv.ParseInt(*cell, 10, 64)
		return strconv.FormatInt(v, 10), err == nil && only(*cell, "0123456789+-")
	case "decimal":
		v, err := strconv.ParseFloat(*cell, 64)
		return strconv.FormatFloat(v+0, 'g', -1, 64), err == nil && only(*cell, "0123456789+-.eE")
	case "date": // the layout of these tests is YYYY-MM-DD
		v, err := time.Parse("2006-01-02", *cell)
		return strconv.FormatInt(v.Unix()/86400, 10), err == nil && len(*cell) == 10
	case "ordered":
		i := slices.Index(c.Levels, *cell)
		return strconv.Itoa(i), i >= 0
	}
	return *cell, true
}

// shown is record i of a column that was read.
func shown(c *table.Column, i int) (value string, ok bool) {
	switch {
	case c.IsMissing(i):
		return "", false
	case c.Field.Type == table.Category:
		return c.Dict[c.Codes[i]], true
	case c.Field.Type == table.Ordered:
		return strconv.Itoa(int(c.Codes[i])), true
	case c.Floats != nil:
		return strconv.FormatFloat(c.Floats[i]+0, 'g', -1, 64), true
	}
	return strconv.FormatInt(c.Ints[i], 10), true
}

var cellTexts = []string{
	"", "NA", "?", "0", "1", "07", "7", "-3", "+5", "1.50", "1e3", "1e999", "NaN", "inf", "0x10", "1_000", " 1", "1 ",
	"12345678901234567", "12345678901234568", "9223372036854775808", "2024-02-29", "2023-02-29", "24-1-1", "low", "high", "Low",
	"none", "a,b", "a;b", `say "x"`, "two\nlines", "日本", "ｱ", "0000-01-01", "9999-12-31", "-", ".", "é",
}

// drawCell draws a text; bytes asks for any bytes, which only a typed file can hold.
func drawCell(t *rapid.T, bytes bool) *string {
	if bytes {
		switch rapid.IntRange(0, 9).Draw(t, "kind of cell") {
		case 0:
			return nil
		case 1, 2:
			s := string(rapid.SliceOfN(rapid.Byte(), 0, 12).Draw(t, "bytes"))
			return &s
		}
	}
	s := rapid.SampledFrom(cellTexts).Draw(t, "cell")
	return &s
}

// drawDefinition draws a definition of up to five columns.
func drawDefinition(t *rapid.T, kind string) *Definition {
	d := Definition{File: File{Kind: kind}, Missing: rapid.SliceOfDistinct(rapid.SampledFrom([]string{"NA", "?", "-3", "none"}), rapid.ID).
		Draw(t, "missing")}
	names := rapid.Permutation([]string{"a", "b", "c", "d", "姓"}).Draw(t, "names")[:rapid.IntRange(1, 5).Draw(t, "columns")]
	for _, name := range names {
		c := Column{Name: name, Type: rapid.SampledFrom([]string{"category", "ordered", "integer", "decimal", "date"}).Draw(t, "type")}
		if c.Type == "ordered" {
			c.Levels = []string{"high", "low", "7"}
		}
		d.Columns = append(d.Columns, c)
	}
	d.Unit = rapid.SampledFrom(append([]string{"record"}, names...)).Draw(t, "unit")
	d.Neighbours = rapid.SampledFrom([]string{"add-remove", "replace-one"}).Draw(t, "relation")
	if d.Unit == "record" && d.Neighbours == "replace-one" {
		d.Records = 100 // Read does not count
		if rapid.Bool().Draw(t, "model") {
			d.Model = &Model{Column: names[0], States: []string{"low", "7", "high"}, Other: rapid.SampledFrom([]string{"low", "high"}).
				Draw(t, "other"), Distribution: json.RawMessage(`{}`)}
			for i := range d.Columns {
				if d.Columns[i].Name == names[0] {
					d.Columns[i] = Column{Name: names[0]}
				}
			}
		}
	}
	return complete(t, d)
}

func drawGrid(t *rapid.T, d *Definition, rows int, bytes bool) *grid {
	g := &grid{}
	for i := range d.Columns {
		g.names = append(g.names, d.Columns[i].Name)
	}
	for range rows {
		g.rows = append(g.rows, drawRow(t, len(g.names), bytes))
	}
	return g
}

func drawRow(t *rapid.T, n int, bytes bool) []*string {
	row := make([]*string, n)
	for i := range row {
		row[i] = drawCell(t, bytes)
	}
	return row
}

// sourceOf opens g: written as a text file, or as a typed file of any bytes.
func sourceOf(t fataler, d *Definition, g *grid) file.Source {
	if d.File.Kind == kindParquet {
		return &cellSource{g}
	}
	return openBytes(t, g.write(t, "in.csv", csvio.Dialect{}), d)
}

// cellSource is a file of any bytes and nulls, read three records at a time.
type cellSource struct{ g *grid }

func (s *cellSource) Name() string { return "cells" }
func (s *cellSource) Close() error { return nil }
func (s *cellSource) Columns() (out []table.StoredColumn) {
	for _, name := range s.g.names {
		out = append(out, table.StoredColumn{Name: name, Nullable: true})
	}
	return out
}

func (s *cellSource) Open(_ context.Context, columns []int) (table.Reader, error) {
	return &cellReader{cellSource: s, columns: columns}, nil
}

type cellReader struct {
	*cellSource
	columns []int
	next    int
}

func (r *cellReader) Position(record, _ int) noren.Place { return noren.Place{record} }
func (r *cellReader) Progress() float64                  { return 0 }
func (r *cellReader) Next() (*table.Chunk, error) {
	n := min(3, len(r.g.rows)-r.next)
	if n == 0 {
		return nil, io.EOF
	}
	c := &table.Chunk{First: int64(r.next), Rows: n}
	for _, at := range r.columns {
		v := table.Vector{Null: make([]bool, n), Texts: make([][]byte, n)}
		for i := range n {
			if cell := r.g.rows[r.next+i][at]; cell == nil {
				v.Null[i] = true
			} else {
				v.Texts[i] = []byte(*cell)
			}
		}
		c.Cols = append(c.Cols, v)
	}
	r.next += n
	return c, nil
}

// The cell rule on arbitrary bytes: every cell has the value of the reference or is
// missing, labels are the texts, and no table fails.
func TestCellRule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawDefinition(t, rapid.SampledFrom([]string{kindCSV, kindParquet}).Draw(t, "kind"))
		g := drawGrid(t, d, rapid.IntRange(0, 20).Draw(t, "rows"), d.File.Kind == kindParquet)
		src := sourceOf(t, d, g)
		tab, prints, err := Read(bg, src, d, d.Fields(), &testKeys)
		if err != nil {
			t.Fatal(err)
		}
		if tab.Rows != len(g.rows) || len(tab.Columns) != len(d.Columns) || len(prints) != len(d.Columns) {
			t.Fatalf("%d records, %d columns, %d prints", tab.Rows, len(tab.Columns), len(prints))
		}
		for i, c := range tab.Columns {
			for r, row := range g.rows {
				got, ok := shown(c, r)
				want, fits := reference(d, d.Column(c.Field.Name), row[i])
				if ok != fits || ok && got != want {
					t.Fatalf("column %s, cell %q of type %s: %q, %v; want %q, %v", c.Field.Name, deref(row[i]), c.Field.Type, got, ok, want, fits)
				}
			}
		}
		if (tab.Unit == nil) != (d.Unit == account.Record) {
			t.Fatalf("unit %s: labels %v", d.Unit, tab.Unit)
		}
		if tab.Unit != nil {
			at := slices.Index(g.names, d.Unit)
			for r, row := range g.rows {
				got, ok := shown(tab.Unit, r)
				missing := row[at] == nil || *row[at] == "" || slices.Contains(d.Missing, *row[at])
				if ok == missing || ok && got != *row[at] {
					t.Fatalf("record %d: label %q, %v", r, got, ok)
				}
			}
		}
	})
}

func deref(s *string) string {
	if s == nil {
		return "null"
	}
	return *s
}

// record is what a mechanism sees of record i: its values and its label.
func record(tab *table.Table, i int) string {
	var b strings.Builder
	for _, c := range append(slices.Clone(tab.Columns), tab.Unit) {
		if c != nil {
			v, ok := shown(c, i)
			fmt.Fprintf(&b, "%q %v|", v, ok)
		}
	}
	return b.String()
}

// Theorem A: reading keeps the length, and maps neighbours to equal tables or to
// neighbours of the same relation, for the same label.
func TestTheoremA(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawDefinition(t, rapid.SampledFrom([]string{kindCSV, kindParquet}).Draw(t, "kind"))
		typed := d.File.Kind == kindParquet
		x := drawGrid(t, d, rapid.IntRange(1, 12).Draw(t, "rows"), typed)
		y := &grid{names: x.names, rows: slices.Clone(x.rows)}
		label := ""
		at := slices.Index(x.names, d.Unit)
		switch add := d.Relation() == account.AddRemove; {
		case at < 0:
			i := rapid.IntRange(0, len(x.rows)-1).Draw(t, "record")
			if add {
				y.rows = slices.Delete(y.rows, i, i+1)
			} else {
				y.rows[i] = drawRow(t, len(x.names), typed)
			}
		default:
			label = rapid.SampledFrom([]string{"07", "7", "12345678901234567", "low"}).Draw(t, "label")
			x.rows[0][at] = &label
			y.rows = slices.DeleteFunc(y.rows, func(row []*string) bool { return row[at] != nil && *row[at] == label })
			for n := rapid.IntRange(1, 3).Draw(t, "new records"); !add && n > 0; n-- {
				row := drawRow(t, len(x.names), typed)
				row[at] = &label
				y.rows = append(y.rows, row)
			}
		}
		read := func(g *grid) *table.Table {
			tab, _, err := Read(bg, sourceOf(t, d, g), d, d.Fields(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if tab.Rows != len(g.rows) {
				t.Fatalf("%d records of %d", tab.Rows, len(g.rows))
			}
			return tab
		}
		rx, ry := read(x), read(y)
		without := func(tab *table.Table) (out []string) {
			for i := range tab.Rows {
				if at < 0 {
					out = append(out, record(tab, i))
				} else if v, ok := shown(tab.Unit, i); !ok || v != label {
					out = append(out, record(tab, i))
				}
			}
			return out
		}
		wx, wy := without(rx), without(ry)
		if at >= 0 {
			// Equal without the records of the label, in every relation.
			if !slices.Equal(wx, wy) {
				t.Fatalf("they differ in records of others:\n%q\n%q", wx, wy)
			}
			return
		}
		if d.Relation() == account.ReplaceOne {
			differ := 0
			for i := range wx {
				if wx[i] != wy[i] {
					differ++
				}
			}
			if len(wx) != len(wy) || differ > 1 {
				t.Fatalf("%d records differ", differ)
			}
			return
		}
		if len(wy) != len(wx)-1 {
			t.Fatalf("%d and %d records", len(wx), len(wy))
		}
		for i := range wx {
			if slices.Equal(slices.Delete(slices.Clone(wx), i, i+1), wy) {
				return
			}
		}
		t.Fatal("no record makes one table of the other")
	})
}

// The unit column is read as text beside its typed values.
func TestLabelsAreTexts(t *testing.T) {
	d := complete(t, Definition{Columns: []Column{{Name: "id", Type: "decimal"}, {Name: "g"}}, Missing: []string{"NA"}, Unit: "id"})
	const text = "id,g\n07,x\n7,y\n7.0,y\n\" 7\",y\nNA,y\n\"\",z\n12345678901234567,y\n12345678901234568,z\n07,z\n"
	field, err := d.Field("id")
	if err != nil {
		t.Fatal(err)
	}
	for _, fields := range [][]table.Field{{field}, {}, {field, {Name: "g"}, field}} {
		tab, prints, err := Read(bg, openString(t, text, d), d, fields, &testKeys)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range tab.Rows {
			v, ok := shown(tab.Unit, i)
			if !ok {
				v = "-"
			}
			got = append(got, v)
		}
		if want := []string{"07", "7", "7.0", " 7", "-", "-", "12345678901234567", "12345678901234568", "07"}; !slices.Equal(got, want) {
			t.Errorf("%q", got)
		}
		if tab.Unit.Field.Name != "id" || tab.Unit.Field.Type != table.Category || len(tab.Columns) != len(fields) || prints["id"] == "" {
			t.Errorf("%+v, %v", tab.Unit.Field, prints)
		}
		if len(fields) > 0 && (tab.Columns[0].Floats[0] != 7 || tab.Columns[0].Floats[1] != 7 || !tab.Columns[0].IsMissing(3)) {
			t.Errorf("%v", tab.Columns[0].Floats)
		}
	}
}

func TestReadRefusesBeforeReading(t *testing.T) {
	d := complete(t, Definition{Columns: []Column{
		{Name: "a", Type: "integer"},
		{Name: "o", Type: "ordered", Levels: []string{"x", "y"}},
		{Name: "day", Type: "date", Layout: "D.M.YYYY"},
	}})
	for name, c := range map[string]struct {
		f    table.Field
		code string
	}{
		"unknown":        {table.Field{Name: "b"}, "column-missing"},
		"other type":     {table.Field{Name: "a"}, "column-type"},
		"other levels":   {table.Field{Name: "o", Type: table.Ordered, Levels: []string{"y", "x"}}, "column-type"},
		"another layout": {table.Field{Name: "day", Type: table.Date}, "column-type"},
	} {
		m := newMemory([]byte("a,o,day\n1,x,1.1.2024\n"))
		src, err := Open(bg, m, "in.csv", d)
		if err != nil {
			t.Fatal(err)
		}
		m.end = 0
		if _, _, err := Read(bg, src, d, []table.Field{c.f}, nil); noren.CodeOf(err) != c.code || noren.KindOf(err) != noren.Usage || m.end != 0 {
			t.Errorf("%s: %v, %d bytes read", name, err, m.end)
		}
	}
}

// A file that cannot be decoded any more fails without a value in the error, after
// its last byte was read.
func TestReadFailsAtTheEnd(t *testing.T) {
	d := complete(t, Definition{Columns: []Column{{Name: "a"}, {Name: "b"}}})
	var text strings.Builder
	text.WriteString("a,b\n1,2\ns3cr3t\n")
	for range 200_000 {
		text.WriteString("12345,67890\n")
	}
	m := newMemory([]byte(text.String()))
	src, err := Open(bg, m, "in.csv", d)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = Read(bg, src, d, d.Fields(), nil)
	if noren.KindOf(err) != noren.BadData || noren.CodeOf(err) != "structure" || strings.Contains(err.Error(), "s3cr3t") || m.end != m.size {
		t.Errorf("%v, %d of %d bytes read", err, m.end, m.size)
	}
	m.end = 0
	if _, err := Prints(bg, src, d, nil, testKeys); noren.CodeOf(err) != "structure" || m.end != m.size {
		t.Errorf("%v, %d of %d bytes read", err, m.end, m.size)
	}
	gone := openString(t, "a,c\n1,2\n", d)
	if _, _, err := Read(bg, gone, d, d.Fields(), nil); noren.CodeOf(err) != "structure" {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(bg)
	cancel()
	if _, _, err := Read(ctx, gone, d, []table.Field{{Name: "a"}}, nil); noren.KindOf(err) != noren.Interrupted {
		t.Errorf("%v", err)
	}
}

func TestOpen(t *testing.T) {
	tabs := complete(t, Definition{File: File{Delimiter: "tab", Encoding: "sjis"}, Columns: []Column{{Name: "a"}, {Name: "b|c"}}})
	if tabs.File != (File{Kind: "csv", Delimiter: "\t", Encoding: "shift_jis"}) {
		t.Errorf("%+v", tabs.File)
	}
	src := openBytes(t, []byte("a\tb|c\n\x93\xfa\t|\n"), tabs)
	tab, _, err := Read(bg, src, tabs, tabs.Fields(), nil)
	if err != nil || tab.Columns[0].Dict[0] != "日" || tab.Columns[1].Dict[0] != "|" {
		t.Errorf("%+v, %v", tab, err)
	}
	parquet := newGrid([]string{"a"}, []string{"x"}).write(t, "in.parquet", csvio.Dialect{})
	for name, c := range map[string]struct {
		content []byte
		form    File
	}{
		"Parquet as text": {parquet, File{}},
		"text as Parquet": {[]byte("a\nx\n"), File{Kind: "parquet"}},
		"empty":           {nil, File{}},
	} {
		d := complete(t, Definition{File: c.form, Columns: []Column{{Name: "a"}}})
		m := newMemory(c.content)
		if _, err := Open(bg, m, "in", d); noren.KindOf(err) != noren.BadData || noren.CodeOf(err) != "structure" || !m.closed {
			t.Errorf("%s: %v, closed %v", name, err, m.closed)
		}
	}
}
