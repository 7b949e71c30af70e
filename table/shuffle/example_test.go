package shuffle_test

import (
	"context"
	"os"
	"path/filepath"

	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/file"
	"github.com/noren-privacy/noren/table/shuffle"
)

func ExampleWrite() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "in.csv")
	if err := os.WriteFile(path, []byte("name\na\nb\nc\nd\n"), 0o600); err != nil {
		panic(err)
	}
	ctx := context.Background()
	src, err := file.Open(ctx, path, file.Options{})
	if err != nil {
		panic(err)
	}
	defer func() { _ = src.Close() }()
	r, err := src.Open(ctx, nil)
	if err != nil {
		panic(err)
	}
	defer func() { _ = r.Close() }()
	out, err := csvio.NewSink(os.Stdout, "standard output", src.Columns(), csvio.Dialect{})
	if err != nil {
		panic(err)
	}
	order, err := shuffle.Keyed(4, [32]byte{2}) // Permutation draws a secret order
	if err != nil {
		panic(err)
	}
	if err := shuffle.Write(ctx, shuffle.Options{Order: order, Dir: dir}, r, nil, out); err != nil {
		panic(err)
	}
	if err := out.Close(); err != nil {
		panic(err)
	}
	// Output:
	// name
	// a
	// c
	// d
	// b
}
