package kanon_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/experiments/kanon"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/kanon/refine"
	"github.com/noren-privacy/noren/kanon/space"
)

// dataFolder is the folder of the reference data sets, or skips.
func dataFolder(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("NOREN_DATA")
	if dir == "" {
		dir = "../../../shared/data"
	}
	if _, err := os.Stat(filepath.Join(dir, "eia.csv")); err != nil {
		t.Skip("eia.csv is not there: name its folder in NOREN_DATA")
	}
	return dir
}

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "table.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Table 6(a) of the paper, digit by digit.
func TestTable6(t *testing.T) {
	randtest.SkipShort(t)
	found := 0
	err := kanon.Reproduce(context.Background(), kanon.Options{
		Dir: dataFolder(t), Datasets: []string{"eia"}, K: []int{5}, Scaling: space.MinMax,
	}, func(r kanon.Row) error {
		if r.Paper == nil {
			return nil
		}
		found++
		if math.Abs(r.Loss-r.Paper.Loss) > 0.000005+1e-12 {
			t.Errorf("%s %s: loss %.7f, the paper prints %.5f", r.Algorithm, r.Params, r.Loss, r.Paper.Loss)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found != 6 {
		t.Errorf("%d rows of Table 6, expected 6", found)
	}
}

func TestLoadCodesTextByItsRank(t *testing.T) {
	path := write(t, "n,word,mixed\n3,pear,1\n1,apple,x\n2,pear,2\n")
	d, err := kanon.Load(context.Background(), "", path, space.MinMax, []string{"mixed"})
	if err != nil {
		t.Fatal(err)
	}
	if d.Len() != 3 || len(d.Values) != 2 {
		t.Fatalf("%d records of %d columns", d.Len(), len(d.Values))
	}
	for j, want := range [][]float64{{3, 1, 2}, {1, 0, 1}} {
		for i := range want {
			if d.Values[j][i] != want[i] {
				t.Errorf("column %d, record %d: %g, expected %g", j, i, d.Values[j][i], want[i])
			}
		}
	}
}

func TestLoadRefuses(t *testing.T) {
	path := write(t, "a,b\n1,2\n")
	empty := write(t, "a,b\n")
	for _, c := range []struct {
		name, dataset string
		drop          []string
		kind          noren.Kind
		says          string
	}{
		{"unknown name", "mystery", nil, noren.Usage, "no reference data set"},
		{"no folder", "eia", nil, noren.Usage, "not there"},
		{"no such column", path, []string{"c"}, noren.Usage, "no column c"},
		{"nothing left", path, []string{"a", "b"}, noren.BadData, "nothing to partition"},
		{"no records", empty, nil, noren.BadData, "nothing to partition"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := kanon.Load(context.Background(), t.TempDir(), c.dataset, space.MinMax, c.drop)
			if noren.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// The rows of a table of one's own: each a k-partition, ours with the least
// loss, and the pictures made of them.
func TestReproduceOwnTable(t *testing.T) {
	var text strings.Builder
	text.WriteString("x,y\n")
	for i := range 60 {
		fmt.Fprintf(&text, "%d,%d\n", i*37%101, i*i%89)
	}
	var rows []kanon.Row
	o := kanon.Options{Datasets: []string{write(t, text.String())}, K: []int{2, 3}, Scaling: space.MinMax, Effort: refine.Fast}
	if err := kanon.Reproduce(context.Background(), o, func(r kanon.Row) error { rows = append(rows, r); return nil }); err != nil {
		t.Fatal(err)
	}
	least := map[int]float64{2: 1, 3: 1}
	for _, r := range rows {
		if r.MinSize < r.K || r.Loss < 0 || r.Loss > 1 {
			t.Errorf("%s %s: size %d for k = %d, loss %g", r.Algorithm, r.Params, r.MinSize, r.K, r.Loss)
		}
		if r.Algorithm == "noren" && r.Params.Refine == "fast" {
			if off := least[r.K]; r.Loss > off {
				t.Errorf("k = %d: refined to %g from %g", r.K, r.Loss, off)
			}
		} else if r.Algorithm == "noren" {
			least[r.K] = r.Loss
		}
	}
	var page bytes.Buffer
	if err := kanon.Figures(rows).Write(&page); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Figure 5", "Figure 6", "Figure 8", "<svg"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page has no %s", want)
		}
	}
	o.K = []int{61}
	if err := kanon.Reproduce(context.Background(), o, func(kanon.Row) error { return nil }); noren.KindOf(err) != noren.Usage {
		t.Errorf("k beyond the number of records: %v", err)
	}
}
