package ldp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/randtest"
)

// drawRounds adds the reports of n people who have words by shares to c. Person i answers in
// rounds(i) rounds. pool gets the same reports as if each were of another person.
func drawRounds(t testing.TB, r *Rappor, words []string, shares []float64, n int, rounds func(i, word int) int, g *rand.Rand) (c,
	pool *WordRounds,
) {
	t.Helper()
	collectors := [2]*WordRounds{}
	for i := range collectors {
		var err error
		if collectors[i], err = r.NewWordRounds(); err != nil {
			t.Fatal(err)
		}
	}
	half, p, q := r.EffectiveF()/2, r.p.float(), r.q.float()
	bloom := make([]uint32, len(words)*int(r.M))
	for w := range words {
		for cohort := range int(r.M) {
			bloom[w*int(r.M)+cohort] = r.Bloom([]byte(words[w]), uint32(cohort))
		}
	}
	flip := func(bits uint32, one, zero float64) (out uint32) {
		for b := range r.K {
			chance := zero
			if bits>>b&1 == 1 {
				chance = one
			}
			if g.Float64() < chance {
				out |= 1 << b
			}
		}
		return out
	}
	for i := range n {
		u, w := g.Float64(), 0
		for ; w < len(shares)-1 && u >= shares[w]; w++ {
			u -= shares[w]
		}
		cohort := uint32(g.IntN(int(r.M)))
		permanent := flip(bloom[w*int(r.M)+int(cohort)], 1-half, half)
		for j := range rounds(i, w) {
			report := RapporReport{Cohort: cohort, Bits: flip(permanent, q, p)}
			if err := collectors[0].Add(fmt.Sprint(i), report); err != nil {
				t.Fatal(err)
			}
			if err := collectors[1].Add(fmt.Sprint(i, j), report); err != nil {
				t.Fatal(err)
			}
		}
	}
	return collectors[0], collectors[1]
}

