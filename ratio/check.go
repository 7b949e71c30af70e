package ratio

import (
	"context"
	"encoding/json"
	"math"
	"math/big"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/noise"
	"github.com/noren-privacy/noren/table"
)

// CheckOptions make a [Check]. All of them are public.
type CheckOptions struct {
	// Weights are what is checked. Required.
	Weights *Weights
	// Frame and Public are the frame and the public points of the weights. Public is
	// required, Frame where the private records come as a table.
	Frame  *Frame
	Public *Points
	// Cost is its epsilon. Required.
	Cost account.Cost
	// Neighbours is the relation. Defaults to AddRemove.
	Neighbours account.Neighbours
	// Records is n. Required for ReplaceOne, not used for AddRemove.
	Records int
}

// Check compares means of bounded functions over the private records with those that the
// weights give, for a privacy cost. The functions are each coordinate, brought to [0, 1] over
// the public records (what is beyond counts as the nearer bound), and in which of up to
// eight bins it is, between public quantiles (the bins distinguish two clouds from one of the
// same mean and variance); for a category, whether a record has each of its values. All are
// released at once, with independent discrete Laplace noise on sums, on a grid of step 2^-30, and with them the
// number of records that have a value in every column.
//
// What one record moves, in L1 and in units of 2^30 steps: a coordinate by at most 1; its
// bins, or the values of a category, by 1 where a record is added (it is in one of them at
// most), by 2 where it is replaced (it leaves one and enters another); the number of
// records by 1.
//
// Guarantee: pure eps, exactly. Neighbours: either. Proof: the sums are whole numbers;
// Ghosh, Roughgarden and Sundararajan 2009. Assumptions: the public records are public.
type Check struct {
	options   CheckOptions
	low, high []float64
	word      []bool       // which coordinates are values of a category
	edges     [][]float64  // of the bins of a coordinate, rising; bin k ends at edge k
	scale     *big.Rat     // of the noise, in steps
	names     []noren.Text // of the functions
}

// NewCheck checks the options. Error: [noren.Usage].
func NewCheck(o CheckOptions) (*Check, error) {
	var bad faults
	if o.Weights == nil || o.Public == nil || o.Public.Rows != len(o.Weights.W) {
		bad.add("weights", "weights and the public records they are for are needed")
		return nil, bad.err()
	}
	if o.Frame != nil && o.Frame.Dim() != o.Public.Dim {
		bad.add("frame", "frame and public records have another number of coordinates")
	}
	if o.Neighbours == account.ReplaceOne && (o.Records < 1 || o.Records > maxRecords) {
		bad.add("records", "replace-one takes the number of private records as public: give it, at most 2^30")
	}
	if err := o.Cost.Validate(); err != nil {
		bad = append(bad, noren.TextOf(err))
	}
	if o.Cost.Epsilon == 0 || o.Cost.Delta != 0 {
		bad.add("cost", "the check needs an epsilon and no delta")
	}
	if err := bad.err(); err != nil {
		return nil, err
	}
	c := &Check{options: o}
	c.edges = publicEdges(o.Public, checkBins)
	sensitivity := c.functions() << gridBits
	for j := range o.Public.Dim {
		low, high := math.Inf(1), math.Inf(-1)
		for i := range o.Public.Rows {
			if v := o.Public.Row(i)[j]; isWhole(o.Public.Row(i)) {
				low, high = min(low, v), max(high, v)
			}
		}
		if !(low < high) || c.word[j] && low > 0 {
			low, high = 0, 1
		}
		c.low, c.high = append(c.low, low), append(c.high, high)
	}
	var err error
	if c.scale, err = noise.ScaleFor(big.NewRat(sensitivity, 1), o.Cost.Epsilon); err != nil {
		return nil, err
	}
	scale, _ := c.scale.Float64()
	return c, checkScale(scale)
}

// functions lays out the test functions, and returns what one record moves them and the
// number of records by, as the comment of Check has it.
func (c *Check) functions() (sensitivity int64) {
	sensitivity = 1
	one := int64(1)
	if c.options.Neighbours == account.ReplaceOne {
		one = 2
	}
	number := func(name noren.Text) {
		edges := c.edges[len(c.word)]
		c.word = append(c.word, false)
		c.names = append(c.names, name)
		sensitivity++
		if len(edges) == 0 {
			return
		}
		for k := range len(edges) + 1 {
			c.names = append(c.names, noren.Textf("%s in bin %d of %d", name, k+1, len(edges)+1))
		}
		sensitivity += one
	}
	if c.options.Frame == nil {
		for j := range c.options.Public.Dim {
			number(noren.Textf("coordinate %d", j+1))
		}
		return sensitivity
	}
	for _, a := range c.options.Frame.axes {
		if a.Field.Type != table.Category {
			number(noren.Textf("%s", a.Field.Name))
			continue
		}
		for _, w := range a.Categories {
			c.word = append(c.word, true)
			c.names = append(c.names, noren.Textf("%s = %s", a.Field.Name, w))
		}
		sensitivity += one
	}
	return sensitivity
}

