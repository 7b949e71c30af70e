package privacy

import (
	"math"
	"math/big"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/table"
)

// drawAttribute draws a column of at most some tens of records.
func drawAttribute(t *rapid.T) *Attribute {
	f := table.Field{Name: "x", Type: rapid.SampledFrom([]table.Type{table.Integer, table.Category, table.Decimal}).Draw(t, "type")}
	b, err := table.NewBuilder(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	spread := rapid.SampledFrom([]int{1, 2, 5, 40}).Draw(t, "spread")
	for _, v := range rapid.SliceOfN(rapid.IntRange(-1, spread), 2, 40).Draw(t, "values") {
		text := strconv.Itoa(v)
		if v < 0 {
			text = ""
		}
		if err := b.Append([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	return NewAttribute(b.Column())
}

// drawClasses divides some of the records among two classes, neither empty.
func drawClasses(t *rapid.T, a *Attribute) (g, h *Histogram) {
	where := rapid.SliceOfN(rapid.IntRange(0, 2), len(a.Codes), len(a.Codes)).Draw(t, "class")
	where[0], where[1] = 1, 2
	g, h = &Histogram{}, &Histogram{}
	for i, w := range where {
		switch w {
		case 1:
			g.Add(a.Codes[i])
		case 2:
			h.Add(a.Codes[i])
		}
	}
	return g, h
}

func TestDistanceIsTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawAttribute(t)
		g, _ := drawClasses(t, a)
		want := exactDistance(a, g)
		got := a.Distance(g)
		if w, _ := want.Float64(); math.Abs(got-w) > 1e-15*w {
			t.Fatalf("distance %v, want %s", got, want)
		}
		if got < 0 || got > 1 {
			t.Fatalf("distance %v", got)
		}
		// Around the float64 next to the distance, closeness is decided by the
		// rational numbers.
		for _, bound := range []float64{got, math.Nextafter(got, 0), math.Nextafter(got, 1), got / 2} {
			exact, _ := new(big.Rat).SetString(strconv.FormatFloat(bound, 'g', -1, 64))
			if close := a.Close(g, &Closeness{T: bound}); close != (want.Cmp(exact) <= 0) {
				t.Fatalf("distance %s within %.17g: %v", want, bound, close)
			}
		}
	})
}

// What the doc says of missing values: for any place of the missing value whose
// distance from each value is at most 1, the earth mover's distance is no larger.
// By duality it is the largest sum of f (p-q) over all f that differ by at most
// the distance; any such f gives a lower bound on it.
func TestDistanceBoundsEveryReadingOfMissing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawAttribute(t)
		g, _ := drawClasses(t, a)
		if !a.Ordered || a.values < 1 {
			return
		}
		class := make([]float64, a.values+1)
		for _, p := range g.Pairs() {
			class[p.Code] = float64(p.Count) / float64(g.Total())
		}
		f, lowest, highest := make([]float64, a.values+1), 0.0, 0.0
		for i := 1; i < a.values; i++ {
			f[i] = f[i-1] + rapid.Float64Range(-1, 1).Draw(t, "slope")/float64(a.values-1)
			lowest, highest = min(lowest, f[i]), max(highest, f[i])
		}
		f[a.values] = rapid.Float64Range(highest-1, lowest+1).Draw(t, "missing")
		sum := 0.0
		for i := range a.Cardinality {
			sum += f[i] * (class[i] - float64(a.Whole[i])/float64(a.total))
		}
		if d := a.Distance(g); sum > d+1e-12 {
			t.Fatalf("a reading of the missing value is %v away, the distance is %v", sum, d)
		}
	})
}

func TestUnionKeepsWhatBothKeep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawAttribute(t)
		g, h := drawClasses(t, a)
		c := rapid.SampledFrom([]float64{0.1, 0.5, 1, 1.5, 3}).Draw(t, "c")
		union := &Histogram{}
		union.Merge(g)
		union.Merge(h)
		if union.Total() < g.Total() || union.DistinctL() < max(g.DistinctL(), h.DistinctL()) {
			t.Fatal("distinct")
		}
		if union.EntropyL() < min(g.EntropyL(), h.EntropyL())*(1-EntropyTolerance) {
			t.Fatal("entropy")
		}
		if union.RecursiveL(c) < min(g.RecursiveL(c), h.RecursiveL(c)) {
			t.Fatal("recursive")
		}
		worse := exactDistance(a, g)
		if d := exactDistance(a, h); d.Cmp(worse) > 0 {
			worse = d
		}
		if exactDistance(a, union).Cmp(worse) > 0 {
			t.Fatal("closeness")
		}
		req := Requirement{
			K:         rapid.IntRange(1, 4).Draw(t, "k"),
			Diversity: &Diversity{Model: Recursive, L: float64(rapid.IntRange(1, 4).Draw(t, "l")), C: c},
			Closeness: &Closeness{T: rapid.Float64Range(0, 1).Draw(t, "t")},
		}
		if a.Holds(g, req) && a.Holds(h, req) && !a.Holds(union, req) {
			t.Fatalf("%s does not hold in the union", req)
		}
	})
}

