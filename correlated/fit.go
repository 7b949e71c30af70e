package correlated

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/names"
)

// FitOptions say how a model is estimated. The data must be public, or older
// than the private records: a model estimated from them would reveal them.
type FitOptions struct {
	// Source says where the data came from; it goes into every guarantee.
	// Required.
	Source string
	// States are the names of the states. Required.
	States []string
	// Length is the number of records of the model. Required for chains; a tree
	// has the records that it was estimated from.
	Length int
	// Confidence is the probability with which the box holds the distribution, if the
	// data follow a distribution of this shape. Defaults to 0.95.
	Confidence float64
	// Smoothing is added to every count for the estimate at the centre.
	// Defaults to 0.5.
	Smoothing float64
}

func (o *FitOptions) defaults() error {
	if o.Source == "" {
		return &noren.Error{
			Kind: noren.Usage, Where: "source", What: "say where the data came from",
			Hint: "the guarantee rests on it, and the certificate states it",
		}
	}
	if !names.Seen(o.Source) {
		return noren.Usagef("source", "holds a character that cannot be seen").Hinted("use letters, digits and signs")
	}
	if err := checkStates(len(o.States), "states"); err != nil {
		return err
	}
	if o.Confidence == 0 {
		o.Confidence = 0.95
	}
	if !(o.Confidence > 0 && o.Confidence < 1) {
		return noren.Usagef("confidence", "the confidence lies between 0 and 1")
	}
	if o.Smoothing == 0 {
		o.Smoothing = 0.5
	}
	if !(o.Smoothing > 0) || math.IsInf(o.Smoothing, 1) {
		return noren.Usagef("smoothing", "the smoothing is a positive number")
	}
	return nil
}

// Fitted is an estimated distribution and the box around it.
type Fitted struct {
	// File is the box, ready to be written: the model to calibrate noise for.
	File *ModelFile
	// Centre is the estimate alone. A guarantee for it hangs on one point.
	Centre *ModelFile
	// Observations is how many transitions (chains) or samples (trees) were
	// counted.
	Observations int
}

// FitChain estimates a homogeneous chain from sequences of states (-1 where
// missing: no step is counted into or out of it).
//
// The box is simultaneous over all entries of the matrix. The steps out of a
// state are independent draws from its row (Billingsley 1961), but how many
// there are depends on them; each Clopper-Pearson interval is therefore taken
// at level (1-confidence)/(2 k^2 N) for N steps in all, so that it holds for
// every number of draws at once. A row that was never seen has the whole [0,1].
func FitChain(sequences [][]int, o FitOptions) (*Fitted, error) {
	if err := o.defaults(); err != nil {
		return nil, err
	}
	k := len(o.States)
	counts := make([][]int, k)
	for x := range counts {
		counts[x] = make([]int, k)
	}
	first := make([]float64, k)
	steps, seen := 0, 0
	for s, seq := range sequences {
		last := -1
		for _, v := range seq {
			if v < -1 || v >= k {
				return nil, &noren.Error{Kind: noren.BadData, Where: index("sequences", s), What: "a state is out of range"}
			}
			if v >= 0 {
				seen++
				first[v]++
			}
			if last >= 0 && v >= 0 {
				counts[last][v]++
				steps++
			}
			last = v
		}
	}
	if steps == 0 {
		return nil, &noren.Error{Kind: noren.BadData, Where: "sequences", What: "there is no step from one state to another to count"}
	}
	for x := range first {
		first[x] = (first[x] + o.Smoothing) / (float64(seen) + o.Smoothing*float64(k))
	}
	centre, low, high := intervals(counts, o.Smoothing, (1-o.Confidence)/(2*float64(k*k)*float64(steps)))
	c, err := NewHomogeneousChain(first, centre, o.Length)
	if err != nil {
		return nil, err
	}
	b, err := NewBox(c, [][][]float64{low}, [][][]float64{high})
	if err != nil {
		return nil, err
	}
	return o.fitted(c, b, noren.Textf("a chain from %d {step|steps}", steps).String(), steps), nil
}

func (o *FitOptions) fitted(centre Model, box *Box, what string, n int) *Fitted {
	source := fmt.Sprintf("estimated as %s of %s", what, o.Source)
	return &Fitted{
		File: &ModelFile{Model: box, States: o.States, Source: fmt.Sprintf("%s; all bounds hold together with %g%% confidence", source,
			100*o.Confidence)},
		Centre:       &ModelFile{Model: centre, States: o.States, Source: source},
		Observations: n,
	}
}

// intervals are the smoothed estimates of the rows of counts and two-sided
// Clopper-Pearson bounds of their entries, each end at the given level.
func intervals(counts [][]int, smoothing, level float64) (centre, low, high [][]float64) {
	for _, row := range counts {
		total := 0
		for _, n := range row {
			total += n
		}
		c, l, h := make([]float64, len(row)), make([]float64, len(row)), make([]float64, len(row))
		for y, n := range row {
			c[y] = (float64(n) + smoothing) / (float64(total) + smoothing*float64(len(row)))
			l[y], h[y] = clopperPearson(n, total, level)
			// Smoothing may move an estimate out of a narrow interval.
			l[y], h[y] = math.Min(l[y], c[y]), math.Max(h[y], c[y])
		}
		if len(row) == 1 {
			l[0] = 1
		}
		centre, low, high = append(centre, c), append(low, l), append(high, h)
	}
	return centre, low, high
}