// values fills dst with the functions of a record, each in [0, 1]; of the values of a
// category, and of the bins of a coordinate, at most one is above 0. A record without a value has none: 0, and whole
// is false.
func (c *Check) values(dst, x []float64) (whole bool) {
	clear(dst)
	if !isWhole(x) {
		return false
	}
	at := 0
	for j, v := range x {
		u := (min(max(v, c.low[j]), c.high[j]) - c.low[j]) / (c.high[j] - c.low[j])
		dst[at] = u
		at++
		if !c.word[j] && len(c.edges[j]) > 0 {
			k, _ := slices.BinarySearch(c.edges[j], v)
			dst[at+k] = 1
			at += len(c.edges[j]) + 1
		}
	}
	return true
}

// Name is "ratio.check".
func (c *Check) Name() string { return "ratio.check" }

// Columns describes the columns that are read; none without a frame.
func (c *Check) Columns() []table.Field {
	if c.options.Frame == nil {
		return nil
	}
	return c.options.Frame.Columns()
}

// Parameters are all public parameters, for the certificate.
func (c *Check) Parameters() any {
	scale, _ := c.scale.Float64()
	p := struct {
		Axes       []axisMeta  `json:"axes,omitempty"`
		Low        []float64   `json:"low"`
		High       []float64   `json:"high"`
		Edges      [][]float64 `json:"edges"`
		Neighbours string      `json:"neighbours"`
		Records    int         `json:"records,omitempty"`
		Scale      float64     `json:"scale"`
		Weights    *Meta       `json:"weights"`
	}{nil, c.low, c.high, c.edges, c.options.Neighbours.String(), 0, scale, c.options.Weights.Meta}
	if c.options.Neighbours == account.ReplaceOne {
		p.Records = c.options.Records
	}
	if c.options.Frame != nil {
		p.Axes = axesMeta(c.options.Frame)
	}
	return p
}

// Cost is the privacy cost for a relation of neighbours and a privacy unit.
func (c *Check) Cost(n account.Neighbours, unit string) (account.Cost, error) {
	return recordCost(c.options.Cost, c.options.Neighbours, n, unit)
}

// Guarantee states what Cost pays for.
func (c *Check) Guarantee(n account.Neighbours, unit string) (noren.Guarantee, error) {
	cost, err := c.Cost(n, unit)
	if err != nil {
		return noren.Guarantee{}, err
	}
	g := noren.Guarantee{Model: "differential privacy", Neighbours: n.String(), Unit: unit}
	g.Epsilon, g.Delta = cost.Float()
	g.Assumptions = noren.Sentences(
		"The public records, columns and bounds are public and were not chosen by looking at the private records.",
		"A record without a value in one of the columns is left out. Noise is discrete and exact on a grid of step 2^-30.",
	)
	if c.options.Neighbours == account.ReplaceOne {
		g.Assumptions = append(g.Assumptions, noren.Textf("The number of private records is public."))
	}
	return g, nil
}

// Sums are what [Check] releases. As JSON they are strings of decimal digits.
type Sums struct {
	// Sums of the test functions over the private records, in steps of 2^-30, with
	// noise.
	Sums []int64 `json:"sums"`
	// Records is the number of those that have a value in every column, in the same
	// steps, with noise.
	Records int64 `json:"records"`
}

// Answer computes on a private table and adds noise from src.
func (c *Check) Answer(ctx context.Context, t *table.Table, src *noise.Source) (any, error) {
	if c.options.Frame == nil {
		return nil, noren.Usagef("frame", "the check was made without a frame for tables")
	}
	x, err := c.options.Frame.Points(t)
	if err != nil {
		return nil, err
	}
	return c.Release(ctx, x, src)
}

// Release is Answer on private points, n x d.
func (c *Check) Release(ctx context.Context, x *Points, src *noise.Source) (*Sums, error) {
	if c.options.Neighbours == account.ReplaceOne && x.Rows != c.options.Records || x.Rows > maxRecords {
		return nil, &noren.Error{Kind: noren.BadData, What: "the table has another number of records than was declared, or more than 2^30"}
	}
	if x.Dim != len(c.low) {
		return nil, noren.Usagef("records", "private and public records have another number of coordinates")
	}
	out := &Sums{Sums: make([]int64, len(c.names))}
	row := make([]float64, len(c.names))
	for i := range x.Rows {
		if i%blockRows == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if c.values(row, x.Row(i)) {
			out.Records += 1 << gridBits
		}
		for j, v := range row {
			// In [0, 2^30], so that a record moves it by at most 2^30, exactly.
			out.Sums[j] += int64(math.Round(v * (1 << gridBits)))
		}
	}
	d, err := noise.NewLaplace(c.scale)
	if err != nil {
		return nil, err
	}
	for _, s := range append([]*int64{&out.Records}, pointers(out.Sums)...) {
		z, err := d.Draw(src)
		if err != nil {
			return nil, err
		}
		*s = noise.AddSaturating(*s, z)
	}
	return out, nil
}

func pointers(v []int64) []*int64 {
	out := make([]*int64, len(v))
	for i := range v {
		out[i] = &v[i]
	}
	return out
}

