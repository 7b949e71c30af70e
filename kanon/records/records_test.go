package records_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/kanon/records"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
)

var fields = []table.Field{
	{Name: "age", Type: table.Integer},
	{Name: "word", Type: table.Category},
	{Name: "pay", Type: table.Decimal},
	{Name: "level", Type: table.Ordered, Levels: []string{"low", "high"}},
}

// source is a table of n records whose words go on coming to its end.
func source(t testing.TB, n int) table.Source {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("age,other,word,pay,level\n")
	for i := range n {
		cells := []string{
			fmt.Sprint(rng.IntN(100) - 50), "x", fmt.Sprint("w", rng.IntN(10+i/50)), fmt.Sprintf("%.2f", 100*rng.Float64()),
			fields[3].Levels[rng.IntN(2)],
		}
		if c := rng.IntN(20); c < len(cells) {
			cells[c] = ""
		}
		b.WriteString(strings.Join(cells, ",") + "\n")
	}
	path := filepath.Join(t.TempDir(), "in.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := file.Open(context.Background(), path, file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = src.Close() })
	return src
}

// rowsOf shows the records of some columns.
func rowsOf(columns []*table.Column) []string {
	rows := make([]string, columns[0].Len())
	for i := range rows {
		for _, c := range columns {
			switch {
			case c.IsMissing(i):
				rows[i] += "- "
			case c.Field.Type == table.Category:
				rows[i] += fmt.Sprint(c.Codes[i], "=", c.Dict[c.Codes[i]], " ")
			default:
				rows[i] += fmt.Sprint(c.Number(i), " ")
			}
		}
	}
	return rows
}

// Whatever the memory, the result is the table that is read at once.
func TestHeldRecords(t *testing.T) {
	randtest.SkipShort(t)
	ctx := context.Background()
	const n = 150_000
	src := source(t, n)
	whole, err := table.Read(ctx, src, fields, table.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := rowsOf(whole.Columns)
	for _, memory := range []int64{0, 1 << 30, 1 << 21, 1} {
		dir := t.TempDir()
		held, err := records.Read(ctx, src, fields, nil, records.Options{Memory: memory, Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		if held.Rows != n || held.InMemory() != (memory == 0 || memory == 1<<30) {
			t.Fatalf("with %d bytes %d records are held, in memory: %v", memory, held.Rows, held.InMemory())
		}
		for j, c := range held.Columns {
			if !slices.Equal(c.Dict, whole.Columns[j].Dict) || c.Places != whole.Columns[j].Places {
				t.Fatalf("with %d bytes column %d is described otherwise", memory, j)
			}
		}
		at := 0
		if err := held.Runs(ctx, func(first int, columns []*table.Column) error {
			got := rowsOf(columns)
			if first != at || !slices.Equal(got, want[at:at+len(got)]) {
				t.Fatalf("with %d bytes the run at %d is another", memory, first)
			}
			at += len(got)
			return nil
		}); err != nil || at != n {
			t.Fatalf("with %d bytes %d records come, %v", memory, at, err)
		}
		some := []uint32{0, 7, 65_535, 65_536, 100_001, n - 1}
		columns, err := held.Select(ctx, some)
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range rowsOf(columns) {
			if row != want[some[i]] {
				t.Fatalf("with %d bytes record %d is %q, want %q", memory, some[i], row, want[some[i]])
			}
		}

		// Cell 3 stays empty, the others are of very different size.
		cellOf := func(row string) uint32 { return []uint32{0, 1, 2, 4, 4, 4, 4, 4}[len(row)%8] }
		arranged, err := held.Arrange(ctx, 5, func(columns []*table.Column, out []uint32) error {
			for i, row := range rowsOf(columns) {
				out[i] = cellOf(row)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		var order []uint32
		for c := range uint32(5) {
			before := len(order)
			for i, row := range want {
				if cellOf(row) == c {
					order = append(order, uint32(i))
				}
			}
			if int64(len(order)-before) != arranged.Counts[c] {
				t.Fatalf("with %d bytes cell %d has %d records, want %d", memory, c, arranged.Counts[c], len(order)-before)
			}
		}
		rng := rand.New(rand.NewPCG(3, 4))
		for range 40 {
			from := rng.Int64N(n)
			to := min(n, from+rng.Int64N(9000))
			ids, columns, err := arranged.Load(from, to)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(ids, order[from:to]) {
				t.Fatalf("with %d bytes the places %d to %d have other records", memory, from, to)
			}
			for i, row := range rowsOf(columns) {
				if row != want[ids[i]] {
					t.Fatalf("with %d bytes record %d is %q, want %q", memory, ids[i], row, want[ids[i]])
				}
			}
		}
		arranged.Close()
		held.Close()
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Fatalf("%d files are left, %v", len(left), err)
		}
	}
}

// A folder that cannot hold a temporary file is an error, and so is a table that
// cannot be read; a context that has ended ends the work.
func TestFailures(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	src := source(t, 1000)
	if _, err := records.Read(ctx, src, fields, nil, records.Options{Memory: 1, Dir: filepath.Join(t.TempDir(), "none")}); err == nil {
		t.Error("a folder that is not there was written to")
	}
	if _, err := records.Read(ctx, src, []table.Field{{Name: "word", Type: table.Integer}}, nil, records.Options{Memory: 1}); err == nil {
		t.Error("words were read as numbers")
	}
	held, err := records.Read(ctx, src, fields, nil, records.Options{Memory: 1, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := held.Runs(ctx, func(int, []*table.Column) error { return nil }); err == nil {
		t.Error("an ended context was not noticed")
	}
	held.Close()
	held.Close()
	if _, err := held.Select(context.Background(), []uint32{1}); err == nil {
		t.Error("a closed table was read")
	}
}

func ExampleTable_Arrange() {
	ctx := context.Background()
	src, err := file.OpenStdin(ctx, strings.NewReader("age\n31\n9\n47\n12\n"), file.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = src.Close() }()
	held, err := records.Read(ctx, src, []table.Field{{Name: "age", Type: table.Integer}}, nil, records.Options{Memory: 16})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer held.Close()
	arranged, err := held.Arrange(ctx, 2, func(columns []*table.Column, out []uint32) error {
		for i, age := range columns[0].Ints {
			out[i] = 0
			if age >= 18 {
				out[i] = 1
			}
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer arranged.Close()
	fmt.Println(arranged.Counts)
	ids, columns, err := arranged.Load(2, 4)
	fmt.Println(ids, columns[0].Ints, err)
	// Output:
	// [2 2]
	// [0 2] [31 47] <nil>
}
