package ldp

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/internal/randtest"
)

// Section 4 of docs/local-privacy.md: the standard results for n times the
// variance of a rare label's share.
func TestVariancesAreTheStandardResults(t *testing.T) {
	for _, epsilon := range []float64{0.5, 1, 2, 4} {
		for _, k := range []int{2, 5, 100} {
			e := math.Exp(epsilon)
			h := math.Exp(epsilon / 2)
			want := map[string]float64{
				"grr": (float64(k) - 2 + e) / ((e - 1) * (e - 1)),
				"oue": 4 * e / ((e - 1) * (e - 1)),
				"sue": h / ((h - 1) * (h - 1)),
			}
			for name, w := range want {
				o, err := NewOracle(name, k, epsilon)
				if err != nil {
					t.Fatal(err)
				}
				if got := o.Channel().Variance(0); math.Abs(got-w) > 1e-9*w {
					t.Errorf("%s, k = %d, epsilon %g: %g, want %g", name, k, epsilon, got, w)
				}
			}
			s, err := NewSubset(k, epsilon)
			if err != nil {
				t.Fatal(err)
			}
			if v := s.Channel().Variance(0); v > min(want["grr"], want["oue"])*(1+1e-9) && k > 2 && s.Size() > 1 {
				t.Errorf("subset selection of %d of %d has variance %g, above GRR's %g and OUE's %g", s.Size(), k, v, want["grr"], want["oue"])
			}
		}
		// OLH has an integer g, so its variance is OUE's where e^eps is one.
		o, err := NewOLH(50, math.Log(4))
		if err != nil {
			t.Fatal(err)
		}
		if got := o.Channel().Variance(0); math.Abs(got-16./9) > 1e-9 || o.HashDomain() != 5 {
			t.Errorf("OLH: %g with g = %d", got, o.HashDomain())
		}
	}
}

// Estimates are unbiased, their errors are as stated, and the intervals cover.
func TestEstimatesOfEveryOracle(t *testing.T) {
	truth := []float64{0.5, 0.25, 0.15, 0.1, 0}
	const n, repeats = 1500, 60
	for name, o := range oracles(t, 5, 1.5) {
		if strings.HasPrefix(name, "longitudinal") {
			continue // the same estimator, and slow to draw
		}
		src := randtest.Source(4)
		var sum, z2 [5]float64
		missed := 0
		for range repeats {
			c := NewCollector(o)
			for i := range n {
				u, label := (float64(i)+0.5)/n, 0
				for u >= truth[label] {
					u -= truth[label]
					label++
				}
				r, err := o.Randomise(src, label)
				if err != nil {
					t.Fatal(err)
				}
				if err := c.Add(r); err != nil {
					t.Fatal(err)
				}
			}
			f, err := c.Frequencies(0.9)
			if err != nil {
				t.Fatal(err)
			}
			miss := false
			for l := range truth {
				sum[l] += f.Value[l] / repeats
				z := (f.Value[l] - truth[l]) / f.StdErr[l]
				z2[l] += z * z / repeats
				miss = miss || truth[l] < f.Low[l] || truth[l] > f.High[l]
			}
			if miss {
				missed++
			}
		}
		for l := range truth {
			se := math.Sqrt(o.Channel().Variance(truth[l]) / n / repeats)
			if math.Abs(sum[l]-truth[l]) > 4.5*se {
				t.Errorf("%s: the mean estimate of label %d is %.5f, truly %g, standard error %.5f", name, l, sum[l], truth[l], se)
			}
			// The stated error is for people drawn from a population; here they are
			// fixed, so the spread is that or a little less.
			if z2[l] > 1+4*math.Sqrt(2./repeats) || z2[l] < 0.35 {
				t.Errorf("%s: the mean squared z-score of label %d is %.3f", name, l, z2[l])
			}
		}
		// at most 0.1 of all five; 60 repeats see 16 with probability below 1e-3 then.
		if missed > 16 {
			t.Errorf("%s: %d of %d sets of intervals missed", name, missed, repeats)
		}
	}
}

func TestBinomialIntervalAgainstRandtest(t *testing.T) {
	for _, c := range []struct{ k, n int64 }{{0, 10}, {10, 10}, {3, 10}, {500, 1000}, {1, 100000}} {
		lo, hi := binomialInterval(c.k, c.n, 0.05)
		wantLo, wantHi := randtest.ClopperPearson(c.k, c.n, 0.95)
		if math.Abs(lo-wantLo) > 1e-12 || math.Abs(hi-wantHi) > 1e-12 {
			t.Errorf("%d of %d: [%g, %g], want [%g, %g]", c.k, c.n, lo, hi, wantLo, wantHi)
		}
	}
}

// The projection is the nearest point of the simplex: no step towards a corner
// comes nearer (the condition of optimality).
func TestProjectionIsNearest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(rapid.Float64Range(-2, 2), 1, 12).Draw(t, "v")
		p := ProjectSimplex(v)
		total := 0.0
		for _, x := range p {
			if x < 0 {
				t.Fatal("below 0")
			}
			total += x
		}
		if math.Abs(total-1) > 1e-9 {
			t.Fatalf("adds up to %g", total)
		}
		for corner := range p {
			inner := 0.0 // (v - p).(corner - p) <= 0
			for i := range p {
				e := -p[i]
				if i == corner {
					e++
				}
				inner += (v[i] - p[i]) * e
			}
			if inner > 1e-9 {
				t.Fatalf("towards corner %d it is nearer (%g)", corner, inner)
			}
		}
	})
}

