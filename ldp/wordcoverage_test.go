package ldp

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/noren-privacy/noren/internal/randtest"
)

// drawCounts draws the counts that n people's reports add up to.
func drawCounts(r *Rappor, words []string, shares []float64, n int, g *rand.Rand) *RapporCounts {
	c := newRapporCounts(r)
	one, zero := r.bitProbabilities()
	left := n
	for i := range c.N {
		in := binomial(g, left, 1/float64(len(c.N)-i))
		left -= in
		c.N[i] = int64(in)
		set := make([]int, r.K)
		people, rest := in, 1.0
		for w, s := range shares {
			with := binomial(g, people, min(1, s/rest))
			people -= with
			rest -= s
			if with > 0 {
				bloom := r.Bloom([]byte(words[w]), uint32(i))
				for b := range set {
					if bloom>>b&1 == 1 {
						set[b] += with
					}
				}
			}
		}
		for b, s := range set {
			c.Bits[i*r.K+b] = int64(binomial(g, s, one) + binomial(g, in-s, zero))
		}
	}
	return c
}

// binomial draws from the binomial distribution, for large n from its normal
// approximation.
func binomial(g *rand.Rand, n int, p float64) int {
	if n <= 0 || p <= 0 {
		return 0
	}
	if p >= 1 {
		return n
	}
	if v := float64(n) * p * (1 - p); v > 400 {
		return min(max(int(math.Round(float64(n)*p+math.Sqrt(v)*g.NormFloat64())), 0), n)
	}
	k := 0
	if n > 60 { // by waiting times
		q := p
		if p > 0.5 {
			q = 1 - p
		}
		for at := 0; ; k++ {
			at += int(math.Log(1-g.Float64())/math.Log1p(-q)) + 1
			if at > n {
				break
			}
		}
		if p > 0.5 {
			k = n - k
		}
		return k
	}
	for range n {
		if g.Float64() < p {
			k++
		}
	}
	return k
}

// wordSetting is a collection of words.
type wordSetting struct {
	k, h, m    int
	f          float64
	n          int
	candidates int
	have       int     // candidates with a share
	unnamed    float64 // mass of words that are no candidates
	strangers  int     // how many those are
	zipf       float64
	fresh      bool // other words in each repetition, so that coverage is over hashes too
}

func (s wordSetting) String() string {
	return fmt.Sprintf("(%d,%d,%d) f=%g n=%d candidates=%d/%d unnamed=%g in %d", s.k, s.h, s.m, s.f, s.n, s.have, s.candidates, s.unnamed,
		s.strangers)
}

// wordResult is how estimates did over repetitions.
type wordResult struct {
	worstBias, meanBias         float64 // over words, in stated standard errors
	meanCoverage                float64 // of intervals of 95 % of each word alone
	together                    float64 // share of repetitions where all intervals held
	topSE                       float64 // stated standard error of the first word
	false1                      float64 // share of repetitions with a false discovery
	found                       float64 // share of the words that there are
	unnamedCover, unnamedReject float64
	joint                       float64
}

// runWords decodes repeated collections. There is a result for each planted error, in
// stated standard errors, that is added to all estimates.
func runWords(t testing.TB, s wordSetting, repeats int, seed uint64, planted ...float64) []wordResult {
	t.Helper()
	return runTestedWords(t, s, repeats, repeats, seed, planted...)
}

