package privacy

import (
	"errors"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
)

// column builds a column of texts; the empty text is missing.
func column(t testing.TB, f table.Field, texts ...string) *table.Column {
	t.Helper()
	b, err := table.NewBuilder(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		if err := b.Append([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	return b.Column()
}

func histogram(codes ...uint32) *Histogram {
	var h Histogram
	for _, c := range codes {
		h.Add(c)
	}
	return &h
}

// of counts the records at the given places.
func of(a *Attribute, records ...int) *Histogram {
	var h Histogram
	for _, r := range records {
		h.Add(a.Codes[r])
	}
	return &h
}

func counts(ns ...int64) *Histogram {
	var h Histogram
	for i, n := range ns {
		h.AddN(uint32(i), n)
	}
	return &h
}

// The nine salaries 3k to 11k of Li, Li and Venkatasubramanian (2007), example
// in section 5.1: the classes {3k,4k,5k} and {6k,8k,11k} are 0.375 and 0.167
// away from the whole.
func TestSalariesOfTheClosenessPaper(t *testing.T) {
	salary := NewAttribute(column(t, table.Field{Name: "salary", Type: table.Integer},
		"3000", "4000", "5000", "6000", "7000", "8000", "9000", "10000", "11000"))
	first, second := of(salary, 0, 1, 2), of(salary, 3, 5, 8)
	if d := salary.Distance(first); d != 0.375 {
		t.Errorf("{3k,4k,5k}: %v, want 0.375", d)
	}
	if d := salary.Distance(second); math.Abs(d-1.0/6) > 1e-15 {
		t.Errorf("{6k,8k,11k}: %v, want 0.1667", d)
	}
	// The bound itself holds, the next number below it does not.
	for _, tt := range []struct {
		h    *Histogram
		t    float64
		want bool
	}{
		{first, 0.375, true},
		{first, math.Nextafter(0.375, 0), false},
		{second, 0.167, true},
		{second, 0.166, false},
		{second, math.Nextafter(1.0/6, 0), false}, // the decimal of 1/6 lies below a sixth
		{second, math.Nextafter(1.0/6, 1), true},
	} {
		if got := salary.Close(tt.h, &Closeness{T: tt.t}); got != tt.want {
			t.Errorf("close within %.17g: %v", tt.t, got)
		}
	}
}

// The classes of the 3-diverse patients (Machanavajjhala et al. 2007, table 3):
// each has four records, one disease twice and two others once.
func TestPatientsOfTheDiversityPaper(t *testing.T) {
	class := counts(2, 1, 1)
	if l := class.DistinctL(); l != 3 {
		t.Errorf("distinct %d", l)
	}
	if l := class.EntropyL(); math.Abs(l-math.Pow(2, 1.5)) > 1e-14 {
		t.Errorf("entropy %v", l)
	}
	// r1 = 2 < c (r_l + ... + r_3) with tails 4, 2, 1.
	for _, tt := range []struct {
		c    float64
		want int
	}{{0.5, 0}, {0.6, 1}, {1, 1}, {1.01, 2}, {2, 2}, {2.01, 3}, {100, 3}} {
		if l := class.RecursiveL(tt.c); l != tt.want {
			t.Errorf("recursive with c = %g: %d, want %d", tt.c, l, tt.want)
		}
	}
}

func TestEntropyOfEqualCountsIsExact(t *testing.T) {
	for _, n := range []int64{1, 3, 7, 1_000_003} {
		for l := 1; l <= 300; l++ {
			var h Histogram
			for i := range l {
				h.AddN(uint32(i), n)
			}
			if got := h.EntropyL(); got != float64(l) {
				t.Fatalf("%d values, %d times each: %v", l, n, got)
			}
		}
	}
	// 8^8 = 4^4 * 4^8: unequal counts with exactly four effective values.
	h := counts(4, 1, 1, 1, 1)
	if got := h.EntropyL(); got != 4 {
		t.Errorf("4,1,1,1,1: %.17g, want 4", got)
	}
	var a Attribute
	if !a.Diverse(h, &Diversity{Model: Entropy, L: 4}) || a.Diverse(h, &Diversity{Model: Entropy, L: 4.00001}) {
		t.Error("4,1,1,1,1 is entropy 4-diverse and no more")
	}
}

// c is the decimal that is written: a tenth of 10 is 1, which is not above 1,
// though the float64 next to a tenth is above it.
func TestBoundsAreDecimals(t *testing.T) {
	for _, tt := range []struct {
		n    int64
		c    float64
		s    int64
		want bool
	}{
		{1, 0.1, 10, false},
		{1, 0.1, 11, true},
		{3, 0.3, 10, false},
		{3, math.Nextafter(0.3, 1), 10, true},
		{7, 0.7, 10, false}, // the float64 lies below 0.7
		{1 << 53, 1, 1<<53 + 1, true},
		{1<<53 + 1, 1, 1<<53 + 1, false},
		{0, 1e-320, 1, true},
		{1, 1e300, 1, true},
		{1, 2, 0, false},
		{0, 2, 0, false},
	} {
		if got := below(tt.n, tt.c, tt.s); got != tt.want {
			t.Errorf("%d < %g * %d: %v", tt.n, tt.c, tt.s, got)
		}
	}
	word := NewAttribute(column(t, table.Field{Name: "w"}, "a", "a", "a", "b", "b", "b", "b", "b", "b", "b"))
	// All of a class are b: 1 - 7/10 = 0.3 away.
	if h := of(word, 3, 4); !word.Close(h, &Closeness{T: 0.3}) || word.Close(h, &Closeness{T: math.Nextafter(0.3, 0)}) {
		t.Errorf("distance %v", word.Distance(h))
	}
}

func TestCodes(t *testing.T) {
	for _, tt := range []struct {
		field       table.Field
		texts       []string
		codes       []uint32
		cardinality int
		ordered     bool
		whole       []int64
	}{
		{table.Field{Type: table.Integer}, []string{"10", "9", "", "9", "-1"}, []uint32{2, 1, 3, 1, 0}, 4, true, []int64{1, 2, 1, 1}},
		{table.Field{Type: table.Decimal}, []string{"0.5", "-0.0", "0", "1e3"}, []uint32{1, 0, 0, 2}, 3, true, []int64{2, 1, 1}},
		{table.Field{Type: table.Date}, []string{"2024-02-29", "1999-12-31"}, []uint32{1, 0}, 2, true, []int64{1, 1}},
		{
			table.Field{Type: table.Ordered, Levels: []string{"low", "mid", "high"}},
			[]string{"high", "low", "high"},
			[]uint32{1, 0, 1},
			2, true,
			[]int64{1, 2},
		},
		{table.Field{Type: table.Category}, []string{"b", "", "a", ""}, []uint32{1, 2, 0, 2}, 3, false, []int64{1, 1, 2}},
		{table.Field{Type: table.Category}, []string{"", ""}, []uint32{0, 0}, 1, false, []int64{2}},
		{table.Field{Type: table.Integer}, nil, []uint32{}, 0, true, []int64{}},
	} {
		a := NewAttribute(column(t, tt.field, tt.texts...))
		if diff := cmp.Diff(tt.codes, a.Codes); diff != "" {
			t.Errorf("%s %q codes: %s", tt.field.Type, tt.texts, diff)
		}
		if a.Cardinality != tt.cardinality || a.Ordered != tt.ordered || !slices.Equal(a.Whole, tt.whole) {
			t.Errorf("%s %q: %d codes, ordered %v, whole %v", tt.field.Type, tt.texts, a.Cardinality, a.Ordered, a.Whole)
		}
	}
}

func TestMissingValuesOfAnOrderedColumn(t *testing.T) {
	// Shares with a value: 4 of 6.
	a := NewAttribute(column(t, table.Field{Name: "n", Type: table.Integer}, "1", "2", "3", "4", "", ""))
	for _, tt := range []struct {
		what    string
		records []int
		want    float64
	}{
		{"everybody", []int{0, 1, 2, 3, 4, 5}, 0},
		{"the missing alone", []int{4, 5}, 4.0 / 6},
		{"all values alone", []int{0, 1, 2, 3}, 2.0 / 6},
		{"one value: |1-4/6| + 4/6 * (3+2+1)/4/3", []int{0}, 2.0/6 + 4.0/6*0.5},
		{"missing and the largest: |1/2-4/6| + 1/2 * 0.5", []int{3, 4}, 1.0/6 + 0.25},
	} {
		if got := a.Distance(of(a, tt.records...)); math.Abs(got-tt.want) > 1e-15 {
			t.Errorf("%s: %v, want %v", tt.what, got, tt.want)
		}
	}
	// No record has a value: every class is like the whole.
	none := NewAttribute(column(t, table.Field{Name: "n", Type: table.Integer}, "", "", ""))
	if d := none.Distance(of(none, 1)); d != 0 {
		t.Errorf("all missing: %v", d)
	}
}

func TestWhatIsNoPartOfTheTable(t *testing.T) {
	a := NewAttribute(column(t, table.Field{Name: "n", Type: table.Integer}, "1", "2"))
	for _, h := range []*Histogram{histogram(7), histogram(0, 1, 1)} {
		if d := a.Distance(h); d != 1 {
			t.Errorf("%v: distance %v", h.Pairs(), d)
		}
		if a.Close(h, &Closeness{T: 0.99}) {
			t.Errorf("%v: close", h.Pairs())
		}
	}
	if d := a.Distance(&Histogram{}); d != 0 {
		t.Errorf("empty: %v", d)
	}
	huge, err := NewWeighted(column(t, table.Field{Name: "n", Type: table.Integer}, "1", "2"), []int64{1 << 32, 1})
	if err != nil {
		t.Fatal(err)
	}
	if huge.Close(counts(1<<32, 1), &Closeness{T: 0.5}) {
		t.Error("a table too large to compute with counts as close")
	}
}

func TestWeights(t *testing.T) {
	f := table.Field{Name: "n", Type: table.Integer}
	want := NewAttribute(column(t, f, "5", "5", "7", "7", "7", ""))
	got, err := NewWeighted(column(t, f, "7", "", "05", "5"), []int64{3, 1, 1, 1})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Whole, want.Whole) || got.Distance(counts(1, 2)) != want.Distance(counts(1, 2)) {
		t.Errorf("%v, want %v", got.Whole, want.Whole)
	}
	for _, bad := range [][]int64{nil, {1}, {1, 2, 3, -1}} {
		if _, err := NewWeighted(column(t, f, "7", "", "05", "5"), bad); noren.KindOf(err) != noren.Usage {
			t.Errorf("%v: %v", bad, err)
		}
	}
}

func TestValidate(t *testing.T) {
	for _, ok := range []Requirement{
		{K: 1},
		{K: 5, Diversity: &Diversity{L: 2}, Closeness: &Closeness{T: 0}},
		{K: 5, Diversity: &Diversity{Model: Entropy, L: 1.5}, Closeness: &Closeness{T: 1}},
		{K: 5, Diversity: &Diversity{Model: Recursive, L: 2, C: 0.5}},
	} {
		if err := ok.Validate(); err != nil {
			t.Errorf("%s: %v", ok, err)
		}
	}
	nan, inf := math.NaN(), math.Inf(1)
	for _, tt := range []struct {
		r    Requirement
		want []string
	}{
		{Requirement{}, []string{"k is 0"}},
		{
			Requirement{K: -3, Diversity: &Diversity{L: 0, C: 1}, Closeness: &Closeness{T: 2}},
			[]string{"k is -3", "l of distinct", "c goes with", "t of closeness"},
		},
		{Requirement{K: 1, Diversity: &Diversity{L: 2.5}}, []string{"whole number"}},
		{Requirement{K: 1, Diversity: &Diversity{Model: Recursive, L: nan, C: nan}}, []string{"l of recursive", "c of recursive"}},
		{Requirement{K: 1, Diversity: &Diversity{Model: Entropy, L: inf}}, []string{"l of entropy"}},
		{Requirement{K: 1, Diversity: &Diversity{Model: 9, L: 2}}, []string{"no diversity model"}},
		{Requirement{K: 1, Closeness: &Closeness{T: nan}}, []string{"t of closeness"}},
	} {
		err := tt.r.Validate()
		if noren.KindOf(err) != noren.Usage {
			t.Errorf("%v: %v", tt.r, err)
			continue
		}
		for _, w := range tt.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%q does not say %q", err, w)
			}
		}
		var e *noren.Error
		if errors.As(err, &e); strings.Count(e.Said().String(), ";") != len(tt.want)-1 {
			t.Errorf("%q: want %d faults", err, len(tt.want))
		}
	}
}

