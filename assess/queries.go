package assess

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
)

// Queries tells how far counts over a release lie from those over its original,
// for random questions of the kind that readers of a table ask: how many records
// have values of two to four columns within given ranges and sets? Ranges are a
// tenth to half of a column wide, sets are half of the values, and at least one
// record in a thousand fits. Both tables are counted as bags of rows; a released
// range, set or share counts in parts. The figures are estimates from
// [QueryOptions.Count] questions; another seed asks others.
type Queries struct {
	// Count is the number of questions.
	Count int `json:"count"`
	// Seed is the seed that the questions follow from.
	Seed uint64 `json:"seed"`
	// Mean is the mean of |count in the release - true count| / true count over the questions.
	Mean float64 `json:"mean_relative_error"`
	// MeanLow is the lower end of the 95 % interval of the mean over all such questions.
	MeanLow float64 `json:"mean_relative_error_low"`
	// MeanHigh is the upper end of the 95 % interval of the mean over all such questions.
	MeanHigh float64 `json:"mean_relative_error_high"`
	// Median is the median of |count in the release - true count| / true count over the
	// questions.
	Median float64 `json:"median_relative_error"`
	// Columns are the mean errors of the questions in which a column occurs, in the order of
	// the columns.
	Columns []ColumnError `json:"columns"`
	// Pairs are the mean errors of the questions in which two columns occur together; pairs in
	// no question are left out.
	Pairs []PairError `json:"pairs,omitempty"`
}

// ColumnError is the mean relative error of the questions about a column.
type ColumnError struct {
	// Column is the name of the column.
	Column string `json:"column"`
	// Error is the mean relative error.
	Error float64 `json:"mean_relative_error"`
	// Asked is the number of questions.
	Asked int `json:"asked"`
}

// PairError is the mean relative error of the questions about two columns.
type PairError struct {
	// First is the first column of the pair.
	First string `json:"first"`
	// Second is the second column of the pair.
	Second string `json:"second"`
	// Error is the mean relative error.
	Error float64 `json:"mean_relative_error"`
	// Asked is the number of questions.
	Asked int `json:"asked"`
}

// QueryOptions say what is asked.
type QueryOptions struct {
	// Count is the number of questions. Defaults to DefaultQueries, and to fewer
	// for tables of more than half a million records.
	Count int
	// Seed draws the questions. Defaults to [DefaultSeed], so that all releases of a table are
	// asked the same.
	Seed uint64
	// Progress receives the number of questions answered. Optional.
	Progress noren.Progress
}

// DefaultQueries is how many questions are asked where nothing is said.
const DefaultQueries = 1000

// DefaultSeed is the seed of the questions where none is given.
const DefaultSeed = 0x6e6f72656e

// askedWork bounds how many records are looked at, over all questions.
const askedWork = 500_000_000

// leastAnswer is the share of the records that fit a question at least.
const leastAnswer = .001

// condition is one on a column: a range of numbers, or a set of codes.
type condition struct {
	column int
	lo, hi float64
	in     []bool // by code of the original, nil for a number
}

