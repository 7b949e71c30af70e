package report

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/table"
)

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 1: "1", -1: "−1", 1234567: "1,234,567", 12.3456: "12.35", 0.012345: "0.01235", 999.96: "1,000", 1e15: "1×10¹⁵",
		-2.5e-7: "−2.5×10⁻⁷",
		100:     "100", 0.5: "0.5", -1234.56: "−1,235", 123456.7: "123,457", math.Inf(1): "∞",
	} {
		if got := Number(v); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
	if got := Number(math.NaN()); got != "n/a" {
		t.Error(got)
	}
}

func TestPercent(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0%", 1: "100%", 0.5: "50%", 0.123: "12.3%", 0.00004: "<0.01%", 0.999999: ">99.99%", 0.9995: "99.95%", 0.0123: "1.2%", 0.005: "0.5%",
		0.00123: "0.12%", 2: "200%",
	} {
		if got := Percent(v); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
}

// A share that is not 0 or 1 never reads as if it were.
func TestPercentIsHonest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 1<<40).Draw(t, "n")
		m := rapid.IntRange(1, n-1).Draw(t, "m")
		if got := Percent(float64(m) / float64(n)); got == "0%" || got == "100%" {
			t.Fatalf("%d of %d is %s", m, n, got)
		}
	})
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		a    axis
		n    int
		want []float64
	}{
		{axis{lo: 0, hi: 1}, 5, []float64{0, 0.2, 0.4, 0.6, 0.8, 1}},
		{axis{lo: 3, hi: 97}, 5, []float64{20, 40, 60, 80}},
		{axis{lo: -0.3, hi: 0.3}, 4, []float64{-0.2, 0, 0.2}},
		{axis{lo: 1, hi: 1000, scale: Log}, 4, []float64{1, 10, 100, 1000}},
		{axis{lo: 1, hi: 10, scale: Log}, 6, []float64{1, 2, 5, 10}},
		{axis{lo: 1, hi: 1e12, scale: Log}, 4, []float64{1, 1e3, 1e6, 1e9, 1e12}},
		{axis{lo: 5, hi: 5}, 4, []float64{5}},
	} {
		got := c.a.ticks(c.n)
		if !slices.EqualFunc(got, c.want, func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(1, math.Abs(b)) }) {
			t.Errorf("%+v: %v, want %v", c.a, got, c.want)
		}
	}
}

// Ticks lie on the axis, ascend, and are neither crowded nor absent.
func TestTicksProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lo := rapid.Float64Range(-1e9, 1e9).Draw(t, "lo")
		hi := lo + rapid.Float64Range(1e-3, 1e9).Draw(t, "width")
		n := rapid.IntRange(2, 12).Draw(t, "n")
		got := linearTicks(lo, hi, n)
		if len(got) > n+1 || len(got) < 1 && hi-lo > 1e-2 && n > 2 {
			t.Fatalf("%d ticks of %d on [%v, %v]", len(got), n, lo, hi)
		}
		for i, v := range got {
			if v < lo-(hi-lo)*1e-6 || v > hi+(hi-lo)*1e-6 || i > 0 && v <= got[i-1] {
				t.Fatalf("ticks %v on [%v, %v]", got, lo, hi)
			}
		}
	})
}

func TestDateTicks(t *testing.T) {
	const layout = table.Layout("YYYY-MM-DD")
	for _, c := range []struct{ lo, hi, first, second string }{
		{"2020-01-15", "2021-12-31", "2020-07-01", "2021-01-01"},
		{"1950-03-01", "2010-01-01", "1960-01-01", "1970-01-01"},
		{"2024-02-03", "2024-05-20", "2024-03-01", "2024-04-01"},
		{"2024-02-03", "2024-02-12", "2024-02-03", "2024-02-05"},
	} {
		lo, _ := layout.Parse(c.lo)
		hi, _ := layout.Parse(c.hi)
		got := dateTicks(float64(lo), float64(hi), 7, layout)
		if len(got) < 2 || layout.Format(int64(got[0])) != c.first || layout.Format(int64(got[1])) != c.second {
			t.Errorf("%s to %s: %d ticks from %s, %s", c.lo, c.hi, len(got), layout.Format(int64(got[0])), layout.Format(int64(got[1])))
		}
	}
}

func TestFit(t *testing.T) {
	if got := fit("short", 12, 200); got != "short" {
		t.Error(got)
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		width := rapid.Float64Range(20, 300).Draw(t, "width")
		if got := fit(s, 12, width); textWidth(got, 12) > width+12 {
			t.Fatalf("%q is wider than %v", got, width)
		}
	})
}
