package ldp

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/noise"
)

// The figures of docs/local-privacy.md, section 2: made by an independent
// program (golden figures of the project, table2), with nominal f.
func TestNominalLossIsTheTables(t *testing.T) {
	for _, c := range []struct {
		p                        Params
		report, lifetime, record float64
		labelTrue, label         float64
	}{
		{Basic(5, 0.1, 0.1, 0.9), 3.6306, 5.8889, 108.92, 0.66593, 2.0761},
		{Basic(5, 0.1, 0.25, 0.75), 1.9388, 5.8889, 58.16, 0.43685, 1.1324},
		{Basic(5, 0.3, 0.25, 0.75), 1.4618, 3.4692, 43.85, 0.37067, 0.8570},
		{OneTime(5, 0.28), 3.6306, 3.6306, 108.92, 0.66593, 2.0761},
		{OneTime(5, 0.55), 1.9388, 1.9388, 58.16, 0.43685, 1.1324},
		{OneTime(5, 0.65), 1.4618, 1.4618, 43.85, 0.37067, 0.8570},
	} {
		l := c.p.NominalLoss()
		one, zero := rapporBits(c.p.F, c.p.P, c.p.Q)
		d := (&Unary{k: 5, true: down(one), other: up(zero)}).DecodedLabel()
		for _, v := range []struct{ got, want, within float64 }{
			{l.Report, c.report, 5e-5},
			{l.Lifetime, c.lifetime, 5e-5},
			{l.Of(30).Record, c.record, 5e-3},
			{d.True, c.labelTrue, 5e-6},
			{d.Epsilon, c.label, 5e-5},
		} {
			if math.Abs(v.got-v.want) > v.within {
				t.Errorf("%+v: %.6g, want %g", c.p, v.got, v.want)
			}
		}
	}
	// The paper prints 2.531 for the second row; it belongs to (0.3, 0.1, 0.9).
	if got := Basic(5, 0.3, 0.1, 0.9).NominalLoss().Report; math.Abs(got-2.531) > 5e-4 {
		t.Errorf("the loss at (0.3, 0.1, 0.9) is %g", got)
	}
	for _, epsilon := range []float64{0.1, 1, 3} {
		if got := OneTime(5, OneTimeF(epsilon)).NominalLoss().Report; math.Abs(got-epsilon) > 1e-12 {
			t.Errorf("OneTimeF(%g) costs %g", epsilon, got)
		}
	}
}

// f is brought up to a multiple of 1/128, so what runs costs no more than asked.
func TestEffectiveF(t *testing.T) {
	for _, c := range []struct{ f, python, cpp float64 }{
		{0.5, 64, 64}, {0.28, 36, 35}, {0.55, 71, 70}, {0, 0, 0}, {1, 128, 128}, {0.0078125, 1, 1}, {0.1, 13, 12},
	} {
		p := Params{K: 8, H: 1, M: 1, P: 0.25, Q: 0.75, F: c.f}
		python, err1 := NewRappor(p)
		cpp, err2 := NewCppRappor(p, "e")
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if python.EffectiveF()*128 != c.python || cpp.EffectiveF()*128 != c.cpp {
			t.Errorf("f = %g runs as %g/128 and %g/128", c.f, python.EffectiveF()*128, cpp.EffectiveF()*128)
		}
		if got, asked := python.Loss().Report, p.NominalLoss().Report; got > asked*(1+1e-12) {
			t.Errorf("f = %g costs %g, more than %g", c.f, got, asked)
		}
	}
}