// AskQueries asks random questions of both tables. Their columns are those that
// [Compare] takes. nil is returned where no two columns have two values or more,
// or hardly any question has an answer. Errors are those of Compare.
func AskQueries(ctx context.Context, original, release *table.Table, o QueryOptions) (*Queries, error) {
	columns, err := askedColumns(original, release)
	if err != nil || len(columns) < 2 || original.Rows == 0 || release.Rows == 0 {
		return nil, err
	}
	if o.Count <= 0 {
		o.Count = max(50, min(DefaultQueries, askedWork/max(original.Rows, release.Rows)))
	}
	o.Seed = cmp.Or(o.Seed, DefaultSeed)
	rng := rand.New(rand.NewPCG(o.Seed, 0x7175657374696f6e))
	before, after := newCounter(columns, original.Rows, false), newCounter(columns, release.Rows, true)
	q := &Queries{Count: o.Count, Seed: o.Seed}
	scale := float64(original.Rows) / float64(release.Rows)
	var errors []float64
	by := newErrorSums(len(columns))
	for tries := 0; len(errors) < o.Count; tries++ {
		if tries >= 50*o.Count {
			if len(errors) == 0 {
				return nil, nil
			}
			q.Count = len(errors)
			break
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		conditions := drawConditions(columns, rng)
		fits := before.count(conditions)
		if fits < leastAnswer*float64(original.Rows) || fits == 0 {
			continue
		}
		e := math.Abs(after.count(conditions)*scale-fits) / fits
		errors = append(errors, e)
		by.add(conditions, e)
		o.Progress.Report("asking", int64(len(errors)), int64(o.Count))
	}
	for _, e := range errors {
		q.Mean += e / float64(len(errors))
	}
	spread := 0.0
	for _, e := range errors {
		spread += (e - q.Mean) * (e - q.Mean)
	}
	// The questions are independent draws: a normal interval of their mean.
	n := float64(len(errors))
	half := 1.959964 * math.Sqrt(spread/max(1, n-1)/n)
	q.MeanLow, q.MeanHigh = max(0, q.Mean-half), q.Mean+half
	slices.Sort(errors)
	q.Median = quantile(errors, .5)
	by.into(q, columns)
	return q, nil
}

// asked is a column that questions are about.
type asked struct {
	name   string
	domain []float64 // of a number: the different values, ascending
	codes  int       // of a category
	before *numbers
	after  *numbers
	words  *table.Column // of a category, the original's and the release's
	shown  *table.Column
	means  []meaning
}

// askedColumns are the columns of both tables that have two values or more.
func askedColumns(original, release *table.Table) ([]asked, error) {
	var columns []asked
	for _, c := range original.Columns {
		r := release.Column(c.Field.Name)
		if r == nil {
			continue
		}
		a := asked{name: c.Field.Name}
		switch {
		case c.Field.Type.IsNumber():
			if err := sameUnit(&c.Field, &r.Field); err != nil {
				return nil, err
			}
			a.before, a.after = readNumbers(c, &c.Field), readNumbers(r, &c.Field)
			for i, here := range a.before.present {
				if here {
					a.domain = append(a.domain, a.before.lo[i])
				}
			}
			slices.Sort(a.domain)
			a.domain = slices.Compact(a.domain)
			if len(a.domain) < 2 || math.IsInf(a.domain[len(a.domain)-1]-a.domain[0], 0) {
				continue
			}
		case r.Field.Type.IsNumber():
			return nil, &noren.Error{
				Kind: noren.Usage, Where: noren.Textf("column %s", c.Field.Name),
				What: "words in the original and numbers in the release cannot be compared", Hint: "give the column the same type in both",
			}
		default:
			a.codes = len(c.Dict)
			if a.codes < 2 {
				continue
			}
			a.words, a.shown, a.means = c, r, readMeanings(c, r)
		}
		columns = append(columns, a)
	}
	return columns, nil
}

// drawConditions makes a question.
func drawConditions(columns []asked, rng *rand.Rand) []condition {
	n := min(len(columns), 2+rng.IntN(3))
	chosen := rng.Perm(len(columns))[:n]
	conditions := make([]condition, 0, n)
	for _, j := range chosen {
		c := condition{column: j}
		if a := &columns[j]; a.words == nil {
			lo, hi := a.domain[0], a.domain[len(a.domain)-1]
			width := (.1 + .4*rng.Float64()) * (hi - lo)
			c.lo = lo + rng.Float64()*(hi-lo-width)
			c.hi = c.lo + width
		} else {
			c.in = make([]bool, a.codes)
			for _, code := range rng.Perm(a.codes)[:a.codes/2] {
				c.in[code] = true
			}
		}
		conditions = append(conditions, c)
	}
	return conditions
}

// counter counts the records of a table that fit conditions. Records that show
// the same in all columns are counted together.
type counter struct {
	columns []asked
	cells   [][]uint32 // by column, of each different record: its cell
	times   []float64
	kinds   []cellKinds
	weight  [][]float64 // scratch: by column, of each cell
}

// cellKinds are the different cells of a column in a table; cell 0 is missing.
type cellKinds struct {
	spans []span // of a number
	tilts []*tiltedSpan
	codes []meaning // of a category
}

// span is a range with its mean.
type span struct{ lo, hi, mean float64 }

// tiltedSpan is the distribution of a span whose mean is said: some values of the
// domain, and how much of the weight lies at or below each.
type tiltedSpan struct{ values, below []float64 }

func newCounter(columns []asked, rows int, released bool) *counter {
	c := &counter{
		columns: columns, kinds: make([]cellKinds, len(columns)), cells: make([][]uint32, len(columns)),
		weight: make([][]float64, len(columns)),
	}
	of := make([]uint32, rows)
	value := make([]uint32, rows)
	kinds := min(rows, 1)
	var all [][]uint32
	for j := range columns {
		c.kinds[j] = columns[j].cells(value, released)
		kinds = splitClasses(of, kinds, value, c.kinds[j].count())
		all = append(all, slices.Clone(value))
		c.weight[j] = make([]float64, c.kinds[j].count())
	}
	c.times = make([]float64, kinds)
	for j := range columns {
		c.cells[j] = make([]uint32, kinds)
	}
	for i, k := range of {
		c.times[k]++
		for j := range columns {
			c.cells[j][k] = all[j][i]
		}
	}
	return c
}

func (k *cellKinds) count() int { return 1 + max(len(k.spans), len(k.codes)) }

// cells numbers the cells of a column's records, from 1; 0 is a missing value.
func (a *asked) cells(into []uint32, released bool) cellKinds {
	var k cellKinds
	if a.words != nil {
		col := a.words
		if released {
			col, k.codes = a.shown, a.means
		} else {
			for code := range a.codes {
				k.codes = append(k.codes, meaning{members: []uint32{uint32(code)}, size: 1, known: true})
			}
		}
		for i := range into {
			into[i] = 0
			if !col.IsMissing(i) {
				into[i] = col.Codes[i] + 1
			}
		}
		return k
	}
	x := a.before
	if released {
		x = a.after
	}
	number := map[span]uint32{}
	for i, here := range x.present {
		into[i] = 0
		if !here {
			continue
		}
		s := span{x.lo[i], x.hi[i], x.mid(i)}
		id, known := number[s]
		if !known {
			k.spans, k.tilts = append(k.spans, s), append(k.tilts, s.tilt(a.domain))
			id = uint32(len(k.spans))
			number[s] = id
		}
		into[i] = id
	}
	return k
}

// count is how many records fit, in parts where a cell fits in part.
func (c *counter) count(conditions []condition) float64 {
	for n := range conditions {
		q := &conditions[n]
		a, k, w := &c.columns[q.column], &c.kinds[q.column], c.weight[q.column]
		if a.words != nil {
			for i := range k.codes {
				w[i+1] = k.codes[i].within(q.in)
			}
			continue
		}
		for i := range k.spans {
			w[i+1] = k.spans[i].within(a.domain, k.tilts[i], q.lo, q.hi)
		}
	}
	total := 0.0
	for r, times := range c.times {
		p := times
		for n := range conditions {
			j := conditions[n].column
			p *= c.weight[j][c.cells[j][r]]
			if p == 0 {
				break
			}
		}
		total += p
	}
	return total
}

// within is the share of a category's cell that lies in a set.
func (m *meaning) within(in []bool) float64 {
	sum := 0.0
	for n, code := range m.members {
		if in[code] {
			sum += m.share(n)
		}
	}
	return sum
}

// within is the share of a number's cell that lies from lo to hi: all or nothing
// of a value, and of a range the values of the domain in it, evenly or by t.
func (s span) within(domain []float64, t *tiltedSpan, lo, hi float64) float64 {
	switch {
	case lo <= s.lo && s.hi <= hi:
		return 1
	case hi < s.lo || s.hi < lo:
		return 0
	case t != nil:
		return t.upTo(hi, true) - t.upTo(lo, false)
	}
	all := between(domain, s.lo, s.hi)
	if len(all) == 0 {
		return max(0, min(hi, s.hi)-max(lo, s.lo)) / (s.hi - s.lo)
	}
	return float64(len(between(all, lo, hi))) / float64(len(all))
}

// between are the values from lo to hi.
func between(values []float64, lo, hi float64) []float64 {
	from, _ := slices.BinarySearch(values, lo)
	to, found := slices.BinarySearch(values, hi)
	if found {
		to++
	}
	return values[from:max(from, to)]
}

// tiltPoints is how many values of a span carry its tilted distribution at most.
const tiltPoints = 32

// tilt gives the values of the domain in a span weights that rise or fall
// geometrically so that the mean is met: of all distributions over them the one
// of largest entropy. It is nil where the mean says nothing more than the range.
func (s span) tilt(domain []float64) *tiltedSpan {
	values := between(domain, s.lo, s.hi)
	if len(values) < 2 || s.mean == s.lo+(s.hi-s.lo)/2 || s.mean <= values[0] || s.mean >= values[len(values)-1] {
		return nil
	}
	t := &tiltedSpan{}
	n := min(tiltPoints, len(values))
	for i := range n {
		t.values = append(t.values, values[i*(len(values)-1)/(n-1)])
	}
	width := t.values[n-1] - t.values[0]
	weights := func(tilt float64) (mean float64) {
		t.below = t.below[:0]
		sum, all := 0.0, 0.0
		for _, v := range t.values {
			z := (v - t.values[0]) / width
			w := math.Exp(tilt*z - max(tilt, 0))
			all += w
			sum += w * z
			t.below = append(t.below, all)
		}
		return sum / all
	}
	low, high, target := -700.0, 700.0, (s.mean-t.values[0])/width
	for range 60 {
		if middle := (low + high) / 2; weights(middle) < target {
			low = middle
		} else {
			high = middle
		}
	}
	all := t.below[n-1]
	for i := range t.below {
		t.below[i] /= all
	}
	return t
}

// upTo is the share of the weight below x, with x itself or without.
func (t *tiltedSpan) upTo(x float64, with bool) float64 {
	n, found := slices.BinarySearch(t.values, x)
	if found && with {
		n++
	}
	if n == 0 {
		return 0
	}
	return t.below[n-1]
}

// errorSums adds up errors by column and by pair.
type errorSums struct {
	d     int
	sum   []float64 // at [a*d+b], a <= b; a == b is the column alone
	asked []int
}

func newErrorSums(d int) *errorSums {
	return &errorSums{d: d, sum: make([]float64, d*d), asked: make([]int, d*d)}
}

func (s *errorSums) add(conditions []condition, e float64) {
	for i := range conditions {
		for j := range conditions[:i+1] {
			a, b := conditions[i].column, conditions[j].column
			at := min(a, b)*s.d + max(a, b)
			s.sum[at] += e
			s.asked[at]++
		}
	}
}

func (s *errorSums) into(q *Queries, columns []asked) {
	for a := range columns {
		for b := a; b < len(columns); b++ {
			n := s.asked[a*s.d+b]
			if n == 0 {
				continue
			}
			mean := s.sum[a*s.d+b] / float64(n)
			if a == b {
				q.Columns = append(q.Columns, ColumnError{columns[a].name, mean, n})
			} else {
				q.Pairs = append(q.Pairs, PairError{columns[a].name, columns[b].name, mean, n})
			}
		}
	}
}
