package correlated

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/internal/randtest"
)

func mustJointTable(t testing.TB, shape []int, p []float64) *JointTable {
	t.Helper()
	m, err := NewJointTable(shape, p)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func leak(t testing.TB, m Model, q *Query, b float64, who Adversaries) *Leakage {
	t.Helper()
	l, err := ComputeLeakage(context.Background(), m, q, b, LeakageOptions{Adversaries: who})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// The report's example (docs/correlated-privacy.md, section 7): posteriors and leakage, b = 10.
func TestReportExample(t *testing.T) {
	m := mustJointTable(t, []int{2, 2}, []float64{.49, .01, .01, .49})
	strong := leak(t, m, Count(1), 10, ListedAdversaries(Adversary{0, []Known{{1, 1}}}))
	if math.Abs(strong.Upper-0.1) > 1e-12 {
		t.Errorf("strong adversary: %.15g", strong.Upper)
	}
	weak := leak(t, m, Count(1), 10, EmptyAdversaries())
	if want := -math.Log((.98*math.Exp(-.2) + .02*math.Exp(-.1)) / (.98 + .02*math.Exp(-.1))); math.Abs(weak.Upper-want) > 1e-12 {
		t.Errorf("weak adversary: %.15g, want %.15g", weak.Upper, want)
	}
}

// The empty adversary is not always the worst, nor the full one (docs/correlated-privacy.md, section
// 3).
func TestNeitherEmptyNorFullIsAlwaysWorst(t *testing.T) {
	anti := mustJointTable(t, []int{2, 2}, []float64{.01, .49, .49, .01})
	if e, f := leak(t, anti, Count(1), 2, EmptyAdversaries()).Upper,
		leak(t, anti, Count(1), 2, FullAdversaries()).Upper; math.Abs(e-0.0208) > 5e-5 || math.Abs(f-0.5) > 1e-12 {
		t.Errorf("anti-correlated pair: empty %g, full %g", e, f)
	}
	xor := mustJointTable(t, []int{2, 2, 2}, []float64{.2375, .0125, .0125, .2375, .0125, .2375, .2375, .0125})
	q := Values([][]float64{{0, 1}, {0, 1}, {0, 0}})
	all := leak(t, xor, q, 2, AllAdversaries())
	if e, f := leak(t, xor, q, 2, EmptyAdversaries()).Upper, leak(t, xor, q, 2, FullAdversaries()).Upper; math.Abs(e-.5) > 1e-12 ||
		math.Abs(f-.5) > 1e-12 || math.Abs(all.Upper-.94820931411) > 1e-10 {
		t.Errorf("noisy xor: empty %g, full %g, all %g", e, f, all.Upper)
	}
	if w := all.Witness; len(w.Known) != 1 || w.Known[0].Record != 2 {
		t.Errorf("noisy xor: %v", w)
	}
}

// Independent records leak osc/b; records that are all equal leak as a group.
func TestIndependenceAndPerfectCorrelation(t *testing.T) {
	for _, n := range []int{1, 2, 7, 40} {
		independent, err := NewHomogeneousChain([]float64{.3, .7}, [][]float64{{.3, .7}, {.3, .7}}, n)
		if err != nil {
			t.Fatal(err)
		}
		equal, err := NewHomogeneousChain([]float64{.3, .7}, [][]float64{{1, 0}, {0, 1}}, n)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range []float64{.1, 1, 30} {
			if l := leak(t, independent, Sum([]float64{0, 2}), b, AllAdversaries()).Upper; !agree(l, 2/b) {
				t.Errorf("%d independent records, b=%g: %.15g", n, b, l)
			}
			if l := leak(t, equal, Sum([]float64{0, 2}), b, AllAdversaries()).Upper; !agree(l, float64(n)*2/b) {
				t.Errorf("%d equal records, b=%g: %.15g", n, b, l)
			}
			for m, want := range map[*Chain]float64{independent: 2 / b, equal: float64(n) * 2 / b} {
				l, err := ComputeLeakage(context.Background(), m, Sum([]float64{0, 2}), b, LeakageOptions{Method: Tanh})
				if err != nil {
					t.Fatal(err)
				}
				if !agree(l.Upper, want) {
					t.Errorf("%d records, b=%g: tanh %.15g, want %.15g", n, b, l.Upper, want)
				}
			}
		}
	}
}

// Theorems 1 and 1': no answer is more telling than an atom.
func TestNoAnswerBeatsTheAtoms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dims := rapid.IntRange(1, 2).Draw(t, "dims")
		k := 2
		type atom struct {
			at []float64
			p  []float64
		}
		var atoms []atom
		shape := []int{k, rapid.IntRange(2, 4).Draw(t, "others")}
		parts := make([]*Query, dims)
		for c := range parts {
			g := [][]float64{
				rapid.SliceOfN(rapid.SampledFrom([]float64{0, 1, 2.5, -3}), k, k).Draw(t, "g"),
				rapid.SliceOfN(rapid.SampledFrom([]float64{0, 1, 2, 7}), shape[1], shape[1]).Draw(t, "g"),
			}
			parts[c] = Values(g)
		}
		p := drawDistribution(t, shape[0]*shape[1], "p")
		m, err := NewJointTable(shape, p)
		if err != nil {
			t.Fatal(err)
		}
		b := rapid.SampledFrom([]float64{.2, 1, 5}).Draw(t, "b")
		l := exactly(t, m, Joint(parts...), b, LeakageOptions{Adversaries: EmptyAdversaries()})
		mass := []float64{0, 0}
		for x := range k {
			for y := range shape[1] {
				a := atom{p: []float64{0, 0}}
				for _, q := range parts {
					a.at = append(a.at, q.rows[0][x]+q.rows[1][y])
				}
				a.p[x] = p[x*shape[1]+y]
				mass[x] += a.p[x]
				atoms = append(atoms, a)
			}
		}
		if mass[0] == 0 || mass[1] == 0 {
			return
		}
		for range 200 {
			r := make([]float64, dims)
			for c := range r {
				r[c] = rapid.Float64Range(-30, 30).Draw(t, "r")
			}
			den := []float64{0, 0}
			for _, a := range atoms {
				d := 0.0
				for c := range r {
					d += math.Abs(r[c] - a.at[c])
				}
				for x := range k {
					den[x] += a.p[x] / mass[x] * math.Exp(-d/b)
				}
			}
			// Only about record 0; the exact figure is about both.
			if v := math.Abs(math.Log(den[0] / den[1])); v > l.Upper*(1+1e-9)+1e-9 {
				t.Fatalf("at r=%v the log ratio is %.15g, above %.15g", r, v, l.Upper)
			}
		}
	})
}