// runTestedWords is runWords with tests of words in the first repetitions only, tested of
// them: where all candidates are fitted together, estimates do not depend on the tests,
// which take most of the time.
func runTestedWords(t testing.TB, s wordSetting, repeats, tested int, seed uint64, planted ...float64) []wordResult {
	t.Helper()
	r, err := NewRappor(Params{K: s.k, H: s.h, M: int64(s.m), P: 0, Q: 1, F: s.f})
	if err != nil {
		t.Fatal(err)
	}
	named := make([]string, s.candidates)
	for i := range named {
		named[i] = fmt.Sprintf("word %d %d", seed, i)
	}
	m, err := r.NewMap(named)
	if err != nil {
		t.Fatal(err)
	}
	all := append([]string{}, named[:s.have]...)
	var shares []float64
	sum := 0.0
	for i := range s.have {
		shares = append(shares, math.Pow(float64(i+1), -s.zipf))
		sum += shares[i]
	}
	for i := range shares {
		shares[i] *= (1 - s.unnamed) / sum
	}
	truth := append(append([]float64{}, shares...), make([]float64, s.candidates-s.have)...)
	for i := range s.strangers {
		all = append(all, fmt.Sprintf("stranger %d %d", seed, i))
		shares = append(shares, s.unnamed/float64(s.strangers))
	}
	g := rand.New(rand.NewPCG(seed, 7))
	type sums struct{ bias, se, hit []float64 }
	totals := make([]sums, len(planted))
	for i := range totals {
		totals[i] = sums{make([]float64, s.candidates), make([]float64, s.candidates), make([]float64, s.candidates)}
	}
	out := make([]wordResult, len(planted))
	drawn := 0.0
	for i := range repeats {
		if s.fresh {
			for j := range named {
				named[j] = fmt.Sprintf("word %d %d %d", seed, i, j)
			}
			copy(all, named[:s.have])
			if m, err = r.NewMap(named); err != nil {
				t.Fatal(err)
			}
		}
		if s.unnamed > 0 { // other strangers each time
			for j := range s.strangers {
				all[s.have+j] = fmt.Sprintf("stranger %d %d %d", seed, i, j)
			}
		}
		counts := drawCounts(r, all, shares, s.n, g)
		var d *DecodedWords
		if i >= tested && 2*s.candidates <= s.k*s.m {
			d, err = counts.untested(t.Context(), m)
		} else {
			d, err = counts.Decode(t.Context(), m, DecodeOptions{All: true})
			drawn++
		}
		if err != nil {
			t.Fatalf("%v: %v", s, err)
		}
		byName := map[string]Found{}
		for _, w := range d.Words {
			byName[w.Word] = w
		}
		for p, shift := range planted {
			o, sum := &out[p], &totals[p]
			if d.Joint {
				o.joint++
			}
			wrong, held := false, true
			for j, name := range named {
				w := byName[name]
				w.Value += shift * w.StdErr
				if j < s.have && w.Significant {
					o.found++
				}
				wrong = wrong || j >= s.have && w.Significant
				held = held && w.Low <= truth[j] && truth[j] <= w.High
				sum.bias[j] += w.Value - truth[j]
				sum.se[j] += w.StdErr
				if math.Abs(w.Value-truth[j]) <= 1.959964*w.StdErr {
					sum.hit[j]++
				}
			}
			if wrong {
				o.false1++
			}
			if held {
				o.together++
			}
			u := d.Unnamed
			if u.Low <= s.unnamed && s.unnamed <= u.High {
				o.unnamedCover++
			}
			if u.P < 0.05 {
				o.unnamedReject++
			}
		}
	}
	n := float64(repeats)
	for p := range out {
		o, sum := &out[p], &totals[p]
		for j := range named {
			bias := math.Abs(sum.bias[j] / sum.se[j])
			o.worstBias = max(o.worstBias, bias)
			o.meanBias += bias / float64(s.candidates)
			o.meanCoverage += sum.hit[j] / n / float64(s.candidates)
		}
		o.topSE = sum.se[0] / n
		o.false1 /= drawn
		o.together /= n
		o.found /= drawn * float64(s.have)
		o.unnamedCover /= n
		o.unnamedReject /= n
		o.joint /= n
	}
	return out
}

// untested is Decode without the tests of words, for candidates that are fitted together.
func (c *RapporCounts) untested(ctx context.Context, m *Map) (*DecodedWords, error) {
	b, err := newBloomModel(c, m)
	if err != nil {
		return nil, err
	}
	d := &DecodedWords{N: c.Reports(), Candidates: len(m.Words), Confidence: 0.95, Words: make([]Found, len(m.Words))}
	for j, w := range m.Words {
		d.Words[j].Word = w
	}
	f, err := b.final(ctx, d)
	if err != nil {
		return nil, err
	}
	b.estimate(f, d, true)
	return d, nil
}