// Over random secrets the permanent response, and the report, have the bits that
// the formulas say, independently.
func TestRapporChannel(t *testing.T) {
	for _, p := range []Params{Basic(3, 0.3, 0.25, 0.75), OneTime(3, 0.55), Basic(3, 0.1, 0.1, 0.9)} {
		r, err := NewRappor(p)
		if err != nil {
			t.Fatal(err)
		}
		o, err := r.Oracle()
		if err != nil {
			t.Fatal(err)
		}
		m, number := exact(o)
		if got := m.epsilon(t); got > r.Loss().Report || got < r.Loss().Report-1e-9 {
			t.Errorf("%+v: the channel loses %.15g, stated is %.15g", p, got, r.Loss().Report)
		}
		const n = 30_000
		src := randtest.Source(2)
		counts, oracle, permanent := make([]int64, 8), make([]int64, 8), make([]int64, 8)
		for i := range n {
			d, err := r.device(binary.LittleEndian.AppendUint64(nil, uint64(i)), 0)
			if err != nil {
				t.Fatal(err)
			}
			rep, err := d.EncodeLabel(src, 1)
			if err != nil {
				t.Fatal(err)
			}
			counts[rep.Bits]++
			permanent[d.Permanent(2)]++
			one, err := o.Randomise(src, 1)
			if err != nil {
				t.Fatal(err)
			}
			oracle[number(one)]++
		}
		fits(t, fmt.Sprintf("%+v", p), counts, m.floats(1))
		fits(t, fmt.Sprintf("%+v as an oracle", p), oracle, m.floats(1))
		prr, _ := exact(&Unary{k: 3, true: down(1 - r.EffectiveF()/2), other: up(r.EffectiveF() / 2)})
		fits(t, fmt.Sprintf("%+v, permanent", p), permanent, prr.floats(1))
		if got := prr.epsilon(t); got > r.Loss().Lifetime || got < r.Loss().Lifetime-1e-9 {
			t.Errorf("%+v: the permanent response loses %.15g, stated is %.15g", p, got, r.Loss().Lifetime)
		}
	}
}

func TestRandomSetBitIsDecodedLabel(t *testing.T) {
	r, err := NewRappor(OneTime(5, 0.55))
	if err != nil {
		t.Fatal(err)
	}
	o, err := r.Oracle()
	if err != nil {
		t.Fatal(err)
	}
	d := o.DecodedLabel()
	src := randtest.Source(8)
	counts := make([]int64, 5)
	for range 50_000 {
		rep, err := o.Randomise(src, 3)
		if err != nil {
			t.Fatal(err)
		}
		l, err := o.RandomSetBit(src, rep)
		if err != nil {
			t.Fatal(err)
		}
		counts[l]++
	}
	fits(t, "decoded label", counts, []float64{d.Other, d.Other, d.Other, d.True, d.Other})
}

