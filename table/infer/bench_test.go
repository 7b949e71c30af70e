package infer_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/noren-privacy/noren/table/file"
	"github.com/noren-privacy/noren/table/infer"
)

// BenchmarkInfer looks at a table of 1,000,000 x 8.
func BenchmarkInfer(b *testing.B) {
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
	for i := range 1_000_000 {
		_, _ = fmt.Fprintf(w, "%d,%d,%s,20%02d-%02d-%02d,%.2f,%s,%04d,n%d\n", i, rng.IntN(90), []string{"M", "F"}[rng.IntN(2)],
			rng.IntN(24), 1+rng.IntN(12), 1+rng.IntN(28), rng.Float64()*1000, words[rng.IntN(5)], rng.IntN(10000), rng.IntN(1000000))
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	src, err := file.Open(context.Background(), path, file.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	for b.Loop() {
		if _, err := infer.Infer(context.Background(), src, infer.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