func TestDiversityModelsByName(t *testing.T) {
	for _, m := range []DiversityModel{Distinct, Entropy, Recursive} {
		if got, err := ParseDiversityModel(m.String()); err != nil || got != m {
			t.Errorf("%s: %v, %v", m, got, err)
		}
	}
	if _, err := ParseDiversityModel("Distinct"); err == nil {
		t.Error("Distinct was taken for distinct")
	}
}

func TestGuaranteeSaysWhatItRestsOn(t *testing.T) {
	salary := NewAttribute(column(t, table.Field{Name: "salary", Type: table.Integer}, "1"))
	illness := NewAttribute(column(t, table.Field{Name: "illness"}, "a"))
	req := Requirement{K: 5, Diversity: &Diversity{Model: Recursive, L: 3, C: 2}, Closeness: &Closeness{T: 0.2}}
	g := Guarantee([]string{"age", "sex"}, req, []*Attribute{salary, illness})
	want := "k-anonymity, k = 5 over age, sex; recursive 3-diversity of salary; recursive 3-diversity of illness; " +
		"0.2-closeness of salary (ordered distance); 0.2-closeness of illness (equal distance)"
	if g.String() != want {
		t.Errorf("%s\nwant %s", g, want)
	}
	if g.Diversity[0].C != 2 {
		t.Errorf("c is %g", g.Diversity[0].C)
	}
	plain := Guarantee([]string{"age"}, Requirement{K: 5}, nil)
	for _, g := range []noren.Guarantee{g, plain} {
		all := g.Assumptions.Join("\n")
		for _, w := range []string{
			"knows at most the quasi-identifiers", "several records belong to one person", "released once",
			"missing value",
		} {
			if !strings.Contains(all, w) {
				t.Errorf("no assumption says %q", w)
			}
		}
	}
	if !strings.Contains(plain.Assumptions.Join("\n"), "a value that a whole class shares") {
		t.Error("plain k-anonymity does not say what it leaves open")
	}
}