// TestWordTable makes the table of docs/local-privacy.md, section 5:
//
//	NOREN_COVERAGE=400 go test ./ldp -run TestWordTable -v
//
// with that many repetitions of every setting. Words are tested in a tenth of them, except
// where candidates are too many to be fitted together.
func TestWordTable(t *testing.T) {
	repeats, err := strconv.Atoi(os.Getenv("NOREN_COVERAGE"))
	if err != nil {
		t.Skip("NOREN_COVERAGE is not a number of repetitions")
	}
	t.Log("(k,h,m) f n words/candidates unnamed | bias, worst of all words | bias, mean | covered, mean | covered together | false " +
		"discovery | found | unnamed covered | unnamed rejected")
	for _, unnamed := range []float64{0, 0.3} {
		for _, p := range [][3]int{{16, 2, 64}, {32, 1, 128}, {32, 2, 4}, {32, 2, 64}} {
			t.Run(fmt.Sprintf("%d,%d,%d/unnamed%g", p[0], p[1], p[2], unnamed), func(t *testing.T) {
				for _, n := range []int{2000, 100_000, 1_000_000} {
					for _, candidates := range []int{10, 50, 200} {
						s := wordSetting{
							k: p[0], h: p[1], m: p[2], f: 0.25, n: n, candidates: candidates, have: max(candidates/4, 6), unnamed: unnamed,
							zipf: 1,
						}
						s.fresh = 2*candidates > s.k*s.m
						if unnamed > 0 {
							s.strangers = 10
						}
						o := runTestedWords(t, s, repeats, max(repeats/10, 1), 11, 0)[0]
						t.Logf("%v | %.2f | %.2f | %.3f | %.3f | %.3f | %.2f | %.3f | %.3f | %.0f", s, o.worstBias, o.meanBias, o.meanCoverage, o.together,
							o.false1, o.found, o.unnamedCover, o.unnamedReject, o.joint)
					}
				}
			})
		}
	}
}

func BenchmarkDecodeManyWords(b *testing.B) {
	s := wordSetting{k: 16, h: 2, m: 64, f: 0.25, n: 2000, candidates: 200, have: 50, zipf: 1}
	for b.Loop() {
		runWords(b, s, 1, 3, 0)
	}
}

// faults says where a result is worse than guaranteed, allowing for the chance of so
// many repetitions: 4 standard deviations.
func (r wordResult) faults(repeats, words int) (out []string) {
	n := float64(repeats)
	chance := math.Sqrt(2*math.Log(float64(words))+8) / math.Sqrt(n) // of the largest of that many mean z-scores
	if r.worstBias > 0.5+chance {
		out = append(out, fmt.Sprintf("a bias of %.2f standard errors", r.worstBias))
	}
	if r.meanBias > 0.25+1/math.Sqrt(n) {
		out = append(out, fmt.Sprintf("a mean bias of %.2f standard errors", r.meanBias))
	}
	if least := 0.95 - 4*math.Sqrt(0.95*0.05/n); r.meanCoverage < 0.93 || r.together < least || r.unnamedCover < least {
		out = append(out, fmt.Sprintf("coverage %.3f, %.3f together, %.3f of the unnamed mass", r.meanCoverage, r.together, r.unnamedCover))
	}
	if r.false1 > 0.05+4*math.Sqrt(0.05*0.95/n) {
		out = append(out, fmt.Sprintf("false discoveries in %.3f of the repetitions", r.false1))
	}
	return out
}

// The setting of the largest bias before weights were of the fitted model, one with
// unnamed words, and one with too many candidates for its bits. An error of a
// standard error or two that is planted is caught.
func TestWordCoverage(t *testing.T) {
	randtest.SkipShort(t)
	testWordCoverage(t, [3]int{0, 20, 0}) // fewer would say nothing of a coverage of .93
}

func TestLongWordCoverage(t *testing.T) {
	randtest.Long(t)
	testWordCoverage(t, [3]int{150, 25, 20})
}

func testWordCoverage(t *testing.T, repetitions [3]int) {
	for i, s := range []wordSetting{
		{k: 32, h: 1, m: 128, f: 0.125, n: 2000, candidates: 10, have: 8, zipf: 0.3},
		{k: 16, h: 2, m: 16, f: 0.25, n: 5000, candidates: 20, have: 6, unnamed: 0.3, strangers: 10, zipf: 1},
		{k: 16, h: 2, m: 4, f: 0.25, n: 100_000, candidates: 40, have: 6, unnamed: 0.3, strangers: 10, zipf: 1, fresh: true},
	} {
		repeats := repetitions[i]
		if repeats == 0 {
			continue
		}
		o := runWords(t, s, repeats, 5, 0, 2)
		if found := o[0].faults(repeats, s.candidates); found != nil {
			t.Errorf("%v: %v", s, found)
		}
		if o[1].faults(repeats, s.candidates) == nil {
			t.Errorf("%v: a planted error was not caught: %+v", s, o[1])
		}
	}
}
