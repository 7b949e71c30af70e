package verify_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/kanon/verify"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
)

// BenchmarkVerify verifies a file of 1,000,000 records x 8 quasi-identifiers in
// 180,000 classes, with and without a sensitive column.
func BenchmarkVerify(b *testing.B) {
	const n, classes = 1_000_000, 180_000
	path := filepath.Join(b.TempDir(), "release.csv")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	w := bufio.NewWriter(f)
	_, _ = w.WriteString("age,sex,town,day,income,class,code,zip,illness\n")
	rng := rand.New(rand.NewPCG(1, 2))
	for _, i := range rng.Perm(n) {
		c := i % classes
		_, _ = fmt.Fprintf(w, "%d,%s,town%d,20%02d-%02d-%02d,%d.25,Self-emp-not-inc,%04d,z%d,illness%d\n", c%90, []string{"M", "F"}[c%2], c%47,
			c%24, 1+c%12, 1+c%28, c, c%10000, c%1000, rng.IntN(30))
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	src, err := file.Open(context.Background(), path, file.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	o := verify.Options{Quasi: []string{"age", "sex", "town", "day", "income", "class", "code", "zip"}, Requirement: privacy.Requirement{K: 5}}
	run := func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if got, err := verify.Verify(context.Background(), src, o); err != nil || got.Classes != classes {
				b.Fatal(got, err)
			}
		}
	}
	b.Run("k", run)
	o.Sensitive, o.Requirement.Diversity, o.Requirement.Closeness = []table.Field{{Name: "illness"}}, &privacy.Diversity{L: 2},
		&privacy.Closeness{T: 0.5}
	b.Run("k, l and t", run)
}
