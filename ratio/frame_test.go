package ratio

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/axis"
)

func wordColumn(t *testing.T, f table.Field, texts ...string) *table.Column {
	t.Helper()
	b, err := table.NewBuilder(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range texts {
		if err := b.Append([]byte(s)); err != nil {
			t.Fatal(err)
		}
	}
	return b.Column()
}

func TestFrame(t *testing.T) {
	public := &table.Table{Rows: 4, Columns: []*table.Column{
		wordColumn(t, table.Field{Name: "age", Type: table.Integer}, "20", "60", "40", ""),
		wordColumn(t, table.Field{Name: "grade", Type: table.Ordered, Levels: []string{"low", "mid", "high"}}, "low", "high", "mid", "low"),
		wordColumn(t, table.Field{Name: "work"}, "a", "b", "b", "a"),
	}}
	axes, err := PublicAxes(public, "age", "grade", "work")
	if err != nil {
		t.Fatal(err)
	}
	f, err := NewFrame(axes)
	if err != nil {
		t.Fatal(err)
	}
	private := &table.Table{Rows: 2, Columns: []*table.Column{
		wordColumn(t, table.Field{Name: "age", Type: table.Integer}, "99", "30"),
		wordColumn(t, table.Field{Name: "grade", Type: table.Ordered, Levels: []string{"low", "mid", "high"}}, "mid", "high"),
		wordColumn(t, table.Field{Name: "work"}, "unknown", "b"),
	}}
	p, err := f.Points(private)
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{1, 0.5, 0, 0, 0.25, 1, 0, math.Sqrt(0.5)}
	for i, v := range want {
		near(t, "coordinate", p.Data[i], v, 1e-15)
	}
	if p, err = f.Points(public); err != nil || isWhole(p.Row(3)) || !isWhole(p.Row(2)) {
		t.Errorf("missing values: %v, %v", p, err)
	}
	near(t, "two words are one unit apart", distance2(p.Row(0)[2:], p.Row(1)[2:]), 1, 1e-15)
	k, err := NewKernel(&Points{Rows: 1, Dim: 4, Data: make([]float64, 4)}, 1)
	if err != nil {
		t.Fatal(err)
	}
	phi := []float64{9}
	if k.Phi(phi, p.Row(3)); phi[0] != 0 {
		t.Errorf("a record without a value has a kernel of %g", phi[0])
	}

	axes[0].Low, axes[0].High, axes[2].Categories, axes[1].Field.Name = 3, 3, []string{"a", "a"}, "age"
	_, err = NewFrame(axes)
	if noren.KindOf(err) != noren.Usage {
		t.Fatal(err)
	}
	for _, says := range []string{"bounds must run", "named twice", "a value is named twice"} {
		if !strings.Contains(err.Error(), says) {
			t.Errorf("%q is not said: %v", says, err)
		}
	}
	if _, err := PublicAxes(public, "nothing"); noren.KindOf(err) != noren.Usage {
		t.Error(err)
	}
	if _, err := f.Points(&table.Table{}); noren.KindOf(err) != noren.Usage {
		t.Error(err)
	}
}

func TestChooseCentres(t *testing.T) {
	ctx := context.Background()
	c, err := ChooseCentres(ctx, &Points{Rows: 3, Dim: 1, Data: []float64{5, 1, 3}}, 3)
	if err != nil || c.Data[0] != 1 || c.Data[1] != 3 || c.Data[2] != 5 {
		t.Errorf("%v, %v", c, err)
	}
	// Three clouds find three centres.
	p := axis.NewPoints[float64](0, 2)
	for i, at := range [][]float64{{0, 0}, {9, 0}, {0, 9}} {
		q := gaussian(uint64(i), 50, 2, 0, 0.1)
		for r := range q.Rows {
			p.Data = append(p.Data, q.Row(r)[0]+at[0], q.Row(r)[1]+at[1])
		}
		p.Rows += q.Rows
	}
	if c, err = ChooseCentres(ctx, p, 3); err != nil || c.Rows != 3 {
		t.Fatal(err)
	}
	for _, at := range [][]float64{{0, 0}, {9, 0}, {0, 9}} {
		best := math.Inf(1)
		for l := range c.Rows {
			best = min(best, distance2(at, c.Row(l)))
		}
		if best > 0.1 {
			t.Errorf("no centre near %v", at)
		}
	}
	if c, err = ChooseCentres(ctx, &Points{Rows: 4, Dim: 2, Data: []float64{1, 1, 1, 1, 2, 2, 2, 2}}, 4); err != nil || c.Rows != 2 {
		t.Errorf("two different points: %v, %v", c, err)
	}
	if got := MedianDistance(&Points{Rows: 3, Dim: 1, Data: []float64{0, 1, 10}}); got != 9 {
		t.Errorf("median distance %g", got)
	}
	if got := MedianDistance(&Points{Rows: 2, Dim: 1, Data: []float64{4, 4}}); got != 0 {
		t.Errorf("median distance of one point %g", got)
	}
}

// What place puts in a place is what sorting puts there.
func TestPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(rapid.Float64Range(0, 4), 1, 60).Draw(t, "values")
		if rapid.Bool().Draw(t, "ties") {
			for i := range v {
				v[i] = math.Floor(v[i])
			}
		}
		m := rapid.IntRange(0, len(v)-1).Draw(t, "place")
		want := slices.Sorted(slices.Values(v))
		place(v, m)
		if v[m] != want[m] || m > 0 && slices.Max(v[:m]) > v[m] {
			t.Fatalf("place %d of %v", m, v)
		}
	})
}
