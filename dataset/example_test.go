package dataset_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/table"
)

// A definition is fixed, a file reviewed under it, and columns read: a cell that
// does not fit is missing, and the labels of the unit are texts.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "visits.csv")
	if err := os.WriteFile(path, []byte("person,age\n07,35\n7,unknown\n7,41\n"), 0o600); err != nil {
		panic(err)
	}
	d, err := dataset.Parse([]byte(`{"format":"noren.dataset/1","unit":"person",
		"columns":[{"name":"person","type":"integer"},{"name":"age","type":"integer","bounds":["0","120"]}]}`))
	if err != nil {
		panic(err)
	}
	keys := dataset.KeysOf(func(purpose string) []byte { return []byte("derived from a ledger's secret: " + purpose) })
	ctx := context.Background()
	f, err := os.Open(path)
	if err != nil {
		panic(err)
	}
	src, err := dataset.Open(ctx, f, "visits.csv", d)
	if err != nil {
		panic(err)
	}
	defer func() { _ = src.Close() }()
	review, err := dataset.Inspect(ctx, src, d, dataset.InspectOptions{Keys: keys}) // private
	if err != nil {
		panic(err)
	}
	cells, columns := review.Misfits()
	fmt.Println(review.Records, "records;", cells, "cell in", columns, "column does not fit:", review.Columns[0].Lines)

	age, err := d.Field("age")
	if err != nil {
		panic(err)
	}
	t, prints, err := dataset.Read(ctx, src, d, []table.Field{age}, &keys)
	if err != nil {
		panic(err)
	}
	fmt.Println(t.Columns[0].Ints, t.Columns[0].Missing(), "missing")
	fmt.Println(t.Unit.Dict, t.Unit.Codes)
	fmt.Println(prints["age"] == review.Prints["age"], len(prints))
	// Output:
	// 3 records; 1 cell in 1 column does not fit: [visits.csv: line 3, column 2 (age)]
	// [35 0 41] 1 missing
	// [07 7] [0 1 1]
	// true 2
}
