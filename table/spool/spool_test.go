package spool_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/spool"
	"github.com/noren-privacy/noren/table/tabletest"
)

// cell is a value of one tag.
type cell struct {
	tag  spool.Tag
	n    int64
	f    float64
	text string
}

func put(w *spool.Writer, c cell) {
	switch c.tag {
	case spool.Null:
		w.Null()
	case spool.Float:
		w.Float(c.f)
	case spool.Text, spool.Decimal, spool.Fault:
		w.Bytes(c.tag, []byte(c.text))
	default:
		w.Int(c.tag, c.n)
	}
}

// The type of a column follows from its cells.
func TestTypes(t *testing.T) {
	whole := cell{tag: spool.Integer, n: 7}
	half := cell{tag: spool.Float, f: 2.5}
	day := cell{tag: spool.Day, n: 19782}
	noon := cell{tag: spool.Instant, n: (19782*86400 + 43200) * 1_000_000}
	word := cell{tag: spool.Text, text: "NA"}
	for _, c := range []struct {
		name    string
		cells   []cell
		kind    table.Kind
		logical table.LogicalType
		want    []string
	}{
		{"nothing", []cell{{}, {}}, table.Text, table.Plain, []string{"<null>", "<null>"}},
		{"integers", []cell{whole, {}}, table.Int, table.Plain, []string{"7", "<null>"}},
		{"numbers", []cell{whole, half}, table.Float, table.Plain, []string{"7", "2.5"}},
		{"a wide integer", []cell{{tag: spool.Integer, n: 1<<53 + 1}, half}, table.Text, table.Mixed, []string{"9007199254740993", "2.5"}},
		{"days", []cell{day}, table.Int, table.Day, []string{"2024-02-29"}},
		{"days and instants", []cell{day, noon}, table.Int, table.Instant, []string{"2024-02-29T00:00:00", "2024-02-29T12:00:00"}},
		{"times", []cell{{tag: spool.Clock, n: 1_500_000}}, table.Int, table.Clock, []string{"00:00:01.500000"}},
		{"instants in UTC", []cell{{tag: spool.UTCInstant, n: -1}}, table.Int, table.UTCInstant, []string{"1969-12-31T23:59:59.999999Z"}},
		{"booleans", []cell{{tag: spool.Boolean, n: 1}, {tag: spool.Boolean}}, table.Int, table.Boolean, []string{"true", "false"}},
		{"decimals", []cell{{tag: spool.Decimal, text: "1.50"}}, table.Text, table.Plain, []string{"1.50"}},
		{"texts", []cell{word, {tag: spool.Text}}, table.Text, table.Plain, []string{"NA", ""}},
		{
			"a bit of all",
			[]cell{whole, half, day, noon, word, {tag: spool.Fault, text: "#N/A"}, {}, {tag: spool.Boolean, n: 1}},
			table.Text,
			table.Mixed,
			[]string{"7", "2.5", "2024-02-29", "2024-02-29T12:00:00", "NA", "#N/A", "<null>", "true"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, err := spool.NewWriter(spool.Options{Name: "t", Dir: t.TempDir(), Columns: []spool.Column{{Name: "a"}}})
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			for i, cell := range c.cells {
				put(w, cell)
				if err := w.EndRow(int64(2*i + 1)); err != nil {
					t.Fatal(err)
				}
			}
			src, err := w.Finish()
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = src.Close() }()
			stored := src.Columns()[0]
			if stored.Kind != c.kind || stored.Logical.Of != c.logical || !stored.Nullable {
				t.Errorf("stored as %+v", stored)
			}
			var want [][]string
			for _, text := range c.want {
				want = append(want, []string{text})
			}
			if diff := cmp.Diff(want, tabletest.Texts(t, src)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What is written is read, in every choice of columns, across chunks; mixed cells
// give their numbers back.
func TestRoundTrip(t *testing.T) {
	randtest.SkipShort(t)
	texts := rapid.StringOfN(rapid.RuneFrom([]rune("aé日\x00\n")), 0, 5, -1)
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(1, 4).Draw(t, "width")
		n := rapid.SampledFrom([]int{0, 1, 3, 4096, 4100}).Draw(t, "rows")
		pattern := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) cell {
			switch rapid.IntRange(0, 4).Draw(t, "tag") {
			case 0:
				return cell{}
			case 1:
				return cell{tag: spool.Integer, n: rapid.Int64().Draw(t, "n")}
			case 2:
				return cell{tag: spool.Float, f: rapid.Float64().Draw(t, "f")}
			case 3:
				return cell{tag: spool.Instant, n: rapid.Int64Range(0, 1<<50).Draw(t, "us")}
			}
			return cell{tag: spool.Text, text: texts.Draw(t, "text")}
		}), 1, 12).Draw(t, "cells")
		columns := make([]spool.Column, width)
		for i := range columns {
			columns[i].Name = string(rune('a' + i))
		}
		w, err := spool.NewWriter(spool.Options{Name: "t", Columns: columns})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		var want [][]string
		for i := range n {
			var row []string
			for j := range width {
				c := pattern[(i*width+j)%len(pattern)]
				put(w, c)
				row = append(row, shown(c))
			}
			want = append(want, row)
			if err := w.EndRow(int64(i) + 1); err != nil {
				t.Fatal(err)
			}
		}
		src, err := w.Finish()
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = src.Close() }()
		if src.Rows() != int64(n) {
			t.Fatalf("%d rows, want %d", src.Rows(), n)
		}
		if diff := cmp.Diff(want, tabletest.Texts(t, src)); diff != "" {
			t.Fatal(diff)
		}
		last := tabletest.Texts(t, src, width-1, 0)
		for i := range last {
			if last[i][0] != want[i][width-1] || last[i][1] != want[i][0] {
				t.Fatalf("row %d by choice: %q, want %q", i, last[i], want[i])
			}
		}
	})
}

func shown(c cell) string {
	switch c.tag {
	case spool.Null:
		return "<null>"
	case spool.Float:
		return string(table.AppendFloat(nil, c.f))
	case spool.Instant:
		return string(table.Logical{Of: table.Instant, PerSecond: 1_000_000}.AppendInstant(nil, c.n))
	case spool.Integer:
		return string(table.AppendText(nil, &table.StoredColumn{Kind: table.Int}, &table.Vector{Kind: table.Int, Ints: []int64{c.n}}, 0))
	}
	return c.text
}

func TestPositionAndLeftovers(t *testing.T) {
	dir := t.TempDir()
	w, err := spool.NewWriter(spool.Options{Name: "book", Rows: true, Dir: dir, Columns: []spool.Column{{Name: "a"}, {Name: "b"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []int64{3, 9} {
		put(w, cell{tag: spool.Integer, n: line})
		w.Null()
		if err := w.EndRow(line); err != nil {
			t.Fatal(err)
		}
	}
	src, err := w.Finish()
	if err != nil {
		t.Fatal(err)
	}
	r, err := src.Open(t.Context(), []int{1, 0})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	if at := r.Position(1, 0).String(); at != "book: row 9, column 2 (b)" {
		t.Error(at)
	}
	if _, err := src.Open(t.Context(), []int{2}); err == nil {
		t.Error("a column that does not exist was opened")
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 && os.PathSeparator == '/' {
		t.Errorf("the file has a name: %v", entries)
	}
	if err := src.Close(); err != nil {
		t.Fatal(err)
	}
	if r, err := src.Open(t.Context(), nil); err == nil {
		if _, err := r.Next(); err == nil {
			t.Error("a closed table was read")
		}
	}
}
