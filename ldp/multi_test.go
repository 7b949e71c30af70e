package ldp

import (
	"math"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/randtest"
)

func record() []Attribute {
	return []Attribute{{Name: "sex", Labels: 2}, {Name: "age", Lo: 0, Hi: 100}, {Name: "town", Labels: 40}}
}

func TestMultiEstimatesEveryAttribute(t *testing.T) {
	for _, epsilon := range []float64{1, 6} {
		m, err := NewMulti(record(), epsilon)
		if err != nil {
			t.Fatal(err)
		}
		if want := max(1, int(epsilon/2.5)); m.Sampled() != want {
			t.Errorf("epsilon %g: %d attributes are sent, want %d", epsilon, m.Sampled(), want)
		}
		if l := m.Loss(); l.Record != epsilon || math.Abs(l.Report*float64(m.Sampled())-epsilon) > 1e-12 {
			t.Errorf("loss %v", l)
		}
		src, c := randtest.Source(1), NewMultiCollector(m)
		const n = 30_000
		for i := range n {
			parts, err := m.Randomise(src, []float64{float64(i % 4 / 3), 40, float64(i % 40)})
			if err != nil {
				t.Fatal(err)
			}
			if err := c.AddWord(m.Format(parts)); err != nil {
				t.Fatal(err)
			}
		}
		f, err := c.Frequencies(0, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(f.Value[0]-0.75) > 4*f.StdErr[0] || f.N < int64(n/3*m.Sampled()*9/10) {
			t.Errorf("epsilon %g: share %g +- %g from %d", epsilon, f.Value[0], f.StdErr[0], f.N)
		}
		mean, err := c.Mean(1, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(mean.Value-40) > 4*mean.StdErr {
			t.Errorf("epsilon %g: mean %g +- %g", epsilon, mean.Value, mean.StdErr)
		}
		if _, err := c.Mean(0, 0.95); err == nil {
			t.Error("a mean of labels")
		}
		if _, err := c.Frequencies(1, 0.95); err == nil {
			t.Error("shares of numbers")
		}
		if c.N() != n {
			t.Errorf("%d reports", c.N())
		}
	}
}

func TestMultiSetsAside(t *testing.T) {
	m, err := NewMulti(record(), 6) // two attributes a report
	if err != nil {
		t.Fatal(err)
	}
	c := NewMultiCollector(m)
	for _, w := range []string{"", "0=1", "0=1;0=1", "0=1;3=1", "0=1;1", "0=2;1=5", "0=1;1=1;2=0", "x=1;1=5"} {
		if c.AddWord(w) == nil {
			t.Errorf("%q was counted", w)
		}
	}
	if err := c.Add([]Part{{Attribute: 0}, {Attribute: -1}}); err == nil {
		t.Error("a negative attribute was counted")
	}
	if c.N() != 0 || c.Rejected().Total() != 9 || c.labels[0].N() != 0 {
		t.Error("a part of a bad report was counted")
	}
	for _, r := range [][]float64{{0, 1}, {2, 1, 1}, {0.5, 1, 1}, {0, math.NaN(), 1}, {math.NaN(), 1, 1}, {0, 1, -1}} {
		for range 20 { // whichever attributes are drawn
			if _, err := m.Randomise(randtest.Source(1), r); err == nil {
				t.Errorf("%v was reported", r)
			}
		}
	}
	if _, err := NewMulti(nil, 1); err == nil {
		t.Error("no attributes")
	}
	if _, err := NewMulti([]Attribute{{Lo: 1, Hi: 0}}, 1); err == nil {
		t.Error("an empty range")
	}
}

// Two attributes that go together are seen to, with errors that are right.
func TestAssociation(t *testing.T) {
	a, err1 := NewGRR(2, 1.5)
	b, err2 := NewOUE(3, 1.5)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	truth := [2][3]float64{{0.4, 0.1, 0.1}, {0.05, 0.05, 0.3}}
	const n, repeats = 4000, 40
	var z2 float64
	for rep := range repeats {
		src := randtest.Source(uint64(rep))
		var ea, eb []Evidence
		for range n {
			w, err := uniform(src, 1_000_000)
			if err != nil {
				t.Fatal(err)
			}
			u, x, y := float64(w)/1e6, 0, 0
			for u >= truth[x][y] {
				u -= truth[x][y]
				if y++; y == 3 {
					x, y = x+1, 0
				}
			}
			ra, err1 := a.Randomise(src, x)
			rb, err2 := b.Randomise(src, y)
			if err1 != nil || err2 != nil {
				t.Fatal(err1, err2)
			}
			ea, eb = append(ea, Likelihood(a, ra)), append(eb, Likelihood(b, rb))
		}
		j, err := Associate(t.Context(), ea, eb, EM{})
		if err != nil {
			t.Fatal(err)
		}
		if !j.Converged || j.N != n {
			t.Errorf("%d iterations, %d people", j.Iterations, j.N)
		}
		z := (j.Share[0][0] - truth[0][0]) / j.StdErr[0][0]
		z2 += z * z / repeats
		z = (j.Share[1][2] - truth[1][2]) / j.StdErr[1][2] // the last, from the others
		z2 += z * z / repeats
	}
	z2 /= 2
	if math.Abs(z2-1) > 4*math.Sqrt(2./repeats) {
		t.Errorf("the mean squared z-score is %.3f", z2)
	}
}

func TestAssociationOfWords(t *testing.T) {
	r, err := NewRappor(Params{K: 16, H: 2, M: 8, P: 0.1, Q: 0.9, F: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	m, err := r.NewMap([]string{"tea", "milk"})
	if err != nil {
		t.Fatal(err)
	}
	src := randtest.Source(12)
	words := []string{"tea", "milk", "wine"}
	var ea, eb []Evidence
	const n = 3000
	for i := range n {
		w := words[i%3]
		var parts []Evidence
		for range 2 { // both attributes are the same
			s, err := src.Uint64()
			if err != nil {
				t.Fatal(err)
			}
			d, err := r.device([]byte{byte(s), byte(s >> 8), byte(s >> 16), byte(s >> 24)}, uint32(i%8))
			if err != nil {
				t.Fatal(err)
			}
			rep, err := d.Encode(src, []byte(w))
			if err != nil {
				t.Fatal(err)
			}
			e, err := m.Likelihood(rep)
			if err != nil {
				t.Fatal(err)
			}
			parts = append(parts, e)
		}
		ea, eb = append(ea, parts[0]), append(eb, parts[1])
	}
	j, err := Associate(t.Context(), ea, eb, EM{})
	if err != nil {
		t.Fatal(err)
	}
	for x := range 3 {
		for y := range 3 {
			want := 0.0
			if x == y {
				want = 1. / 3
			}
			if math.Abs(j.Share[x][y]-want) > 0.08 {
				t.Errorf("share of %d with %d is %.3f, truly %.3f", x, y, j.Share[x][y], want)
			}
		}
	}
	if _, err := m.Likelihood(RapporReport{Cohort: 8}); err == nil {
		t.Error("a cohort that does not exist")
	}
}

func TestAssociateRefuses(t *testing.T) {
	good := []Evidence{{1, 2}}
	for name, c := range map[string][2][]Evidence{
		"no person":       {nil, nil},
		"different":       {good, {{1, 2}, {1, 2}}},
		"ragged":          {{{1, 2}, {1}}, {{1}, {1}}},
		"negative":        {{{-1, 2}}, good},
		"NaN":             {{{math.NaN(), 2}}, good},
		"impossible":      {{{0, 0}}, good},
		"too many labels": {{make(Evidence, 1<<14)}, good},
	} {
		if _, err := Associate(t.Context(), c[0], c[1], EM{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestAdvice(t *testing.T) {
	for _, c := range []struct {
		q    Question
		want string
	}{
		{Question{Domain: 2, Epsilon: 1}, "grr"},
		{Question{Domain: 5, Epsilon: 1}, "grr"},
		{Question{Domain: 50, Epsilon: 1}, "oue"},
		{Question{Domain: 100, Epsilon: 4}, "grr"},
		{Question{Domain: 1_000_000, Epsilon: 1}, "olh"},
		{Question{Domain: 500, Epsilon: 1, ReportBytes: 30}, "olh"},
		{Question{Domain: 500, Epsilon: 1, ReportBytes: 1}, "grr"},
		{Question{Domain: 5, Epsilon: 1, Repeats: 10}, "longitudinal-grr"},
		{Question{Domain: 200, Epsilon: 1, Lifetime: 3, Repeats: 10}, "longitudinal-oue"},
	} {
		c.q.N, c.q.Error = 10_000, 0.01
		a, err := Advise(c.q)
		if err != nil {
			t.Fatal(err)
		}
		if a.Best.Mechanism != c.want || len(a.Why) == 0 {
			t.Errorf("%+v: %s, want %s (%v)", c.q, a.Best.Mechanism, c.want, a.Why)
		}
		// The sample size gives the error it is for, and one person less does not.
		o := a.Best
		worst := o.WorstStdErr * math.Sqrt(float64(c.q.N))
		if e := worst / math.Sqrt(float64(o.Needed)); e > 0.01 || worst/math.Sqrt(float64(o.Needed-1)) <= 0.01 {
			t.Errorf("%+v: %d people have an error of %g", c.q, o.Needed, e)
		}
	}
	for _, q := range []Question{
		{Domain: 1, Epsilon: 1},
		{Domain: 5},
		{Domain: 5, Epsilon: 1, N: -1},
		{Domain: 5, Epsilon: 3, Lifetime: 3, Repeats: 2},
		{Domain: 5, Epsilon: 3, Lifetime: 300, Repeats: 2},
		{Domain: 5, Epsilon: 1, Error: math.NaN()},
	} {
		if _, err := Advise(q); err == nil {
			t.Errorf("%+v: no error", q)
		}
	}
}

// All attributes in every report, each with its share of epsilon.
func TestMultiOfAll(t *testing.T) {
	m, err := NewMultiOf([]Attribute{{Labels: 3}, {Labels: 2}, {Lo: 0, Hi: 1}}, 3, 3)
	if err != nil {
		t.Fatal(err)
	}
	if m.Sampled() != 3 || m.Loss().Report != 1 || m.Loss().Record != 3 {
		t.Errorf("%d of 3 attributes at %v", m.Sampled(), m.Loss())
	}
	if m.Oracle(0) == nil || m.Oracle(0).Loss().Report != 1 || m.Oracle(2) != nil || m.Mean(2) == nil || m.Mean(0) != nil {
		t.Error("the attributes' mechanisms are not those of their domains")
	}
	c := NewMultiCollector(m)
	for range 5 {
		parts, err := m.Randomise(randtest.Source(1), []float64{2, 1, 0.5})
		if err != nil || c.Add(parts) != nil {
			t.Fatal(err)
		}
	}
	for j := range 3 {
		if c.Reports(j) != 5 {
			t.Errorf("%d of 5 reports hold attribute %d", c.Reports(j), j)
		}
	}
	for _, sampled := range []int{0, -1, 4} {
		if _, err := NewMultiOf([]Attribute{{Labels: 3}, {Labels: 2}, {Lo: 0, Hi: 1}}, 3, sampled); noren.KindOf(err) != noren.Usage ||
			err == nil {
			t.Errorf("%d of 3 attributes: %v", sampled, err)
		}
	}
}