// Lemma 4: the two-point bound holds for any distribution, and is attained.
func TestTwoPointLemma(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 5).Draw(t, "points")
		mu := drawDistribution(t, n, "mu")
		om := rapid.Float64Range(0.01, 12).Draw(t, "om")
		de := rapid.Float64Range(0.01, 12).Draw(t, "de")
		var both, one, other float64
		for i := range n {
			rho := math.Exp(om * rapid.Float64Range(0, 1).Draw(t, "rho"))
			f := math.Exp(de * rapid.Float64Range(0, 1).Draw(t, "f"))
			both += mu[i] * rho * f
			one += mu[i] * rho
			other += mu[i] * f
		}
		if v, bound := math.Log(both/(one*other)), tauOf(om).beta(de); v > bound*(1+1e-12)+1e-12 {
			t.Fatalf("log ratio %.15g, bound %.15g", v, bound)
		}
		// Equality: two points of equal geometric tilt.
		a := 1 / (1 + math.Exp((om+de)/2))
		both = a*math.Exp(om+de) + 1 - a
		one, other = a*math.Exp(om)+1-a, a*math.Exp(de)+1-a
		if v, bound := math.Log(both/(one*other)), tauOf(om).beta(de); math.Abs(v-bound) > 1e-9*bound {
			t.Fatalf("the worst two points reach %.15g, and the bound is %.15g", v, bound)
		}
	})
}

// The long-run values of section 5: beta at the fixed point, and the scale of
// a symmetric binary chain as epsilon becomes small, (1-p)/(p epsilon).
func TestTanhRuleOfLongChains(t *testing.T) {
	p := 0.2
	c, err := NewHomogeneousChain([]float64{.5, .5}, [][]float64{{1 - p, p}, {p, 1 - p}}, 4000)
	if err != nil {
		t.Fatal(err)
	}
	e := 0.37
	l, err := ComputeLeakage(context.Background(), c, Count(1), 1/e, LeakageOptions{Method: Tanh})
	if err != nil {
		t.Fatal(err)
	}
	beta := 0.0
	for range 10000 {
		beta = tau{1 - 2*p, 2 * p}.beta(e + beta)
	}
	if !agree(l.Upper, e+2*beta) {
		t.Errorf("Lambda %.15g, fixed point %.15g", l.Upper, e+2*beta)
	}
	k, err := Calibrate(context.Background(), c, Count(1), 1e-4, LeakageOptions{Method: Tanh})
	if err != nil {
		t.Fatal(err)
	}
	if want := (1 - p) / (p * 1e-4); math.Abs(k.Scale/want-1) > 1e-3 {
		t.Errorf("scale %g, want %g", k.Scale, want)
	}
}

