package ratio

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/noise"
	"github.com/noren-privacy/noren/table"
)

// Feature names what is released of the private records.
type Feature string

const (
	// KernelFeatures are sums of kernels about public centres.
	KernelFeatures Feature = "kernels"
	// MarginalFeatures are histograms of public bins of single columns and of some pairs,
	// which weights are calibrated to (raking). Noise is independent discrete Laplace of
	// scale H/eps for H histograms, or 2H/eps where neighbours are replace-one.
	//
	// Guarantee: pure eps, exactly: counts are whole numbers. Neighbours: either. Proof: a
	// record is in one cell of each histogram at most, so that adding one changes the
	// counts by H in L1, and replacing one by 2H (docs/density-ratio.md, section 3);
	// Ghosh, Roughgarden and Sundararajan 2009. Assumptions: bins, categories and which pairs
	// are taken are public.
	MarginalFeatures Feature = "marginals"
	// BothFeatures are both, with half of epsilon each.
	BothFeatures Feature = "both"
)

// Histogram is a histogram of one axis or of a pair.
type Histogram struct {
	Axes []binned `json:"axes"`
}

// binned is an axis in bins: a coordinate between edges, or the values of a category,
// coordinates one after the other, and a last bin for none of them.
type binned struct {
	Name       string    `json:"name"`
	At         int       `json:"at"` // the first coordinate
	Categories int       `json:"words,omitempty"`
	Edges      []float64 `json:"edges,omitempty"` // the values at which bins but the last end
}

func (b *binned) bins() int {
	if b.Categories > 0 {
		return b.Categories + 1
	}
	return len(b.Edges) + 1
}

func (b *binned) bin(x []float64) int {
	if b.Categories == 0 {
		k, _ := slices.BinarySearch(b.Edges, x[b.At])
		return k
	}
	for k := range b.Categories {
		if x[b.At+k] > 0 {
			return k
		}
	}
	return b.Categories
}

// Cells is how many cells h has.
func (h *Histogram) Cells() int {
	n := 1
	for i := range h.Axes {
		n *= h.Axes[i].bins()
	}
	return n
}

// cell is that of a record that has all coordinates.
func (h *Histogram) cell(x []float64) int {
	at := 0
	for i := range h.Axes {
		at = at*h.Axes[i].bins() + h.Axes[i].bin(x)
	}
	return at
}

// name is that of the axes.
func (h *Histogram) name() string {
	out := h.Axes[0].Name
	for i := range h.Axes[1:] {
		out += " x " + h.Axes[i+1].Name
	}
	return out
}

func cells(hs []Histogram) int {
	n := 0
	for i := range hs {
		n += hs[i].Cells()
	}
	return n
}

const (
	marginalBins = 8   // of a column of numbers, at most
	mostCells    = 256 // of a histogram of a pair
	mostPairs    = 8
)

// axesOf are the axes of points in bins: of the frame, or each coordinate by itself.
func axesOf(f *Frame, public *Points) []binned {
	edges := publicEdges(public, marginalBins)
	var out []binned
	if f == nil {
		for j := range public.Dim {
			out = append(out, binned{Name: fmt.Sprintf("coordinate %d", j+1), At: j, Edges: edges[j]})
		}
		return out
	}
	at := 0
	for _, a := range f.axes {
		if a.Field.Type == table.Category {
			out = append(out, binned{Name: a.Field.Name, At: at, Categories: len(a.Categories)})
			at += len(a.Categories)
			continue
		}
		out = append(out, binned{Name: a.Field.Name, At: at, Edges: edges[at]})
		at++
	}
	return out
}

