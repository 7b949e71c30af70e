package ratio

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/internal/entropy"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/axis"
)

// What one record moves is bounded by what the noise is scaled for, and the bound is
// reached: a number by 2, a category by 1 or, replaced, by 2, the number of records by 1.
func TestCheckSensitivity(t *testing.T) {
	f, err := NewFrame([]axis.Axis{
		{Field: table.Field{Name: "x", Type: table.Decimal}, Low: -1, High: 3},
		{Field: table.Field{Name: "c", Type: table.Category}, Categories: []string{"a", "b", "c"}, Scale: 0.5},
	})
	if err != nil {
		t.Fatal(err)
	}
	point := func(x float64, word int) []float64 {
		p := []float64{x, 0, 0, 0}
		if word < 3 {
			p[1+word] = 1 / (math.Sqrt2 * 0.5)
		}
		return p
	}
	public := axis.NewPoints[float64](40, 4)
	for i := range 40 {
		copy(public.Row(i), point(float64(i)/39, i%2)) // no record has the third word
	}
	x := axis.NewPoints[float64](100, 4)
	for i := range 100 {
		copy(x.Row(i), point(float64(i%40)/39, i%4))
	}
	w := fitOne(t, 1, public, x, Options{Cost: milli(1000), Frame: f, Centres: 5})
	for _, c := range []struct {
		neighbours account.Neighbours
		want       int64
	}{{account.AddRemove, 1 + 2 + 1}, {account.ReplaceOne, 1 + 3 + 2}} {
		k, err := NewCheck(CheckOptions{Weights: w, Frame: f, Public: public, Cost: milli(1000), Neighbours: c.neighbours, Records: 100})
		if err != nil {
			t.Fatal(err)
		}
		if want := big.NewRat(c.want<<gridBits, 1); k.scale.Cmp(want) != 0 {
			t.Errorf("%s: scale %s, not %s", c.neighbours, k.scale, want)
		}
		want := []string{"x"}
		for bin := range 8 {
			want = append(want, fmt.Sprintf("x in bin %d of 8", bin+1))
		}
		want = append(want, "c = a", "c = b", "c = c")
		if !slices.EqualFunc(k.names, want, func(n noren.Text, w string) bool { return n.String() == w }) {
			t.Errorf("functions %q", k.names)
		}
		largest := 0.0
		move := func(one, other []float64) float64 {
			a, b := make([]float64, len(k.names)), make([]float64, len(k.names))
			sum := 0.0
			if k.values(a, one) {
				sum++
			}
			if other != nil && k.values(b, other) {
				sum--
			}
			sum = math.Abs(sum)
			for j := range a {
				sum += math.Abs(a[j] - b[j])
			}
			largest = max(largest, sum)
			return sum
		}
		rapid.Check(t, func(t *rapid.T) {
			draw := func(name string) []float64 {
				x := rapid.OneOf(rapid.Float64Range(-4, 4), rapid.SampledFrom([]float64{0, 1, math.NaN()})).Draw(t, name)
				return point(x, rapid.IntRange(0, 3).Draw(t, name+" word"))
			}
			one := draw("one")
			var other []float64
			if c.neighbours == account.ReplaceOne {
				other = draw("other")
			}
			if got := move(one, other); got > float64(c.want) {
				t.Fatalf("a record moves %g, more than %d", got, c.want)
			}
		})
		if c.neighbours == account.AddRemove && move(point(3, 0), nil) != 4 {
			t.Errorf("the most that a record moves is %g", largest)
		}
		if c.neighbours == account.ReplaceOne && move(point(-1, 0), point(3, 2)) != 5 {
			// Words and numbers move most between records that have all values.
			t.Errorf("the most that a record moves is %g", largest)
		}
	}
}

// Words that lost their weights are found: the share of each is compared once.
func TestCheckWords(t *testing.T) {
	f, err := NewFrame([]axis.Axis{{Field: table.Field{Name: "c", Type: table.Category}, Categories: []string{"a", "b"}}})
	if err != nil {
		t.Fatal(err)
	}
	points := func(n, a int) *Points {
		p := axis.NewPoints[float64](n, 2)
		for i := range n {
			word := 1
			if i < a {
				word = 0
			}
			p.Row(i)[word] = math.Sqrt2 / 2
		}
		return p
	}
	public, private := points(1000, 500), points(5000, 1000)
	w := fitOne(t, 1, public, private, Options{Cost: milli(5000), Frame: f, Centres: 2})
	k, err := NewCheck(CheckOptions{Weights: w, Frame: f, Public: public, Cost: milli(1000), Neighbours: account.ReplaceOne, Records: 5000})
	if err != nil {
		t.Fatal(err)
	}
	s, err := k.Release(context.Background(), private, entropy.Seeded(2))
	if err != nil {
		t.Fatal(err)
	}
	r, err := k.Compare(s)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Tests) != 2 || r.Off != 0 || !r.Nearer || math.Abs(r.Tests[0].Private-0.2) > 0.01 || r.Tests[0].Public != 0.5 {
		t.Errorf("%+v", r)
	}
	// Weights that are right for another table are off.
	if s, err = k.Release(context.Background(), points(5000, 2000), entropy.Seeded(2)); err != nil {
		t.Fatal(err)
	}
	if r, err = k.Compare(s); err != nil || r.Off != 2 {
		t.Errorf("weights of another table: %+v, %v", r, err)
	}
}

// The check distinguishes two clouds from one of the same mean and variance.
func TestCheckFindsClouds(t *testing.T) {
	const n = 4000
	clouds := gaussian(4, n, 1, 0, 0.3)
	for i := range n {
		clouds.Data[i] += math.Sqrt(1-0.09) * float64(2*(i%2)-1)
	}
	e, same := gaussian(5, 800, 1, 0, 1.3), gaussian(6, n, 1, 0, 1)
	w := fitOne(t, 1, e, same, Options{Cost: milli(2000)})
	k, err := NewCheck(CheckOptions{Weights: w, Public: e, Cost: milli(500), Neighbours: account.ReplaceOne, Records: n})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		private *Points
		off     bool
	}{{"the table of the weights", same, false}, {"two clouds", clouds, true}} {
		s, err := k.Release(context.Background(), c.private, entropy.Seeded(3))
		if err != nil {
			t.Fatal(err)
		}
		r, err := k.Compare(s)
		if err != nil {
			t.Fatal(err)
		}
		if r.Tests[0].Off || (r.Off > 0) != c.off {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
}
