package csvio

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/noren-privacy/noren/table"
)

const benchRows = 1_000_000

// benchFile writes a table of 1,000,000 x 8: integers, words, decimals, dates.
func benchFile(b *testing.B) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "bench.csv")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	w := bufio.NewWriter(f)
	rng := rand.New(rand.NewPCG(1, 2))
	words := []string{"Private", "State-gov", "Self-emp-not-inc", "Local-gov", "Never-worked"}
	_, _ = w.WriteString("id,age,sex,date,amount,class,code,note\n")
	for i := range benchRows {
		_, _ = fmt.Fprintf(w, "%d,%d,%s,20%02d-%02d-%02d,%.2f,%s,%04d,n%d\n", i, rng.IntN(90), []string{"M", "F"}[rng.IntN(2)],
			rng.IntN(24), 1+rng.IntN(12), 1+rng.IntN(28), rng.Float64()*1000, words[rng.IntN(5)], rng.IntN(10000), rng.IntN(1000000))
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	return path
}

func BenchmarkRead(b *testing.B) {
	path := benchFile(b)
	for _, columns := range [][]int{nil, {1, 2}} {
		b.Run(fmt.Sprintf("columns=%d", len(columns)), func(b *testing.B) {
			for b.Loop() {
				src, err := Open(context.Background(), path, Options{})
				if err != nil {
					b.Fatal(err)
				}
				r, err := src.Open(context.Background(), columns)
				if err != nil {
					b.Fatal(err)
				}
				rows := 0
				for {
					c, err := r.Next()
					if err == io.EOF {
						break
					}
					if err != nil {
						b.Fatal(err)
					}
					rows += c.Rows
				}
				if rows != benchRows {
					b.Fatal(rows)
				}
				_ = r.Close()
				_ = src.Close()
			}
		})
	}
}

// BenchmarkReadPacked reads the same table packed, and in Shift_JIS.
func BenchmarkReadPacked(b *testing.B) {
	plain, err := Open(context.Background(), benchFile(b), Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = plain.Close() }()
	drain := func(b *testing.B, src *Source, take func(*table.Chunk) error) {
		b.Helper()
		r, err := src.Open(context.Background(), nil)
		if err != nil {
			b.Fatal(err)
		}
		for {
			c, err := r.Next()
			if err == io.EOF {
				break
			}
			if err == nil {
				err = take(c)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
		_ = r.Close()
	}
	for _, d := range []Dialect{{Encoding: ShiftJIS}, {Compression: Gzip}, {Compression: Zstd}} {
		path := filepath.Join(b.TempDir(), "packed")
		out, err := Create(path, plain.Columns(), d)
		if err != nil {
			b.Fatal(err)
		}
		drain(b, plain, out.Write)
		if err := out.Close(); err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("%s%s", d.Encoding, d.Compression), func(b *testing.B) {
			for b.Loop() {
				src, err := Open(context.Background(), path, Options{Encoding: d.Encoding})
				if err != nil {
					b.Fatal(err)
				}
				drain(b, src, func(*table.Chunk) error { return nil })
				_ = src.Close()
			}
		})
	}
}

func BenchmarkWrite(b *testing.B) {
	path := benchFile(b)
	src, err := Open(context.Background(), path, Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	for _, d := range []Dialect{{}, {Encoding: ShiftJIS}, {Compression: Gzip}, {Compression: Zstd}} {
		b.Run(fmt.Sprintf("%s%s", d.Encoding, d.Compression), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				r, err := src.Open(context.Background(), nil)
				if err != nil {
					b.Fatal(err)
				}
				out, err := NewSink(io.Discard, "out", src.Columns(), d)
				if err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				for {
					c, err := r.Next()
					if err == io.EOF {
						break
					}
					if err := out.Write(c); err != nil {
						b.Fatal(err)
					}
				}
				if err := out.Close(); err != nil {
					b.Fatal(err)
				}
				_ = r.Close()
			}
		})
	}
}
