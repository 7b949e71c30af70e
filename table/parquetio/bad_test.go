package parquetio

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter/metertest"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/table"
)

// readAll reads a file whole and tells its first error.
func readAll(path string) error {
	src, err := Open(path, Options{Name: "in.parquet"})
	if err != nil {
		return err
	}
	r, err := src.Open(context.Background(), nil)
	if err != nil {
		return errors.Join(err, src.Close())
	}
	var text []byte
	for {
		c, err := r.Next()
		if err == io.EOF {
			return errors.Join(r.Close(), src.Close())
		}
		if err != nil {
			_, _ = r.Close(), src.Close()
			return err
		}
		for j := range c.Cols {
			for i := range c.Rows {
				text = table.AppendText(text[:0], &src.Columns()[j], &c.Cols[j], i)
			}
		}
	}
}

// sample is a small file of several types.
func sample(t testing.TB) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sample.parquet")
	var fields []parquet.Field
	var columns [][]parquet.Value
	add := func(node parquet.Node, f func(i int) parquet.Value) {
		var values []parquet.Value
		for i := range 100 {
			v := f(i)
			if node.Optional() && i%7 == 0 {
				v = parquet.NullValue().Level(0, 0, len(fields))
			} else if node.Optional() {
				v = v.Level(0, 1, len(fields))
			}
			values = append(values, v)
		}
		fields = append(fields, field{node, string(rune('a' + len(fields)))})
		columns = append(columns, values)
	}
	secret := func(i int) parquet.Value { return parquet.ByteArrayValue(append([]byte("s3cr3t"), byte('a'+i%26))) }
	add(parquet.Encoded(parquet.String(), &parquet.RLEDictionary), secret)
	add(parquet.Optional(parquet.Compressed(parquet.String(), &parquet.Zstd)), secret)
	add(parquet.Optional(parquet.Leaf(parquet.Int64Type)), func(i int) parquet.Value { return parquet.Int64Value(int64(i)) })
	add(parquet.Compressed(parquet.Leaf(parquet.DoubleType), &parquet.Gzip),
		func(i int) parquet.Value { return parquet.DoubleValue(float64(i)) })
	add(parquet.Leaf(parquet.BooleanType), func(i int) parquet.Value { return parquet.BooleanValue(i%2 == 0) })
	add(parquet.Encoded(parquet.Date(), &parquet.DeltaBinaryPacked), func(i int) parquet.Value { return parquet.Int32Value(int32(i)) })
	if err := rawFile(path, fields, columns, 40); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func put(t testing.TB, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "in.parquet")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func check(t *testing.T, what string, err error) {
	t.Helper()
	if err == nil {
		return
	}
	if noren.KindOf(err) != noren.BadData || !strings.HasPrefix(err.Error(), "in.parquet: ") || strings.Contains(err.Error(), "s3cr3t") {
		t.Errorf("%s: got %v, want an error of kind bad-data without a value", what, err)
	}
}

// Whatever byte is changed and wherever the file is cut, there is no panic, and
// a cut file is an error.
func TestDamaged(t *testing.T) {
	randtest.SkipShort(t)
	data := sample(t)
	if err := readAll(put(t, data)); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	found := 0
	changes := randtest.Size(100, 1500)
	for range changes {
		bad := bytes.Clone(data)
		for range 1 + rng.IntN(3) {
			bad[rng.IntN(len(bad))] ^= byte(1 + rng.IntN(255))
		}
		err := readAll(put(t, bad))
		check(t, "changed bytes", err)
		if err != nil {
			found++
		}
	}
	if 3*found < changes {
		t.Errorf("only %d of %d changes were found out", found, changes)
	}
	for range randtest.Size(50, 200) {
		err := readAll(put(t, data[:rng.IntN(len(data))]))
		check(t, "cut", err)
		if err == nil {
			t.Error("a cut file was read")
		}
	}
}

func TestNotParquet(t *testing.T) {
	data := sample(t)
	for name, c := range map[string]struct{ data, want string }{
		"empty":          {"", "too short"},
		"text":           {"a,b\n1,2\n3,4\n5,6\n", "not a Parquet file"},
		"encrypted":      {"PARE" + string(data[4:len(data)-4]) + "PARE", "encrypted"},
		"without end":    {string(data[:len(data)-1]) + "X", "cut short"},
		"immense footer": {string(data[:len(data)-8]) + "\xff\xff\xff\xffPAR1", "damaged"},
	} {
		err := readAll(put(t, []byte(c.data)))
		check(t, name, err)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

func TestReader(t *testing.T) {
	src, err := Open(put(t, sample(t)), Options{Name: "in.parquet"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	if src.Rows() != 100 || src.Name() != "in.parquet" {
		t.Errorf("%d records in %s", src.Rows(), src.Name())
	}
	if _, err := src.Open(context.Background(), []int{6}); noren.KindOf(err) != noren.Usage {
		t.Errorf("got %v, want an error of kind usage", err)
	}
	r, err := src.Open(context.Background(), []int{2})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second row group
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if got := r.Position(3, 0).String(); got != "in.parquet: record 44, column 3 (c)" {
		t.Errorf("got %q", got)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(); err == nil {
		t.Error("a closed reader goes on")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if r, err = src.Open(ctx, nil); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	if _, err := r.Next(); noren.KindOf(err) != noren.Interrupted {
		t.Errorf("got %v, want the context's error", err)
	}
}

func FuzzRead(f *testing.F) {
	data := sample(f)
	f.Add(data)
	f.Add([]byte("PAR1\x00\x00\x00\x00PAR1"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		metertest.Hold(t, len(data))
		path := filepath.Join(dir, "in.parquet")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		check(t, "fuzz", readAll(path))
	})
}
