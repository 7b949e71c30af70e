package parquetio_test

import (
	"path/filepath"
	"testing"

	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/parquetio"
)

// Columns of other formats are stored as what they count, and read back so.
func TestLogicalTypes(t *testing.T) {
	logical := []table.Logical{
		{Of: table.Boolean},
		{Of: table.Day},
		{Of: table.Instant, PerSecond: 1_000_000},
		{Of: table.Instant, PerSecond: 1000},
		{Of: table.UTCInstant, PerSecond: 1_000_000_000},
		{Of: table.Clock, PerSecond: 1_000_000},
	}
	want := []string{
		"true", "2024-02-29", "2024-02-29T13:05:09.500000", "1969-12-31T23:59:59.999", "1970-01-01T00:00:00.000000001Z",
		"13:05:09",
	}
	ints := []int64{1, 19782, 1709211909_500_000, -1, 1, 47109_000_000}
	var columns []table.StoredColumn
	c := &table.Chunk{Rows: 2}
	for i, l := range logical {
		columns = append(columns, table.StoredColumn{
			Name: string(rune('a' + i)), Kind: table.Int, Nullable: true, Logical: l,
			AppendText: l.Show(),
		})
		c.Cols = append(c.Cols, table.Vector{Kind: table.Int, Ints: []int64{ints[i], 0}, Null: []bool{false, true}})
	}
	// A text that its format keeps in another way is stored as it is shown.
	columns = append(columns, table.StoredColumn{
		Name: "mixed", Logical: table.Logical{Of: table.Mixed},
		AppendText: table.Logical{Of: table.Mixed}.Show(),
	})
	c.Cols = append(c.Cols, table.Vector{Texts: [][]byte{[]byte("\x017"), []byte("\x08NA")}})
	want = append(want, "7")
	path := filepath.Join(t.TempDir(), "out.parquet")
	sink, err := parquetio.Create(path, columns)
	if err != nil {
		t.Fatal(err)
	}
	if err := sink.Write(c); err != nil {
		t.Fatal(err)
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	src, err := parquetio.Open(path, parquetio.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	r, err := src.Open(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.Next()
	if err != nil || got.Rows != 2 {
		t.Fatal(got, err)
	}
	for i, stored := range src.Columns() {
		if text := string(table.AppendText(nil, &stored, &got.Cols[i], 0)); text != want[i] {
			t.Errorf("column %s shows %s, want %s", stored.Name, text, want[i])
		}
		if i < len(logical) && (stored.Logical != logical[i] && logical[i].PerSecond != 0 || stored.Logical.Of != logical[i].Of ||
			!got.Cols[i].IsNull(1)) {
			t.Errorf("column %s is %+v, want %+v", stored.Name, stored.Logical, logical[i])
		}
	}
}