// Far tails: with b tiny against the range, densities leave the range of
// floating numbers and the logarithms take over.
func TestDeepTails(t *testing.T) {
	n := 60
	c, err := NewHomogeneousChain([]float64{.5, .5}, [][]float64{{.9, .1}, {.1, .9}}, n)
	if err != nil {
		t.Fatal(err)
	}
	last := math.Inf(1)
	for _, b := range []float64{1e-4, 1e-3, 0.01, 0.05, 0.2} {
		l := leak(t, c, Count(1), b, AllAdversaries()).Upper
		tanh, err := ComputeLeakage(context.Background(), c, Count(1), b, LeakageOptions{Method: Tanh})
		if err != nil {
			t.Fatal(err)
		}
		if !(l <= last) || l > tanh.Upper*(1+1e-10) || l < 1/b*(1-1e-10) {
			t.Errorf("b=%g: %g, before %g, tanh %g", b, l, last, tanh.Upper)
		}
		last = l
	}
}

// The star of the hardness proof (docs/correlated-privacy.md, section 4.3): the adversary who knows
// all leaves but those that sum to t learns most.
func TestHardnessStar(t *testing.T) {
	w := []float64{3, 5, 6, 7}
	total := 21.0
	b := total
	far := 10 * b
	for _, goal := range []float64{8, 11, 13, 14} {
		eta := 1e-4
		parent := []int{-1, 0, 0, 0, 0, 0}
		cpt := make([][][]float64, 6)
		g := make([][]float64, 6)
		g[0] = []float64{0, 0}
		for j, v := range w {
			cpt[j+1] = [][]float64{{eta, 1 - eta}, {1 - eta, eta}}
			g[j+1] = []float64{0, v}
		}
		cpt[5] = [][]float64{{.5, .5, 0, 0, 0}, {0, 0, .25, .5, .25}}
		g[5] = []float64{-far, far, goal - far, goal, goal + far}
		m, err := NewTree(parent, []float64{.5, .5}, cpt)
		if err != nil {
			t.Fatal(err)
		}
		// Of the hub's adversaries, who know any leaves.
		best, sum := 0.0, 0.0
		for set := range 16 {
			var known []Known
			unknown := 0.0
			for j, v := range w {
				if set>>j&1 == 1 {
					known = append(known, Known{j + 1, 0})
				} else {
					unknown += v
				}
			}
			l := leak(t, m, Values(g), b, ListedAdversaries(Adversary{0, known})).Upper
			if l > best {
				best, sum = l, unknown
			}
		}
		if sum != goal {
			t.Errorf("goal %g: the worst adversary does not know leaves of sum %g", goal, sum)
		}
	}
}

func TestClassIsItsWorstMember(t *testing.T) {
	a, b := namedChain100(t, "sym stay=0.9", 12), namedChain100(t, "theta1 stationary", 12)
	c, err := NewClass(b, a)
	if err != nil {
		t.Fatal(err)
	}
	l := leak(t, c, Count(1), 3, AllAdversaries())
	la, lb := leak(t, a, Count(1), 3, AllAdversaries()), leak(t, b, Count(1), 3, AllAdversaries())
	if l.Upper != max(la.Upper, lb.Upper) || !l.Exact || l.Member != 1 {
		t.Errorf("%+v; members %g and %g", l, lb.Upper, la.Upper)
	}
}

