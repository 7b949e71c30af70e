package shuffle

import (
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/noren-privacy/noren/table"
)

// endless returns the same chunk of 4,096 records of 8 columns n times.
type endless struct {
	rows
	n, rest int
}

func (e *endless) Next() (*table.Chunk, error) {
	if e.rest == 0 {
		return nil, io.EOF
	}
	e.rest--
	return &e.chunk, nil
}

type nowhere struct{ badSink }

func (nowhere) Write(*table.Chunk) error { return nil }

// BenchmarkWrite orders 1,003,520 records of 4 numbers and 4 texts.
func BenchmarkWrite(b *testing.B) {
	e := &endless{n: 245}
	e.chunk.Rows = 4096
	for j := range 8 {
		v := table.Vector{}
		if j%2 == 0 {
			v.Kind = table.Int
		}
		for i := range 4096 {
			if j%2 == 0 {
				v.Ints = append(v.Ints, int64(i))
			} else {
				v.Texts = append(v.Texts, fmt.Append(nil, "text ", i))
			}
		}
		e.chunk.Cols = append(e.chunk.Cols, v)
	}
	order, err := Permutation(4096 * e.n)
	if err != nil {
		b.Fatal(err)
	}
	for _, memory := range []int64{DefaultMemory, 16 << 20} {
		b.Run(fmt.Sprintf("memory=%dMiB", memory>>20), func(b *testing.B) {
			for b.Loop() {
				e.rest = e.n
				if err := Write(context.Background(), Options{Order: order, Memory: memory, Dir: b.TempDir()}, e, nil, nowhere{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkPermutation(b *testing.B) {
	for b.Loop() {
		if _, err := Permutation(1_000_000); err != nil {
			b.Fatal(err)
		}
	}
}
