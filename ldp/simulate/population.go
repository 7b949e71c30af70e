package simulate

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/entropy"
	"github.com/noren-privacy/noren/ldp"
	"github.com/noren-privacy/noren/ldp/survey"
)

// population is where people are drawn from. All are drawn alike.
type population struct {
	s      *survey.Survey
	shares [][]float64 // of labels or words, by attribute; nil for numbers
	shape  string      // of numbers
	values [][]string  // records to draw from instead
	words  []string
	ranges [][2]float64
	edges  []float64 // of the buckets of a distribution
	index  []map[string]int
}

// Sample is simulated people with their values and the truth.
type Sample struct {
	// Values are the records, as text.
	Values [][]string
	// Truth is what is true, of each attribute.
	Truth []Truth
}

// Truth is the truth about one attribute of a sample; the field of its kind is set.
type Truth struct {
	Labels  []string
	Shares  []float64 // of labels or words
	Mean    float64
	Edges   []float64 // of a distribution
	Buckets []float64
}

func newPopulation(s *survey.Survey, o *Options) (*population, error) {
	p := &population{s: s, values: o.Values}
	d := len(s.Columns())
	spec := s.Spec()
	p.shares, p.ranges, p.index = make([][]float64, d), make([][2]float64, d), make([]map[string]int, d)
	p.shape = o.Shape
	for j := range d {
		labels := s.Labels(j)
		if s.Kind() == survey.Words {
			for w := range o.Words {
				p.words = append(p.words, "word-"+strconv.Itoa(w+1))
			}
			if len(o.Values) > 0 {
				p.words = distinct(o.Values)
			}
			labels = p.words
		}
		if labels == nil {
			r := spec.Range
			if len(spec.Attributes) > 0 {
				r = spec.Attributes[j].Range
			}
			p.ranges[j] = [2]float64{r[0], r[1]}
			if !slices.Contains([]string{"", "normal", "uniform", "bimodal"}, o.Shape) && d == 1 {
				return nil, &noren.Error{Kind: noren.Usage, Where: "population", What: "numbers are normal, uniform or bimodal"}
			}
			continue
		}
		p.index[j] = make(map[string]int, len(labels))
		for l, name := range labels {
			p.index[j][name] = l
		}
		var err error
		if p.shares[j], err = shapeOf(len(labels), o, d == 1); err != nil {
			return nil, err
		}
	}
	if s.Kind() == survey.Distribution {
		b, err := ldp.EqualWidth(p.ranges[0][0], p.ranges[0][1], spec.Buckets)
		if err != nil {
			return nil, err
		}
		p.edges = b.Edges()
	}
	return p, nil
}

func distinct(values [][]string) []string {
	seen := map[string]bool{}
	var out []string
	for _, v := range values {
		if !seen[v[0]] {
			seen[v[0]] = true
			out = append(out, v[0])
		}
	}
	slices.Sort(out)
	return out
}

// shapeOf is the shares of k labels.
func shapeOf(k int, o *Options, alone bool) ([]float64, error) {
	if len(o.Shares) > 0 {
		return givenShares(k, o.Shares)
	}
	out := make([]float64, k)
	whole := 0.0
	for l := range out {
		switch o.Shape {
		case "uniform":
			out[l] = 1
		case "geometric":
			out[l] = math.Pow(0.5, float64(l))
		case "", "zipf":
			out[l] = 1 / float64(l+1)
		default:
			if alone {
				return nil, &noren.Error{Kind: noren.Usage, Where: "population", What: "labels are zipf, uniform or geometric"}
			}
			out[l] = 1 / float64(l+1)
		}
		whole += out[l]
	}
	for l := range out {
		out[l] /= whole
	}
	return out, nil
}