// clopperPearson bounds a probability of which n of total draws told, each
// bound wrong with probability at most level.
func clopperPearson(n, total int, level float64) (lo, hi float64) {
	lo, hi = 0, 1
	if n > 0 {
		lo, _ = bisectUnit(func(p float64) bool { return mathext.RegIncBeta(float64(n), float64(total-n+1), p) <= level })
	}
	if n < total {
		_, hi = bisectUnit(func(p float64) bool { return mathext.RegIncBeta(float64(n+1), float64(total-n), p) < 1-level })
	}
	return lo, hi
}

// bisectUnit brackets where below stops to hold on [0, 1].
func bisectUnit(below func(float64) bool) (lo, hi float64) {
	lo, hi = 0, 1
	for hi-lo > 1e-12*hi+1e-300 && hi > 1e-290 {
		mid := (lo + hi) / 2
		if lo > 0 && hi/lo > 4 {
			mid = math.Sqrt(lo * hi)
		}
		if mid <= lo || mid >= hi {
			break
		}
		if below(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo, hi
}

// maxFitRecords bounds the pairs that Chow-Liu compares.
const maxFitRecords = 4096

// FitTree estimates a tree over the records (columns) of samples: row s holds
// the states of all records in sample s. The tree is the one of largest total
// mutual information (Chow and Liu 1968), rooted at record 0.
//
// The box is simultaneous over the entries of all edges between any two
// records, because the data chose the edges. That the distribution is a tree stays an
// assumption.
func FitTree(ctx context.Context, samples [][]int, o FitOptions) (*Fitted, error) {
	if err := o.defaults(); err != nil {
		return nil, err
	}
	if len(samples) == 0 || len(samples[0]) == 0 {
		return nil, &noren.Error{Kind: noren.BadData, Where: "samples", What: "there are no samples"}
	}
	n, k := len(samples[0]), len(o.States)
	if n > maxFitRecords {
		return nil, noren.Usagef("samples", "a tree is estimated over at most %d records", maxFitRecords)
	}
	if o.Length != 0 && o.Length != n {
		return nil, noren.Usagef("length", "the samples have %d {record|records}", n)
	}
	columns := make([][]uint8, n)
	for i := range columns {
		columns[i] = make([]uint8, len(samples))
	}
	for s, row := range samples {
		if len(row) != n {
			return nil, &noren.Error{
				Kind: noren.BadData, Where: index("samples", s),
				What: "this sample has another number of records than the first",
			}
		}
		for i, v := range row {
			if v < 0 || v >= k {
				return nil, &noren.Error{
					Kind: noren.BadData, Where: index(index("samples", s), i), What: "a state is missing or out of range",
					Hint: "leave incomplete samples out",
				}
			}
			columns[i][s] = uint8(v)
		}
	}
	parent, err := chowLiu(ctx, columns, k)
	if err != nil {
		return nil, err
	}
	prior := make([]float64, k)
	for _, v := range columns[0] {
		prior[v]++
	}
	for x := range prior {
		prior[x] = (prior[x] + o.Smoothing) / (float64(len(samples)) + o.Smoothing*float64(k))
	}
	level := (1 - o.Confidence) / (2 * float64(max(1, n*(n-1))) * float64(k*k))
	cpt, low, high := make([][][]float64, n), make([][][]float64, n), make([][][]float64, n)
	for i, p := range parent {
		if p >= 0 {
			cpt[i], low[i], high[i] = intervals(jointCounts(columns[p], columns[i], k), o.Smoothing, level)
		}
	}
	t, err := NewTree(parent, prior, cpt)
	if err != nil {
		return nil, err
	}
	b, err := NewBox(t, low, high)
	if err != nil {
		return nil, err
	}
	return o.fitted(t, b, noren.Textf("a Chow-Liu tree from %d {sample|samples}", len(samples)).String(), len(samples)), nil
}

func jointCounts(a, b []uint8, k int) [][]int {
	counts := make([][]int, k)
	for x := range counts {
		counts[x] = make([]int, k)
	}
	for s, x := range a {
		counts[x][b[s]]++
	}
	return counts
}

// chowLiu is the maximum spanning tree by mutual information, grown from
// record 0 (Prim); ties go to the lower number.
func chowLiu(ctx context.Context, columns [][]uint8, k int) ([]int, error) {
	n := len(columns)
	parent, best := make([]int, n), make([]float64, n)
	in := make([]bool, n)
	for i := range parent {
		parent[i], best[i] = -1, negInf
	}
	in[0] = true
	for at, left := 0, n-1; left > 0; left-- {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for j := range columns {
			if in[j] {
				continue
			}
			if m := mutualInformation(columns[at], columns[j], k); m > best[j] {
				best[j], parent[j] = m, at
			}
		}
		next := -1
		for j := range columns {
			if !in[j] && (next < 0 || best[j] > best[next]) {
				next = j
			}
		}
		in[next], at = true, next
	}
	return parent, nil
}

// mutualInformation of two columns of states, in nats.
func mutualInformation(a, b []uint8, k int) float64 {
	counts := make([]int, k*k)
	rows, cols := make([]int, k), make([]int, k)
	for s, x := range a {
		counts[int(x)*k+int(b[s])]++
		rows[x]++
		cols[b[s]]++
	}
	sum, n := 0.0, float64(len(a))
	for x := range k {
		for y := range k {
			if c := counts[x*k+y]; c > 0 {
				sum += float64(c) / n * math.Log(float64(c)*n/(float64(rows[x])*float64(cols[y])))
			}
		}
	}
	return sum
}