func TestLargestLIsWhereItStopsHolding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := counts(rapid.SliceOfN(rapid.Int64Range(1, 6), 1, 50).Draw(t, "counts")...)
		c := rapid.SampledFrom([]float64{0.05, 0.1, 0.5, 1, 1.5, 3}).Draw(t, "c")
		var a Attribute
		sorted := h.descending(nil)
		exactC := decimal(c)
		largest := 0
		for l := 1; l <= len(sorted)+1; l++ {
			tail := int64(0)
			for _, n := range sorted[min(l-1, len(sorted)):] {
				tail += n
			}
			bound := new(big.Rat).Mul(exactC, new(big.Rat).SetInt64(tail))
			holds := new(big.Rat).SetInt64(sorted[0]).Cmp(bound) < 0
			if holds {
				largest = l
			}
			if got := a.Diverse(h, &Diversity{Model: Recursive, L: float64(l), C: c}); got != holds {
				t.Fatalf("recursive (%g,%d)-diversity of %v: %v", c, l, sorted, got)
			}
			if got := a.Diverse(h, &Diversity{L: float64(l)}); got != (l <= len(sorted)) {
				t.Fatalf("distinct %d-diversity of %v: %v", l, sorted, got)
			}
		}
		if got := h.RecursiveL(c); got != largest {
			t.Fatalf("recursive l of %v with c = %g: %d, want %d", sorted, c, got, largest)
		}
	})
}

func TestEntropyIsTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := counts(rapid.SliceOfN(rapid.Int64Range(1, 1_000_000), 1, 200).Draw(t, "counts")...)
		entropy := 0.0
		for _, p := range h.Pairs() {
			share := float64(p.Count) / float64(h.Total())
			entropy -= share * math.Log(share)
		}
		if got, want := h.EntropyL(), math.Exp(entropy); math.Abs(got-want) > 1e-12*want {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}

// The order in which records are added and classes merged leaves no trace.
func TestHistogramIsASortedCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		codes := rapid.SliceOf(rapid.Uint32Range(0, 30)).Draw(t, "codes")
		cut := rapid.IntRange(0, len(codes)).Draw(t, "cut")
		h := histogram(codes[:cut]...)
		other := histogram(codes[cut:]...)
		before := slices.Clone(other.Pairs())
		h.Merge(other)
		if !slices.Equal(other.Pairs(), before) {
			t.Fatal("what was merged was changed")
		}
		var want []Pair
		slices.Sort(codes)
		for _, c := range codes {
			if len(want) == 0 || want[len(want)-1].Code != c {
				want = append(want, Pair{Code: c})
			}
			want[len(want)-1].Count++
		}
		if !slices.Equal(h.Pairs(), want) || h.Total() != int64(len(codes)) {
			t.Fatalf("%v of %d, want %v", h.Pairs(), h.Total(), want)
		}
		h.Merge(h)
		if h.Total() != 2*int64(len(codes)) || len(h.Pairs()) != len(want) || len(want) > 0 && h.Pairs()[0].Count != 2*want[0].Count {
			t.Fatal("merged with itself")
		}
		if h.Reset(); h.Total() != 0 || h.DistinctL() != 0 {
			t.Fatal("reset")
		}
	})
}

// A column with as many values as 128-bit sums are meant for: the largest counts
// and ranks do not overflow.
func TestDistanceOfLargeCounts(t *testing.T) {
	f := table.Field{Name: "x", Type: table.Integer}
	b, err := table.NewBuilder(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	const m = 100_000
	weights := make([]int64, m)
	for i := range m {
		b.AppendInt(int64(i))
		weights[i] = math.MaxUint32 / m
	}
	a, err := NewWeighted(b.Column(), weights)
	if err != nil {
		t.Fatal(err)
	}
	// Uniform against its lower half: the cumulated difference is a triangle of
	// height 1/2 over m-1 steps, 1/4 m/(m-1) up to the discrete ends.
	var h Histogram
	for i := range m / 2 {
		h.AddN(uint32(i), weights[i])
	}
	want := 0.25 * m / (m - 1)
	if d := a.Distance(&h); math.Abs(d-want) > 1e-12 {
		t.Errorf("lower half: %v, want %v", d, want)
	}
	var point Histogram
	point.AddN(0, weights[0])
	if d := a.Distance(&point); math.Abs(d-0.5) > 1e-12 {
		t.Errorf("lowest value: %v, want 0.5", d)
	}
}