// The variance of one report is that of the channel, and what further reports reduce is the
// part of the reports alone.
func TestRoundsVariance(t *testing.T) {
	r, err := NewRappor(Params{K: 16, H: 2, M: 8, P: 0.25, Q: 0.8, F: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	for _, share := range []float64{0, 0.1, 0.5, 1} {
		if got, want := r.roundsVariance(share, 1), r.server(false).Variance(share); math.Abs(got/want-1) > 1e-9 {
			t.Errorf("a share of %g: %g, one report has %g", share, got, want)
		}
	}
	half := r.EffectiveF() / 2
	if got, want := r.roundsVariance(0, 0), half*(1-half)/((1-2*half)*(1-2*half)); math.Abs(got/want-1) > 1e-9 {
		t.Errorf("without end: %g, the permanent response has %g", got, want)
	}
}

// Estimates from rounds are unbiased and cover, also where people answer in some rounds
// only. Stated errors that take all reports for those of different people are too small, and
// are caught.
func TestWordRounds(t *testing.T) {
	randtest.SkipShort(t)
	testWordRounds(t, 40)
}

func TestLongWordRounds(t *testing.T) {
	randtest.Long(t)
	testWordRounds(t, 400)
}

func testWordRounds(t *testing.T, repeats int) {
	r, err := NewRappor(Params{K: 16, H: 2, M: 8, P: 0.3, Q: 0.7, F: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	const people, candidates, have = 1500, 10, 5
	words := make([]string, candidates)
	for i := range words {
		words[i] = fmt.Sprint("word ", i)
	}
	m, err := r.NewMap(words)
	if err != nil {
		t.Fatal(err)
	}
	shares := []float64{0.35, 0.25, 0.2, 0.15, 0.05, 0, 0, 0, 0, 0}
	g := rand.New(rand.NewPCG(5, 1))
	// From 1 to 8 rounds; those of the second word more often, which must not bias.
	rounds := func(i, word int) int {
		if word == 1 {
			return 4 + i%5
		}
		return 1 + i%8
	}
	var out [2]wordResult // of people, and of reports as if they were people
	var sum [2]struct{ bias, se, hit, square [candidates]float64 }
	first := 0.0 // the squared errors of one round
	for range repeats {
		together, pool := drawRounds(t, r, words, shares, people, rounds, g)
		for which, c := range []*WordRounds{together, pool} {
			d, err := c.Decode(t.Context(), m, DecodeOptions{All: true})
			if err != nil {
				t.Fatal(err)
			}
			if want := c.People(); d.N != want || !d.Joint {
				t.Fatalf("%d people of %d, joint %v", d.N, want, d.Joint)
			}
			s, held := &sum[which], true
			for _, w := range d.Words {
				for j, name := range words {
					if w.Word != name {
						continue
					}
					miss := w.Value - shares[j]
					s.bias[j] += miss
					s.se[j] += w.StdErr
					s.square[j] += miss * miss
					held = held && w.Low <= shares[j] && shares[j] <= w.High
					if math.Abs(miss) <= 1.959964*w.StdErr {
						s.hit[j]++
					}
				}
			}
			if held {
				out[which].together++
			}
			if d.Unnamed.Low <= 0 {
				out[which].unnamedCover++
			}
		}
		one, _ := drawRounds(t, r, words, shares, people, func(int, int) int { return 1 }, g)
		d, err := one.Decode(t.Context(), m, DecodeOptions{All: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range d.Words {
			for j, name := range words {
				if w.Word == name {
					first += (w.Value - shares[j]) * (w.Value - shares[j])
				}
			}
		}
	}
	n := float64(repeats)
	squares := 0.0
	for which := range out {
		o, s := &out[which], &sum[which]
		for j := range words {
			bias := math.Abs(s.bias[j] / s.se[j])
			o.worstBias = max(o.worstBias, bias)
			o.meanBias += bias / candidates
			o.meanCoverage += s.hit[j] / n / candidates
			if which == 0 {
				squares += s.square[j]
			}
		}
		o.together /= n
		o.unnamedCover /= n
	}
	if found := out[0].faults(repeats, candidates); found != nil {
		t.Errorf("rounds of people: %v", found)
	}
	// Reports taken for people: the second word counts double, and errors are too small.
	if out[1].faults(repeats, candidates) == nil {
		t.Errorf("reports that were taken for people were not caught: %+v", out[1])
	}
	if squares > 0.7*first {
		t.Errorf("several rounds have %.2f of the squared error of one", squares/first)
	}
}

// Rounds of one report each are decoded as one collection is.
func TestOneWordRound(t *testing.T) {
	src := randtest.Source(8)
	r, err := NewRappor(Params{K: 16, H: 2, M: 4, P: 0.25, Q: 0.75, F: 0.25})
	if err != nil {
		t.Fatal(err)
	}
	words := []string{"red", "green", "blue"}
	m, err := r.NewMap(words)
	if err != nil {
		t.Fatal(err)
	}
	rounds, err := r.NewWordRounds()
	if err != nil {
		t.Fatal(err)
	}
	single, err := r.NewCollector()
	if err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		device, err := r.Device(fmt.Appendf(nil, "the secret of device %05d", i), uint32(i%4))
		if err != nil {
			t.Fatal(err)
		}
		report, err := device.Encode(src, []byte(words[min(i%5, 2)]))
		if err != nil || rounds.Add(fmt.Sprint(i), report) != nil || single.Add(report) != nil {
			t.Fatal(err)
		}
	}
	a, err := rounds.Decode(t.Context(), m, DecodeOptions{All: true})
	if err != nil {
		t.Fatal(err)
	}
	b, err := single.Counts().Decode(t.Context(), m, DecodeOptions{All: true})
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range a.Words {
		if v := b.Words[i]; w.Word != v.Word || math.Abs(w.Value-v.Value) > 1e-9 || math.Abs(w.StdErr-v.StdErr) > 1e-9 ||
			math.Abs(w.P-v.P) > 1e-9 {
			t.Errorf("%+v, a collection has %+v", w, v)
		}
	}
	// A device keeps its cohort.
	if err := rounds.Add("7", RapporReport{Cohort: 0}); !IsCohort(err) || noren.KindOf(err) != noren.BadData {
		t.Errorf("another cohort: %v", err)
	}
	if err := rounds.Add("new", RapporReport{Cohort: 4}); !IsCohort(err) {
		t.Errorf("no such cohort: %v", err)
	}
	if err := rounds.Add("new", RapporReport{Bits: 1 << 16}); noren.KindOf(err) != noren.BadData || IsCohort(err) {
		t.Errorf("a bit beyond k: %v", err)
	}
	if rounds.People() != 1000 {
		t.Errorf("%d people", rounds.People())
	}
	if empty, err := r.NewWordRounds(); err != nil {
		t.Error(err)
	} else if _, err := empty.Decode(t.Context(), m, DecodeOptions{}); noren.KindOf(err) != noren.BadData {
		t.Errorf("nothing: %v", err)
	}
}