func TestCollectorSetsAside(t *testing.T) {
	for name, words := range map[string][]string{
		"grr":    {"5", "-1", "", "01", "1.0", "4294967296", "+1"},
		"oue":    {"0101", "010101", "01x01", ""},
		"sue":    {"11111 ", "abcde"},
		"olh":    {"", "00112233445566778899aabbccddeeff:9", "00112233445566778899aabbccddeeff1", "00112233445566778899aabbccddeexx:1", ":1"},
		"subset": {"0,0", "1,0", "5", "", ",", "0,1,2,3,4", "0x1"},
	} {
		o, err := NewOracle(name, 5, 1)
		if err != nil {
			t.Fatal(err)
		}
		c := NewCollector(o)
		src := randtest.Source(1)
		r, err := o.Randomise(src, 2)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.AddWord(o.Format(r)); err != nil {
			t.Fatal(err)
		}
		before := c.Counts()
		for _, w := range words {
			err := c.AddWord(w)
			if err == nil {
				t.Errorf("%s: %q was counted", name, w)
			} else if len(w) > 3 && strings.Contains(err.Error(), w) {
				t.Errorf("%s: the error tells the report: %v", name, err)
			}
		}
		if c.N() != 1 || !slices.Equal(before, c.Counts()) || c.Rejected().Total() != int64(len(words)) {
			t.Errorf("%s: bad reports spoiled the good one: %d counted, %v", name, c.N(), c.Rejected())
		}
		if name == "oue" && c.Rejected().WrongLength != 3 {
			t.Errorf("wrong lengths: %+v", c.Rejected())
		}
		if err := c.AddFrom("ann", o.Format(r)); err != nil {
			t.Error(err)
		}
		if err := c.AddFrom("ann", o.Format(r)); err == nil || c.Rejected().Duplicate != 1 {
			t.Errorf("%s: a second report of one client: %v", name, err)
		}
	}
}

func TestAddAllDoesNotDependOnWorkers(t *testing.T) {
	o, err := NewOLH(30, 1)
	if err != nil {
		t.Fatal(err)
	}
	src := randtest.Source(1)
	reports := make([]Report, 5000)
	for i := range reports {
		if reports[i], err = o.Randomise(src, i%30); err != nil {
			t.Fatal(err)
		}
	}
	reports[17].Value = 99
	one, many := NewCollector(o), NewCollector(o)
	if err := one.AddAll(t.Context(), reports, 1); err != nil {
		t.Fatal(err)
	}
	if err := many.AddAll(t.Context(), reports, 3); err != nil {
		t.Fatal(err)
	}
	if one.N() != 4999 || many.N() != 4999 || !slices.Equal(one.Counts(), many.Counts()) || many.Rejected().Malformed != 1 {
		t.Error("workers count differently")
	}
	if err := one.Merge(many); err != nil || one.N() != 2*4999 {
		t.Errorf("merged: %d (%v)", one.N(), err)
	}
	other, err := NewOLH(30, 2)
	if err != nil {
		t.Fatal(err)
	}
	if err := one.Merge(NewCollector(other)); err == nil {
		t.Error("reports of two mechanisms were added")
	}
}

func TestReportsReadAsWritten(t *testing.T) {
	src := randtest.Source(9)
	for _, k := range []int{2, 5, 64, 65, 300} {
		for name, o := range oracles(t, k, 1.3) {
			for label := range min(k, 5) {
				r, err := o.Randomise(src, label)
				if err != nil {
					t.Fatal(err)
				}
				again, err := o.Parse(o.Format(r))
				if err != nil {
					t.Fatalf("%s, k = %d: %v", name, k, err)
				}
				if again.Value != r.Value || again.Hash != r.Hash || !slices.Equal(again.Bits, r.Bits) {
					t.Errorf("%s, k = %d: a report is read otherwise than written", name, k)
				}
			}
		}
	}
}

func TestLossJSON(t *testing.T) {
	for _, l := range []Loss{{1, 2, 3}, once(1.5)} {
		b, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		var again Loss
		if err := json.Unmarshal(b, &again); err != nil || again != l {
			t.Errorf("%s reads as %v (%v)", b, again, err)
		}
	}
}

// A device gives the same permanent answer for ever, another device or question
// another one; reports of one label average to it and no further.
func TestPermanentAnswersStay(t *testing.T) {
	secret := []byte("0123456789abcdef")
	for _, construct := range []func(int, float64, float64) (*Longitudinal, error){NewLongitudinalGRR, NewLongitudinalOUE} {
		m, err := construct(6, 2, 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Device(secret[:15], "q"); err == nil {
			t.Error("a short secret")
		}
		src := randtest.Source(1)
		supports := func(secret []byte, question string) (counts [6]int64) {
			for range 4000 {
				d, err := m.Device(secret, question) // made anew each time
				if err != nil {
					t.Fatal(err)
				}
				r, err := d.Report(src, 3)
				if err != nil {
					t.Fatal(err)
				}
				m.tally(counts[:], &r)
			}
			return counts
		}
		a, b := supports(secret, "q"), supports(secret, "q")
		for l := range a {
			if math.Abs(float64(a[l]-b[l])) > 5*math.Sqrt(2*4000*0.25) {
				t.Errorf("%s: the permanent answer changed", m.Name())
			}
		}
		differ := false
		for i := range 4 {
			c := supports(secret, string(rune('a'+i)))
			for l := range a {
				differ = differ || math.Abs(float64(a[l]-c[l])) > 10*math.Sqrt(2*4000*0.25)
			}
		}
		if !differ {
			t.Errorf("%s: all questions have one permanent answer", m.Name())
		}
	}
}