func givenShares(k int, shares []float64) ([]float64, error) {
	if len(shares) != k {
		return nil, &noren.Error{
			Kind: noren.Usage, Where: "shares", What: "%d {was|were} given for %d {label|labels}",
			Args: []any{len(shares), k},
		}
	}
	whole := 0.0
	for _, v := range shares {
		if !(v >= 0) || math.IsInf(v, 0) {
			return nil, &noren.Error{Kind: noren.Usage, Where: "shares", What: "are numbers from 0 up"}
		}
		whole += v
	}
	if !(whole > 0) {
		return nil, &noren.Error{Kind: noren.Usage, Where: "shares", What: "are all 0"}
	}
	out := make([]float64, k)
	for l, v := range shares {
		out[l] = v / whole
	}
	return out, nil
}

// draw draws n people and tells what is true of them: where they are as many as
// the values that were given, they are just these.
func (p *population) draw(n int, mix *rand.Rand) (*Sample, error) {
	c := &Sample{Values: make([][]string, n)}
	if p.values != nil {
		for i := range c.Values {
			at := i
			if n != len(p.values) {
				at = mix.IntN(len(p.values))
			}
			c.Values[i] = p.values[at]
		}
		return c, p.measure(c)
	}
	cdf := make([][]float64, len(p.shares))
	names := make([][]string, len(p.shares))
	for j, f := range p.shares {
		sum := 0.0
		for _, v := range f {
			sum += v
			cdf[j] = append(cdf[j], sum)
		}
		names[j] = p.labelNames(j)
		if p.s.Bins(j) != nil {
			for l := range names[j] { // a number that lies in the bin
				names[j][l] = strconv.FormatFloat(p.s.Bins(j).Midpoint(l), 'g', -1, 64)
			}
		}
	}
	for i := range c.Values {
		row := make([]string, len(p.shares))
		for j := range row {
			if p.shares[j] == nil {
				row[j] = strconv.FormatFloat(p.number(j, mix), 'g', -1, 64)
				continue
			}
			l, _ := slices.BinarySearch(cdf[j], mix.Float64())
			row[j] = names[j][min(l, len(names[j])-1)]
		}
		c.Values[i] = row
	}
	return c, p.measure(c)
}

// number draws a number of the shape, cut to its range.
func (p *population) number(j int, mix *rand.Rand) float64 {
	lo, hi := p.ranges[j][0], p.ranges[j][1]
	u := 0.0
	switch p.shape {
	case "uniform":
		u = mix.Float64()
	case "bimodal":
		u = 0.3 + 0.07*mix.NormFloat64()
		if mix.Float64() < 0.4 {
			u = 0.75 + 0.05*mix.NormFloat64()
		}
	default:
		u = 0.5 + mix.NormFloat64()/6
	}
	return lo + min(max(u, 0), 1)*(hi-lo)
}

func (p *population) labelNames(j int) []string {
	if p.words != nil {
		return slices.Clone(p.words)
	}
	return p.s.Labels(j)
}

// measure computes what is true of a sample.
func (p *population) measure(c *Sample) error {
	n := float64(len(c.Values))
	c.Truth = make([]Truth, len(p.index))
	for j := range c.Truth {
		t := &c.Truth[j]
		if p.index[j] != nil {
			t.Labels = p.labelNames(j)
			t.Shares = make([]float64, len(t.Labels))
		} else if p.edges != nil {
			t.Edges, t.Buckets = p.edges, make([]float64, len(p.edges)-1)
		}
	}
	for i, row := range c.Values {
		for j, text := range row {
			t := &c.Truth[j]
			if p.words != nil {
				t.Shares[p.index[j][text]] += 1 / n
				continue
			}
			v, err := p.s.Value(j, text)
			if err != nil {
				return &noren.Error{Kind: noren.KindOf(err), Where: noren.Textf("record %d", i+1), Err: err}
			}
			switch {
			case t.Shares != nil:
				t.Shares[int(v)] += 1 / n
			case t.Buckets != nil:
				k := len(t.Buckets)
				lo, hi := p.ranges[j][0], p.ranges[j][1]
				t.Buckets[min(max(int(float64(k)*(v-lo)/(hi-lo)), 0), k-1)] += 1 / n
				t.Mean += min(max(v, lo), hi) / n
			default:
				t.Mean += min(max(v, p.ranges[j][0]), p.ranges[j][1]) / n
			}
		}
	}
	return nil
}

