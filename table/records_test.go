package table

import (
	"context"
	"encoding/hex"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/noren-privacy/noren"
)

// cells is a table of two columns of text; "-" is null.
type cells [][2]string

func (c cells) Name() string { return "cells" }
func (c cells) Columns() []StoredColumn {
	return []StoredColumn{{Name: "a", Nullable: true}, {Name: "b", Nullable: true}}
}

func (c cells) Open(context.Context, []int) (Reader, error) { return &cellReader{rest: c}, nil }

type cellReader struct{ rest cells }

func (r *cellReader) Next() (*Chunk, error) {
	n := min(3, len(r.rest))
	if n == 0 {
		return nil, io.EOF
	}
	c := &Chunk{Rows: n, Cols: make([]Vector, 2)}
	for _, row := range r.rest[:n] {
		for j, text := range row {
			c.Cols[j].Texts = append(c.Cols[j].Texts, []byte(text))
			c.Cols[j].Null = append(c.Cols[j].Null, text == "-")
		}
	}
	r.rest = r.rest[n:]
	return c, nil
}

func (r *cellReader) Position(int, int) noren.Place { return nil }
func (r *cellReader) Progress() float64             { return 0 }
func (r *cellReader) Close() error                  { return nil }

func sumOf(t *testing.T, c cells, most int) (string, int64) {
	t.Helper()
	sum, size, err := sumRecords(t.Context(), c, most)
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(sum[:]), size
}

// The sum is that of the canonical form, which package hashlib of Python has as well:
//
//	def rec(*c): return sha256(b''.join(b'\0' if x is None else b'\1' + bytes([len(x)]) + x for x in c)).digest()
//	head = b'noren/table/records/1\0' + b'\x02' + b'\1a' + b'\1b'
//	sha256(head + b''.join(d + n.to_bytes(8, 'big') for d, n in sorted(Counter(...).items()))).hexdigest()
func TestSumOfRecords(t *testing.T) {
	got, size := sumOf(t, cells{{"1", "x"}, {"-", ""}, {"1", "x"}, {"", "-"}}, 100)
	if want := "55f9692e47031e1135f9bed1b08221aa719a4af102537f0cdbf422ad24696e9e"; got != want || size != 27+3*40 {
		t.Errorf("%s of %d bytes", got, size)
	}
}

// The order of the records does not count, and neither does how many fit into memory.
func TestSumOfRecordsInAnyOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var c cells
	for i := range 500 {
		c = append(c, [2]string{strconv.Itoa(i % 120), strconv.Itoa(i % 7)})
	}
	want, size := sumOf(t, c, 1000)
	for _, most := range []int{8, 50, 499, 500, 2000} {
		r.Shuffle(len(c), func(i, j int) { c[i], c[j] = c[j], c[i] })
		if got, n := sumOf(t, c, most); got != want || n != size {
			t.Errorf("with %d at a time: %s of %d bytes, want %s of %d", most, got, n, want, size)
		}
	}
}

// Every other table has another sum.
func TestSumOfOtherRecords(t *testing.T) {
	one := cells{{"1", "x"}, {"2", "y"}, {"2", "y"}}
	want, _ := sumOf(t, one, 100)
	for name, other := range map[string]cells{
		"a record less":              one[:2],
		"a record twice":             append(slices.Clone(one), one[0]),
		"another one twice":          {{"1", "x"}, {"1", "x"}, {"2", "y"}},
		"cells that are moved":       {{"1x", ""}, {"2", "y"}, {"2", "y"}},
		"cells of records exchanged": {{"1", "y"}, {"2", "x"}, {"2", "y"}},
		"null":                       {{"1", "-"}, {"2", "y"}, {"2", "y"}},
		"an empty text":              {{"1", ""}, {"2", "y"}, {"2", "y"}},
	} {
		if got, _ := sumOf(t, other, 100); got == want {
			t.Errorf("%s: the same sum", name)
		}
	}
	null, _ := sumOf(t, cells{{"1", "-"}, {"2", "y"}, {"2", "y"}}, 100)
	if empty, _ := sumOf(t, cells{{"1", ""}, {"2", "y"}, {"2", "y"}}, 100); null == empty {
		t.Error("null and the empty text have one sum")
	}
}