// Decode reads what Release returned from its JSON. Error: [noren.BadData].
func (c *Check) Decode(payload []byte) (*Sums, error) {
	var s Sums
	if err := json.Unmarshal(payload, &s); err != nil || len(s.Sums) != len(c.names) {
		return nil, badMeta("the released sums are not JSON of their form")
	}
	return &s, nil
}

// Compared is one test function.
type Compared struct {
	// Function is the name of the test function, of values from 0 to 1 over the public
	// records.
	Function noren.Text `json:"function"`
	// Private is the released mean over the private records.
	Private float64 `json:"private"`
	// Weighted is the mean over the weighted public records.
	Weighted float64 `json:"weighted"`
	// Public is the mean over the unweighted public records.
	Public float64 `json:"public"`
	// SE is the standard error of Private less Weighted: the noise of the check, and
	// the error of the weighted answer.
	SE float64 `json:"standard_error"`
	// Off is true if Private and Weighted differ by more than chance: with correct weights,
	// one check in a hundred has a test that is off.
	Off bool `json:"off"`
}

// checkLevel is the chance that a check of correct weights has a test that is off, at most.
const checkLevel = 0.01

// CheckResult is what a check found.
type CheckResult struct {
	Tests []Compared `json:"tests"`
	// Off is how many of them are off. The others may be so because
	// epsilon is too small to see a difference.
	Off int `json:"off"`
	// Nearer says that in the root of the mean square the weighted records are nearer
	// to the private ones than the unweighted are.
	Nearer   bool         `json:"nearer"`
	Warnings []noren.Text `json:"warnings,omitempty"`
}

// Compare holds released sums against the weights, as post-processing.
func (c *Check) Compare(s *Sums) (*CheckResult, error) {
	if len(s.Sums) != len(c.names) {
		return nil, badMeta("the released sums are those of another check")
	}
	d, err := noise.NewLaplace(c.scale)
	if err != nil {
		return nil, err
	}
	unit := float64(int64(1) << gridBits)
	sd := math.Sqrt(d.Variance()) / unit
	n := max(1, float64(s.Records)/unit)
	w := c.options.Weights
	fs := make([][]float64, len(c.names))
	for j := range fs {
		fs[j] = make([]float64, c.options.Public.Rows)
	}
	row := make([]float64, len(c.names))
	for i := range c.options.Public.Rows {
		whole := c.values(row, c.options.Public.Row(i))
		for j, v := range row {
			fs[j][i] = v
			if !whole {
				fs[j][i] = math.NaN()
			}
		}
	}
	answers, err := w.means(fs, 1)
	if err != nil {
		return nil, err
	}
	ones := make([]float64, c.options.Public.Rows)
	for i := range ones {
		ones[i] = 1
	}
	out := &CheckResult{}
	// Bonferroni's bound over all tests, by the tail of Laplace noise and normal errors.
	limit := checkLevel / float64(len(answers))
	var weighted, plain float64
	for j, a := range answers {
		t := Compared{Function: c.names[j], Private: float64(s.Sums[j]) / unit / n, Weighted: a.Value, Public: average(ones, fs[j])}
		// The private records are the same on both sides: their sampling is no error.
		own := math.Hypot(sd, t.Private*sd) / n
		others := math.Hypot(a.Parts.Public, a.Parts.Privacy)
		t.SE = math.Hypot(own, others)
		scale := sd / math.Sqrt2 / n
		t.Off = twoSided(math.Abs(t.Private-t.Weighted), scale, t.Private*scale, others) < limit
		if t.Off {
			out.Off++
		}
		weighted += (t.Private - t.Weighted) * (t.Private - t.Weighted)
		plain += (t.Private - t.Public) * (t.Private - t.Public)
		out.Tests = append(out.Tests, t)
	}
	out.Nearer = weighted < plain
	if out.Off > 0 {
		out.Warnings = append(out.Warnings, noren.Textf("%d of %d test {mean|means} {1|is|are} off by more than chance explains: do not trust "+
			"the weights with these columns", out.Off, len(out.Tests)))
	}
	if !out.Nearer {
		out.Warnings = append(out.Warnings, noren.Textf("the weighted records are no nearer to the private ones than the unweighted: the "+
			"weights do not help, or the check was too noisy to see it"))
	}
	return out, nil
}

// checkBins is how many bins a coordinate has at most.
const checkBins = 8

// publicEdges are, for each coordinate, the edges of up to bins bins between public
// quantiles: values at which bins but the last end. Values that many records share have a
// bin once.
func publicEdges(p *Points, bins int) [][]float64 {
	out := make([][]float64, p.Dim)
	for j := range out {
		var all []float64
		for i := range p.Rows {
			if row := p.Row(i); isWhole(row) {
				all = append(all, row[j])
			}
		}
		slices.Sort(all)
		out[j] = []float64{}
		for k := 1; k < bins && len(all) > 0; k++ {
			v := all[k*len(all)/bins]
			if v < all[len(all)-1] && (len(out[j]) == 0 || v > out[j][len(out[j])-1]) {
				out[j] = append(out[j], v)
			}
		}
	}
	return out
}