func TestRapporRefuses(t *testing.T) {
	good := Params{K: 16, H: 2, M: 64, P: 0.5, Q: 0.75, F: 0.5}
	for name, change := range map[string]func(*Params){
		"k 0": func(p *Params) { p.K = 0 }, "k 33": func(p *Params) { p.K = 33 },
		"h 0": func(p *Params) { p.H = 0 }, "h 17": func(p *Params) { p.H = 17 },
		"m 0": func(p *Params) { p.M = 0 }, "m 2^32+1": func(p *Params) { p.M = 1<<32 + 1 },
		"f above": func(p *Params) { p.F = 1.01 }, "f below": func(p *Params) { p.F = -0.1 }, "f NaN": func(p *Params) { p.F = math.NaN() },
		"p NaN": func(p *Params) { p.P = math.NaN() }, "q above": func(p *Params) { p.Q = 1.5 },
		"p = q": func(p *Params) { p.P = p.Q }, "p > q": func(p *Params) { p.P, p.Q = 0.75, 0.5 },
		"no epsilon": func(p *Params) { p.P, p.Q, p.F = 0, 1, 0 }, "no epsilon, q below 1": func(p *Params) { p.P, p.F = 0, 0 },
	} {
		p := good
		change(&p)
		if _, err := NewRappor(p); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	p := good
	p.K, p.H = 99, 99
	if _, err := NewRappor(p); err == nil || !strings.Contains(err.Error(), "k must") || !strings.Contains(err.Error(), "h must") {
		t.Errorf("not all faults are listed: %v", err)
	}
	r, err := NewRappor(good)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Device(make([]byte, 16), 64); err == nil {
		t.Error("a cohort that does not exist")
	}
	if _, err := r.Oracle(); err == nil {
		t.Error("labels with two hash functions")
	}
	p.K, p.H, p.M = 8, 1, 48
	if _, err := NewCppRappor(p, ""); err == nil {
		t.Error("the C++ client's cohorts must be a power of two")
	}
	p.M, p.F = 1, 1
	if r, err = NewRappor(p); err != nil {
		t.Fatal(err)
	}
	c := newRapporCounts(r)
	c.N[0] = 10
	if _, err := c.EstimateBits(); err == nil {
		t.Error("estimates from answers that are all random")
	}
}

// Counting in packed bytes is counting bits.
func TestCollectorCountsBits(t *testing.T) {
	for _, k := range []int{1, 5, 8, 9, 31, 32} {
		r, err := NewRappor(Params{K: k, H: 1, M: 3, P: 0.25, Q: 0.75, F: 0.5})
		if err != nil {
			t.Fatal(err)
		}
		c, err := r.NewCollector()
		if err != nil {
			t.Fatal(err)
		}
		src := randtest.Source(uint64(k))
		n, counts := make([]int64, 3), make([]int64, 3*k)
		for i := range 5000 {
			w, err := src.Uint64()
			if err != nil {
				t.Fatal(err)
			}
			rep := RapporReport{Cohort: uint32(i*i) % 3, Bits: uint32(w) & (1<<k - 1)}
			if err := c.Add(rep); err != nil {
				t.Fatal(err)
			}
			n[rep.Cohort]++
			for b := range k {
				counts[int(rep.Cohort)*k+b] += int64(rep.Bits >> b & 1)
			}
			if i == 777 {
				c.Counts() // looking does not disturb
			}
		}
		got := c.Counts()
		for i := range n {
			if got.N[i] != n[i] {
				t.Errorf("k = %d: cohort %d has %d reports, want %d", k, i, got.N[i], n[i])
			}
		}
		for i := range counts {
			if got.Bits[i] != counts[i] {
				t.Errorf("k = %d: count %d is %d, want %d", k, i, got.Bits[i], counts[i])
			}
		}
	}
}

// Bad reports are counted and change nothing else.
func TestBadRapporReportsAreSetAside(t *testing.T) {
	r, err := NewRappor(Params{K: 8, H: 2, M: 4, P: 0.25, Q: 0.75, F: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	collect := func(lines string) *RapporCounts {
		c, err := r.NewCollector()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.AddLines(t.Context(), strings.NewReader(lines)); err != nil {
			t.Fatal(err)
		}
		return c.Counts()
	}
	good := "0,00110101\n3,11110000\r\n1,00000000"
	clean := collect(good)
	dirty := collect("\n4,00110101\n0,0011010\n0,001101010\nx,00110101\n0,0011x101\n00110101\n+1,00000000\n" + strings.Repeat("9", 100_000) +
		"\n" + good)
	want := Rejected{Malformed: 5, WrongLength: 2, BadCohort: 1}
	if dirty.Rejected != want {
		t.Errorf("excluded %+v, want %+v", dirty.Rejected, want)
	}
	var a, b bytes.Buffer
	if err := WriteCounts(&a, clean); err != nil {
		t.Fatal(err)
	}
	if err := WriteCounts(&b, dirty); err != nil {
		t.Fatal(err)
	}
	if a.String() != b.String() || clean.Reports() != 3 {
		t.Error("bad reports spoiled the good ones")
	}
	c, err := r.NewCollector()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Add(RapporReport{Bits: 1 << 8}); err == nil {
		t.Error("a bit beyond k was counted")
	}
	for i, report := range []string{"0,11111111", "0,11111111", "bad", "0,11111111"} {
		client := []string{"ann", "ann", "bob", "bob"}[i]
		if err := c.AddFrom(client, report); (err == nil) != (i == 0 || i == 3) {
			t.Errorf("report %d: %v", i, err)
		}
	}
	if got := c.Counts(); got.Reports() != 2 || got.Rejected.Duplicate != 1 {
		t.Errorf("%d reports, %v", got.Reports(), got.Rejected)
	}
}

// simulate makes the counts of n people drawn from a population whose words
// have these shares.
func simulate(t testing.TB, r *Rappor, words []string, shares []float64, n int, seed uint64) *RapporCounts {
	t.Helper()
	src := randtest.Source(seed)
	c, err := r.NewCollector()
	if err != nil {
		t.Fatal(err)
	}
	for range n {
		u, err := noise.Uniform(src)
		if err != nil {
			t.Fatal(err)
		}
		w := 0
		for w < len(words)-1 && u >= shares[w] {
			u -= shares[w]
			w++
		}
		cohort, err := uniform(src, uint64(r.M))
		if err != nil {
			t.Fatal(err)
		}
		secret, err := src.Uint64()
		if err != nil {
			t.Fatal(err)
		}
		d, err := r.device(binary.LittleEndian.AppendUint64(nil, secret), uint32(cohort))
		if err != nil {
			t.Fatal(err)
		}
		rep, err := d.Encode(src, []byte(words[w]))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Add(rep); err != nil {
			t.Fatal(err)
		}
	}
	return c.Counts()
}

func TestDecodeFindsTheWords(t *testing.T) {
	r, err := NewRappor(Params{K: 16, H: 2, M: 32, P: 0.25, Q: 0.75, F: 0.25})
	if err != nil {
		t.Fatal(err)
	}
	words := make([]string, 120)
	for i := range words {
		words[i] = fmt.Sprintf("word %d", i)
	}
	shares := []float64{0.4, 0.25, 0.15, 0.1, 0.06, 0.04}
	m, err := r.NewMap(words)
	if err != nil {
		t.Fatal(err)
	}
	counts := simulate(t, r, words[:len(shares)], shares, 60_000, 1)
	d, err := counts.Decode(t.Context(), m, DecodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Words) < 4 {
		t.Fatalf("found only %v", d.Words)
	}
	for i, w := range d.Words {
		var at int
		if _, err := fmt.Sscanf(w.Word, "word %d", &at); err != nil || at >= len(shares) {
			t.Errorf("found %q, which no person has", w.Word)
			continue
		}
		if math.Abs(w.Value-shares[at]) > 4*w.StdErr {
			t.Errorf("%q: %.4f, truly %.4f, standard error %.4f", w.Word, w.Value, shares[at], w.StdErr)
		}
		if i > 0 && w.Value > d.Words[i-1].Value {
			t.Error("not the largest share first")
		}
	}
	if math.Abs(d.Explained-1) > 0.1 || d.N != 60_000 || d.Candidates != 120 {
		t.Errorf("explained %g of %d reports with %d candidates", d.Explained, d.N, d.Candidates)
	}
	all, err := counts.Decode(t.Context(), m, DecodeOptions{All: true, Correction: Bonferroni})
	if err != nil || len(all.Words) != len(words) {
		t.Errorf("%d of %d candidates (%v)", len(all.Words), len(words), err)
	}
}

// The standard errors are those of repeated estimates, and words that no person has
// are seldom found.
func TestDecodeErrorsAndFalseDiscoveries(t *testing.T) {
	randtest.SkipShort(t)
	r, err := NewRappor(Params{K: 8, H: 2, M: 16, P: 0, Q: 1, F: 0.25})
	if err != nil {
		t.Fatal(err)
	}
	words := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"}
	m, err := r.NewMap(words)
	if err != nil {
		t.Fatal(err)
	}
	const repeats = 150
	var z2, se float64
	falseOnes, found := 0, 0
	for i := range repeats {
		d, err := simulate(t, r, words[:2], []float64{0.6, 0.4}, 3000, uint64(100+i)).Decode(t.Context(), m, DecodeOptions{Level: 0.1})
		if err != nil {
			t.Fatal(err)
		}
		wrong := false
		for _, w := range d.Words {
			switch w.Word {
			case "a":
				found++
				se += w.StdErr
				z2 += (w.Value - 0.6) * (w.Value - 0.6) / (w.StdErr * w.StdErr)
			case "b":
			default:
				wrong = true
			}
		}
		if wrong {
			falseOnes++
		}
	}
	if found != repeats {
		t.Fatalf("the commonest word was found %d times of %d", found, repeats)
	}
	// The mean of 150 squared z-scores is 1 within 4 sqrt(2/150).
	z2 /= repeats
	if math.Abs(z2-1) > 4*math.Sqrt(2./repeats) {
		t.Errorf("the mean squared z-score is %.3f: the standard errors (mean %.4f) are not right", z2, se/repeats)
	}
	// at most 0.1; 150 repeats see 28 with probability below 1e-3 then.
	if falseOnes > 28 {
		t.Errorf("%d of %d decodings found a word that no person has", falseOnes, repeats)
	}
}

func TestDecodeRefuses(t *testing.T) {
	r, err := NewRappor(Params{K: 8, H: 2, M: 4, P: 0.25, Q: 0.75, F: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	other, err := NewRappor(Params{K: 8, H: 1, M: 4, P: 0.25, Q: 0.75, F: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	m, err := r.NewMap([]string{"a"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.NewMap([]string{"a", "a"}); err == nil {
		t.Error("one candidate twice")
	}
	empty := newRapporCounts(r)
	if _, err := empty.Decode(t.Context(), m, DecodeOptions{}); err == nil {
		t.Error("decoded without reports")
	}
	c := newRapporCounts(other)
	c.N[0] = 1
	if _, err := c.Decode(t.Context(), m, DecodeOptions{}); err == nil {
		t.Error("decoded with another's map")
	}
}
