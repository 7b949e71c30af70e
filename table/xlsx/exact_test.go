package xlsx_test

import (
	"math"
	"slices"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/noren-privacy/noren/table/tabletest"
	"github.com/noren-privacy/noren/table/xlsx"
)

// Columns that are read exactly tell types and stored values, and others are read as ever.
func TestExactColumns(t *testing.T) {
	path := write(t, [][]any{
		{"a", "b"},
		{5, 5},
		{"5", "5"},
		{true, true},
		{1.50, 1.50},
		{math.Copysign(0, -1), 0},
		{int64(12345678901234567), 1},
		{45292.500000005, 45292.500000005},
		{nil, 1},
	}, func(f *excelize.File) { format(t, f, "A8:B8", "yyyy-mm-dd hh:mm") })
	src, err := open(t, path, xlsx.Options{Exact: []string{"a", "missing"}})
	if err != nil {
		t.Fatal(err)
	}
	var a, b []string
	for _, row := range tabletest.Texts(t, src) {
		a, b = append(a, row[0]), append(b, row[1])
	}
	if want := []string{"n 5", "s 5", "b 1", "n 1.5", "n 0", "n 12345678901234567", "i 45292.500000005", "<null>"}; !slices.Equal(a, want) {
		t.Errorf("got %q, want %q", a, want)
	}
	if b[6] != "2024-01-01T12:00:00" || b[0] != "5" {
		t.Errorf("a column that is not read exactly has %q", b)
	}
}