// chooseHistograms takes every column and, of the pairs, those whose columns depend most
// on each other among the public records, as long as the noise of all histograms together
// stays below what is to be seen: a cell of all histograms in the mean, of n private
// records, is to hold four standard deviations of noise. All of it is public.
func chooseHistograms(axes []binned, public *Points, n, epsilon float64, relation account.Neighbours) []Histogram {
	var out []Histogram
	for _, a := range axes {
		if a.bins() > 1 {
			out = append(out, Histogram{Axes: []binned{a}})
		}
	}
	type pair struct {
		h       Histogram
		depends float64
	}
	var pairs []pair
	singles := len(out)
	for i := range singles {
		for j := range i {
			h := Histogram{Axes: []binned{out[j].Axes[0], out[i].Axes[0]}}
			if h.Cells() <= mostCells {
				pairs = append(pairs, pair{h, dependence(&h, public)})
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(b.depends, a.depends) })
	one := 1.0
	if relation == account.ReplaceOne {
		one = 2
	}
	for _, p := range pairs[:min(len(pairs), mostPairs)] {
		more := append(slices.Clone(out), p.h)
		sd := math.Sqrt2 * one * float64(len(more)) / epsilon
		if n*float64(len(more))/float64(cells(more)) < 4*sd {
			break
		}
		out = more
	}
	return out
}

// dependence is the mean of the squares of how far the cells of a pair are from those of
// independent columns, by the latter (Pearson's phi squared).
func dependence(h *Histogram, public *Points) float64 {
	rows, columns := h.Axes[0].bins(), h.Axes[1].bins()
	joint, first, second, n := make([]float64, rows*columns), make([]float64, rows), make([]float64, columns), 0.0
	for i := range public.Rows {
		if x := public.Row(i); isWhole(x) {
			c := h.cell(x)
			joint[c]++
			first[c/columns]++
			second[c%columns]++
			n++
		}
	}
	out := 0.0
	for c, v := range joint {
		if e := first[c/columns] * second[c%columns] / n; e > 0 {
			out += (v - e) * (v - e) / e / n
		}
	}
	return out
}

// indicators fills the columns of psi: 1 for the cells of a record, at the column that place
// has for each, or nowhere if that is below 0.
func indicators(psi *mat.Dense, place []int, hs []Histogram, p *Points) {
	for i := range p.Rows {
		x := p.Row(i)
		if !isWhole(x) {
			continue
		}
		row, from := psi.RawRowView(i), 0
		for k := range hs {
			if at := place[from+hs[k].cell(x)]; at >= 0 {
				row[at] = 1
			}
			from += hs[k].Cells()
		}
	}
}

// marginalScale is that of the noise on counts.
func marginalScale(hs []Histogram, units int64, relation account.Neighbours) (*big.Rat, error) {
	sensitivity := int64(len(hs))
	if relation == account.ReplaceOne {
		sensitivity *= 2
	}
	return noise.ScaleFor(big.NewRat(sensitivity, 1), units)
}

// countCells releases the counts of all cells with noise.
func countCells(ctx context.Context, hs []Histogram, scale *big.Rat, x *Points, src *noise.Source) ([]int64, error) {
	out := make([]int64, cells(hs))
	for i := range x.Rows {
		if i%blockRows == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		row := x.Row(i)
		if !isWhole(row) {
			continue
		}
		from := 0
		for k := range hs {
			out[from+hs[k].cell(row)]++
			from += hs[k].Cells()
		}
	}
	d, err := noise.NewLaplace(scale)
	if err != nil {
		return nil, err
	}
	for i := range out {
		z, err := d.Draw(src)
		if err != nil {
			return nil, err
		}
		out[i] = noise.AddSaturating(out[i], z)
	}
	return out, nil
}

// laplaceVariance is that of discrete Laplace noise of a scale.
func laplaceVariance(scale float64) float64 {
	h := math.Sinh(0.5 / scale)
	return 1 / (2 * h * h)
}

// takeMarginals chooses the histograms and their share of epsilon.
func (m *Mechanism) takeMarginals() error {
	o := &m.options
	if o.Features == KernelFeatures {
		return nil
	}
	m.cells.Epsilon = m.main.Epsilon
	if o.Features == BothFeatures {
		m.cells.Epsilon = m.main.Epsilon / 2
	}
	m.main.Epsilon -= m.cells.Epsilon
	epsilon, _ := m.cells.Float()
	m.marginals = chooseHistograms(axesOf(o.Frame, o.Public), o.Public, o.guess(), epsilon, o.Neighbours)
	if len(m.marginals) == 0 {
		return noren.Usagef("features", "no column of the public records has two bins").Hinted("leave marginals out")
	}
	if n := cells(m.marginals); n > maxCentres {
		return noren.Usagef("features", "more than 4096 cells").Hinted("take fewer columns or categories")
	}
	var err error
	m.scale, err = marginalScale(m.marginals, m.cells.Epsilon, o.Neighbours)
	return err
}

// Histograms are the names of the histograms that are released, in order.
func (m *Mechanism) Histograms() []string {
	var out []string
	for i := range m.marginals {
		out = append(out, m.marginals[i].name())
	}
	return out
}

// noteMarginals puts the histograms and what was released of them into the meta data.
func (m *Mechanism) noteMarginals(meta *Meta, r *Released) {
	meta.Dim, meta.Features = m.options.Public.Dim, m.options.Features
	if len(m.marginals) > 0 {
		meta.Histograms, meta.Cells = m.marginals, r.Cells
		meta.CellScale, _ = m.scale.Float64()
	}
}

// marginalFit are weights of histograms alone, which are not finished.
func (m *Mechanism) marginalFit(r *Released) (*Weights, error) {
	o := &m.options
	epsilon, delta := o.Cost.Float()
	meta := &Meta{
		Format: metaFormat, Mechanism: o.Noise, Epsilon: epsilon, Delta: delta, Neighbours: o.Neighbours.String(),
		PublicRecords: o.Public.Rows, Post: o.Post, Raw: o.Raw,
	}
	m.noteMarginals(meta, r)
	if o.Frame != nil {
		meta.Axes = axesMeta(o.Frame)
	}
	switch {
	case o.Neighbours == account.ReplaceOne:
		meta.Records, meta.RecordsFrom = float64(o.Records), Declared
	case r.Records != nil:
		d, err := countNoise(m.count)
		if err != nil {
			return nil, err
		}
		meta.Records, meta.RecordsFrom, meta.RecordsSD = float64(max(1, *r.Records)), Paid, math.Sqrt(d.Variance())
	default:
		meta.Records, meta.RecordsFrom = 1, Estimated
		sum := 0.0
		for _, v := range r.Cells {
			sum += float64(v)
		}
		meta.Records = max(1, sum/float64(len(m.marginals)))
	}
	return &Weights{Meta: meta, public: o.Public}, m.noteOutside(meta, r)
}

// leastVariance is taken for the variance of noise in a cell where it is smaller, at an epsilon
// of hundreds for each histogram: matrices of such entries are outside of the range in which
// eigenvalues are computed.
const leastVariance = 1e-20

// gather puts together all features of the public records, what was released of them, and
// the covariance of its noise.
func (w *Weights) gather() {
	m := w.Meta
	b, n := len(m.Sums), w.public.Rows
	w.place = places(m.Histograms, w.public, b)
	p := b
	for _, at := range w.place {
		p = max(p, at+1)
	}
	w.mean = scaled(m.Sums, 1/m.Records)
	w.noise = mat.NewSymDense(p, nil)
	if b > 0 {
		cov := m.Distribution.Covariance(w.features.Kernel)
		for i := range b {
			for j := i; j < b; j++ {
				w.noise.SetSym(i, j, cov.At(i, j)/(m.Records*m.Records))
			}
		}
	}
	if p == b {
		w.psi = w.features.Phi
		return
	}
	w.psi = mat.NewDense(n, p, nil)
	if b > 0 {
		for i := range n {
			copy(w.psi.RawRowView(i), w.features.Phi.RawRowView(i))
		}
	}
	indicators(w.psi, w.place, m.Histograms, w.public)
	variance := max(leastVariance, laplaceVariance(m.CellScale)) / (m.Records * m.Records)
	for k, v := range m.Cells {
		if at := w.place[k]; at >= 0 {
			w.mean = append(w.mean, float64(v)/m.Records)
			w.noise.SetSym(at, at, variance)
		}
	}
}

// places are the columns, from first on, of the cells of histograms, -1 for cells that no
// public record is in: no weights reproduce them, and they are judged by uncovered alone.
func places(hs []Histogram, public *Points, first int) []int {
	out := make([]int, cells(hs))
	for i := range public.Rows {
		if x := public.Row(i); isWhole(x) {
			from := 0
			for k := range hs {
				out[from+hs[k].cell(x)]++
				from += hs[k].Cells()
			}
		}
	}
	for k, n := range out {
		out[k] = -1
		if n > 0 {
			out[k] = first
			first++
		}
	}
	return out
}

// uncovered is the largest share, among the histograms where it is above what noise
// explains, of private records in cells that no public record is in, and the name of that
// histogram; 0 where there is none.
func (w *Weights) uncovered() (share float64, name string) {
	m := w.Meta
	sd := math.Sqrt(laplaceVariance(m.CellScale))
	from := 0
	for k := range m.Histograms {
		h := &m.Histograms[k]
		sum, empty := 0.0, 0.0
		for c := range h.Cells() {
			if w.place[from+c] < 0 {
				sum += float64(m.Cells[from+c])
				empty++
			}
		}
		from += h.Cells()
		if v := min(1, sum/m.Records); v > max(leastOutside, 3*sd*math.Sqrt(empty)/m.Records, share) {
			share, name = v, h.name()
		}
	}
	return share, name
}

// meanCells is the mean, over histograms, of their released counts by the number of
// records: below 1 where private records lack values.
func (w *Weights) meanCells() float64 {
	sum := 0.0
	for _, v := range w.Meta.Cells {
		sum += float64(v)
	}
	return sum / w.Meta.Records / float64(len(w.Meta.Histograms))
}

// tilted is the fitted ratio of calibrated weights at points.
func (w *Weights) tilted(x *Points) []float64 {
	_, p := w.psi.Dims()
	b := len(w.Meta.Sums)
	psi := mat.NewDense(x.Rows, p, nil)
	if b > 0 {
		for i := range x.Rows {
			w.features.Kernel.Phi(psi.RawRowView(i)[:b], x.Row(i))
		}
	}
	indicators(psi, w.place, w.Meta.Histograms, x)
	// The sum of all weights, from the record of most weight.
	most := 0
	for i, v := range w.tilt.w {
		if v > w.tilt.w[most] {
			most = i
		}
	}
	sum := dot(w.tilt.theta, w.psi.RawRowView(most)) - math.Log(w.tilt.w[most])
	out := make([]float64, x.Rows)
	for i := range out {
		if isWhole(x.Row(i)) {
			out[i] = float64(len(w.W)) * math.Exp(dot(w.tilt.theta, psi.RawRowView(i))-sum)
		}
	}
	return out
}

// noteOutside puts the number of records outside into the meta data.
func (m *Mechanism) noteOutside(meta *Meta, r *Released) error {
	if r.Outside == nil {
		return nil
	}
	d, err := countNoise(m.beyond)
	if err != nil {
		return err
	}
	meta.Outside = &Outside{Records: float64(*r.Outside), SD: math.Sqrt(d.Variance())}
	return nil
}