// exactDistance is the definition, in rational numbers.
func exactDistance(a *Attribute, h *Histogram) *big.Rat {
	frac := func(x, y int64) *big.Rat {
		if y == 0 {
			return new(big.Rat)
		}
		return big.NewRat(x, y)
	}
	class := make([]int64, a.Cardinality)
	for _, p := range h.Pairs() {
		class[p.Code] = p.Count
	}
	sum := func(ns []int64) (s int64) {
		for _, n := range ns {
			s += n
		}
		return s
	}
	n, all := sum(class), sum(a.Whole)
	if !a.Ordered {
		d := new(big.Rat)
		for i := range class {
			diff := frac(class[i], n)
			d.Add(d, diff.Abs(diff.Sub(diff, frac(a.Whole[i], all))))
		}
		return d.Mul(d, big.NewRat(1, 2))
	}
	m := a.values
	s, u := frac(sum(class[:m]), n), frac(sum(a.Whole[:m]), all)
	d := new(big.Rat).Sub(s, u)
	d.Abs(d)
	if s.Sign() == 0 || m < 2 {
		return d
	}
	e := new(big.Rat)
	for i := range m {
		diff := frac(sum(class[:i+1]), sum(class[:m]))
		e.Add(e, diff.Abs(diff.Sub(diff, frac(sum(a.Whole[:i+1]), sum(a.Whole[:m])))))
	}
	e.Mul(e, big.NewRat(1, int64(m-1)))
	if s.Cmp(u) > 0 {
		s = u
	}
	return d.Add(d, e.Mul(e, s))
}
