// Package tabletest reads tables in tests.
package tabletest

import (
	"context"
	"errors"
	"io"

	"github.com/noren-privacy/noren/table"
)

// Null is the text of a missing cell in [Texts].
const Null = "<null>"

// TB is the part of a test that [Texts] needs: of *testing.T, *testing.B and *rapid.T.
type TB interface {
	Helper()
	Fatal(args ...any)
}

// Texts returns the texts of all cells of src, record by record, as [table.AppendText]
// shows them and [Null] for a missing cell: of all columns, or of those at the given
// positions. An error of src ends the test.
func Texts(t TB, src table.Source, columns ...int) [][]string {
	t.Helper()
	r, err := src.Open(context.Background(), columns)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	stored := src.Columns()
	var rows [][]string
	for {
		c, err := r.Next()
		if errors.Is(err, io.EOF) {
			return rows
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range c.Rows {
			var row []string
			for j := range c.Cols {
				at := j
				if columns != nil {
					at = columns[j]
				}
				text := Null
				if !c.Cols[j].IsNull(i) {
					text = string(table.AppendText(nil, &stored[at], &c.Cols[j], i))
				}
				row = append(row, text)
			}
			rows = append(rows, row)
		}
	}
}
