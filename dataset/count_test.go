package dataset

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
)

// counter counts the bytes that are read from a file.
type counter struct {
	csvio.File
	bytes atomic.Int64
}

func (c *counter) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.File.ReadAt(p, at)
	c.bytes.Add(int64(n))
	return n, err
}

// A charged query reads a text file once: columns, labels and prints come from one
// pass, beside the sample and the header that Open looks at.
func TestOnePass(t *testing.T) {
	const records = 400_000
	d, err := (&Definition{Columns: []Column{{Name: "id"}, {Name: "age", Type: "integer"}, {Name: "city"}}, Unit: "id"}).Complete()
	if err != nil {
		t.Fatal(err)
	}
	text := "id,age,city\n" + strings.Repeat("p1,31,Nara\n", records)
	size := int64(len(text))
	const begin = 1 << 20 // more than sample and header
	if size < 4*begin {
		t.Fatalf("a file of %d bytes shows no second pass", size)
	}
	k := testKeys
	for _, fields := range [][]table.Field{
		{{Name: "age", Type: table.Integer}},
		{{Name: "id"}, {Name: "city"}, {Name: "age", Type: table.Integer}},
	} {
		f := &counter{File: newMemory([]byte(text))}
		src, err := Open(bg, f, "people.csv", d)
		if err != nil {
			t.Fatal(err)
		}
		if n := f.bytes.Load(); n > begin {
			t.Errorf("opening reads %d bytes", n)
		}
		out, prints, err := Read(bg, src, d, fields, &k)
		if err != nil {
			t.Fatal(err)
		}
		if out.Rows != records || out.Unit == nil || len(prints) < 2 {
			t.Errorf("%d records, unit %v, %d prints", out.Rows, out.Unit, len(prints))
		}
		if n := f.bytes.Load(); n < size || n > size+begin {
			t.Errorf("a query of %d columns reads %d bytes of %d", len(fields), n, size)
		}
		if err := src.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