// Every chain of a box leaks at most what the box is said to.
func TestBoxCoversItsMembers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 5).Draw(t, "records")
		k := rapid.IntRange(2, 3).Draw(t, "states")
		centre, low, high := drawMatrix(t, k, k, "centre"), make([][]float64, k), make([][]float64, k)
		steps := make([][][]float64, n-1)
		for x := range centre {
			low[x], high[x] = make([]float64, k), make([]float64, k)
			for y := range low[x] {
				low[x][y], high[x][y] = centre[x][y], centre[x][y]
			}
		}
		// Every step of the member has its own matrix; the box is their hull.
		for i := range steps {
			other := drawMatrix(t, k, k, "other")
			steps[i] = make([][]float64, k)
			for x := range centre {
				steps[i][x] = make([]float64, k)
				for y := range centre[x] {
					v := 0.8*centre[x][y] + 0.2*other[x][y]
					steps[i][x][y] = v
					low[x][y], high[x][y] = math.Min(low[x][y], v), math.Max(high[x][y], v)
				}
			}
		}
		c, err := NewHomogeneousChain(drawDistribution(t, k, "init"), centre, n)
		if err != nil {
			t.Fatal(err)
		}
		box, err := NewBox(c, [][][]float64{low}, [][][]float64{high})
		if err != nil {
			t.Fatal(err)
		}
		member, err := NewChain(drawDistribution(t, k, "init"), steps)
		if err != nil {
			t.Fatal(err)
		}
		q, b := drawQuery(t, c), drawScale(t)
		bound, err := ComputeLeakage(context.Background(), box, q, b, LeakageOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if bound.Exact {
			t.Fatal("a box is never exact")
		}
		if l := exactly(t, member, q, b, LeakageOptions{Method: Exact}); l.Upper > bound.Upper*(1+1e-10)+1e-10 {
			t.Fatalf("a member leaks %.15g, the box is said to leak at most %.15g", l.Upper, bound.Upper)
		}
	})
}

// The quilted evaluation of a long chain brackets the exact one.
func TestQuiltedBracketsExact(t *testing.T) {
	randtest.SkipShort(t)
	for _, name := range []string{"sym stay=0.8", "theta1 [.9 .1;.4 .6] init(1,0)", "sym stay=0.2"} {
		c := namedChain100(t, name, 100)
		for _, b := range []float64{0.7, 4, 20} {
			exact := leak(t, c, Count(1), b, AllAdversaries())
			l, err := ComputeLeakage(context.Background(), c, Count(1), b, LeakageOptions{Method: Quilt, Gap: 1e-6})
			if err != nil {
				t.Fatal(err)
			}
			if l.Upper < exact.Upper*(1-1e-12) || l.Lower > exact.Upper*(1+1e-12) || l.Upper-l.Lower > 1.1e-6*l.Upper {
				t.Errorf("%s, b=%g: %g..%g at arm %d, exact %g", name, b, l.Lower, l.Upper, l.Arm, exact.Upper)
			}
		}
	}
}

// The report's posteriors, and views of a table and of the same distribution as a tree.
func TestLook(t *testing.T) {
	ctx := context.Background()
	m := mustJointTable(t, []int{2, 2}, []float64{.49, .01, .01, .49})
	strong, err := Look(ctx, m, Count(1), 10, Adversary{0, []Known{{1, 1}}}, []float64{2})
	if err != nil {
		t.Fatal(err)
	}
	weak, err := Look(ctx, m, Count(1), 10, Adversary{0, nil}, []float64{2})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []struct{ got, want float64 }{
		{strong.Prior[0], .02},
		{strong.Posterior[0][0], .0181},
		{strong.Posterior[1][0], .9819},
		{weak.Prior[0], .5},
		{weak.Posterior[0][0], .4512},
		{weak.Posterior[1][0], .5488},
		{strong.Density[0][0] / strong.Density[1][0], math.Exp(-.1)},
		{weak.Density[0][0] / weak.Density[1][0], .82202},
	} {
		if math.Abs(v.got-v.want) > 5e-5 {
			t.Errorf("%.6g, want %.6g", v.got, v.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		tree := drawTree(t, 4)
		who := Adversary{Target: rapid.IntRange(0, tree.Records()-1).Draw(t, "target")}
		for i := range tree.Records() {
			if i != who.Target && rapid.Bool().Draw(t, "known") {
				who.Known = append(who.Known, Known{i, rapid.IntRange(0, tree.States(i)-1).Draw(t, "state")})
			}
		}
		at := []float64{-3, 0.5, 1, 2, 8}
		a, errA := Look(ctx, tree, Count(0), 1.5, who, at)
		b, errB := Look(ctx, tableOf(t, tree), Count(0), 1.5, who, at)
		if (errA == nil) != (errB == nil) {
			t.Fatalf("%v, %v", errA, errB)
		}
		if errA != nil {
			return
		}
		for x := range a.Prior {
			if !agree(a.Prior[x], b.Prior[x]) || (a.Density[x] == nil) != (b.Density[x] == nil) {
				t.Fatalf("%+v, %+v", a, b)
			}
			for j := range a.Density[x] {
				if !agree(a.Density[x][j], b.Density[x][j]) {
					t.Fatalf("%+v, %+v", a, b)
				}
			}
		}
	})
}