// collect lets a sample report and estimates.
func (p *population) collect(ctx context.Context, s *survey.Survey, sample *Sample, src *entropy.Source, level float64) (*survey.Estimate,
	error,
) {
	c, err := s.NewCollector()
	if err != nil {
		return nil, err
	}
	for i, row := range sample.Values {
		if i&255 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		line, err := s.Randomise(src, row)
		if err != nil {
			return nil, &noren.Error{Kind: noren.KindOf(err), Where: noren.Textf("record %d", i+1), Err: err}
		}
		if err := c.AddLine(line); err != nil {
			return nil, err
		}
	}
	o := survey.Options{Level: level}
	if s.Kind() == survey.Words {
		if o.Map, err = s.Rappor().NewMap(p.words); err != nil {
			return nil, err
		}
		o.All = true
	}
	return c.Estimate(ctx, o)
}

// squaredError is the mean square error of an estimate over the labels of all
// attributes; of a distribution, its Wasserstein distance squared.
func (c *Sample) squaredError(e *survey.Estimate) float64 {
	of := []survey.Estimate{*e}
	if e.Several != nil {
		of = e.Several
	}
	total, terms := 0.0, 0
	for j := range of {
		t := &c.Truth[j]
		switch x := &of[j]; {
		case x.Shares != nil:
			for l, v := range x.Shares.Value {
				total += (v - t.Shares[l]) * (v - t.Shares[l])
				terms++
			}
		case x.Words != nil:
			at := make(map[string]float64, len(x.Words.Words))
			for _, w := range x.Words.Words {
				if w.Significant {
					at[w.Word] = w.Value
				}
			}
			for l, name := range t.Labels {
				total += (at[name] - t.Shares[l]) * (at[name] - t.Shares[l])
				terms++
			}
		case x.Mean != nil:
			total += (x.Mean.Value - t.Mean) * (x.Mean.Value - t.Mean)
			terms++
		case x.Distribution != nil:
			w := Wasserstein(t.Edges, t.Buckets, x.Distribution.Share)
			total += w * w
			terms++
		}
	}
	if terms == 0 {
		return math.NaN()
	}
	return total / float64(terms)
}

// Wasserstein is the distance of two distributions over the same buckets, in the
// units of their edges: the area between their distribution functions.
func Wasserstein(edges, p, q []float64) float64 {
	sum, gap := 0.0, 0.0
	for i := range p {
		gap += p[i] - q[i]
		sum += math.Abs(gap) * (edges[i+1] - edges[i])
	}
	return sum
}

// expected is the mean square error by the formulas, NaN where there is none. The
// sample is fixed, so that the spread of its own shares is not in it: of n reports
// whose supports have the probabilities T (of the n f with the label) and O,
// the variance of the estimate is (f T(1-T) + (1-f) O(1-O))/(n (T-O)^2).
func (c *Sample) expected(s *survey.Survey) float64 {
	n := float64(len(c.Values))
	switch {
	case s.Oracle() != nil:
		ch := s.Oracle().Channel()
		gap := ch.True - ch.Other
		total := 0.0
		for _, f := range c.Truth[0].Shares {
			total += (f*ch.True*(1-ch.True) + (1-f)*ch.Other*(1-ch.Other)) / (n * gap * gap)
		}
		return total / float64(len(c.Truth[0].Shares))
	case s.MeanMechanism() != nil:
		m := s.MeanMechanism()
		total := 0.0
		for _, row := range c.Values {
			v, err := s.Value(0, row[0])
			if err != nil {
				return math.NaN()
			}
			total += m.Variance(v)
		}
		return total / (n * n)
	}
	return math.NaN()
}
