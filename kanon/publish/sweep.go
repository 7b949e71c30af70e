package publish

import "context"

const (
	// sweepsMost is how often all groups are visited at most.
	sweepsMost = 30
	// sweepsGain is the share of the sum by which a visit of all groups must
	// lower it for another one to follow.
	sweepsGain = .002
	// touchesMost bounds the work: so many cells are looked at before no visit
	// of all groups begins any more.
	touchesMost = 6e9
)

// cell is a count of the release less that of the original, and the weight of
// its square.
type cell struct{ residual, weight float64 }

// choice is a category column in the sweeps.
type choice struct {
	column   int
	single   []cell // by code, and the missing value
	bin      []uint8
	partners []partner
}

// partner is another column with which a category has a table: the cell of bin x
// and the other's bin y is at x*stride + y*step.
type partner struct {
	cells        []cell
	other        int
	stride, step int
}

// sweep chooses the categories. Each group is visited in turn, and in each column
// takes the value of its own that lowers the sum most, of the squares of what
// the release has too many or too few in each cell of the tables of one and two
// columns, over the original's count and the mean group size. The sum never rises;
// sweeps end when they hardly lower it.
func (m *matching) sweep(ctx context.Context) error {
	choices, sum := m.choices()
	if len(choices) == 0 {
		return nil
	}
	var codes []uint32
	touched := 0
	for sweep := 0; sweep < sweepsMost && float64(touched) < touchesMost; sweep++ {
		gain := 0.0
		for i, g := range m.order {
			if i&4095 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			w := float64(m.size[g])
			for c := range choices {
				x := &choices[c]
				col := &m.columns[x.column]
				if codes = col.own.codes(g, codes[:0]); len(codes) < 2 {
					continue
				}
				u := col.codes[g]
				best, least := u, -1e-9
				without := m.without(x, g, u, w)
				for _, v := range codes {
					if v == u {
						continue
					}
					touched += len(x.partners)
					change := w * (w - 2*x.single[u].residual) * x.single[u].weight
					change += w * (w + 2*x.single[v].residual) * x.single[v].weight
					if x.bin[u] != x.bin[v] {
						change += without + m.with(x, g, v, w)
					}
					if change < least {
						best, least = v, change
					}
				}
				if best != u {
					gain -= least
					m.put(x, g, u, -w)
					m.put(x, g, best, w)
					col.codes[g] = best
					m.bins[x.column][g] = x.bin[best]
				}
			}
		}
		if sum -= gain; gain <= sweepsGain*(sum+gain) {
			break
		}
	}
	return nil
}

// without is the change of the sum over two columns when group g, of w records,
// no longer shows u.
func (m *matching) without(x *choice, g, u uint32, w float64) float64 {
	sum, at := 0.0, int(x.bin[u])
	for i := range x.partners {
		p := &x.partners[i]
		c := &p.cells[at*p.stride+int(m.bins[p.other][g])*p.step]
		sum += (w - 2*c.residual) * c.weight
	}
	return w * sum
}

// with is the change when it shows v.
func (m *matching) with(x *choice, g, v uint32, w float64) float64 {
	sum, at := 0.0, int(x.bin[v])
	for i := range x.partners {
		p := &x.partners[i]
		c := &p.cells[at*p.stride+int(m.bins[p.other][g])*p.step]
		sum += (w + 2*c.residual) * c.weight
	}
	return w * sum
}

// put adds w records of value v and of what group g shows elsewhere.
func (m *matching) put(x *choice, g, v uint32, w float64) {
	x.single[v].residual += w
	at := int(x.bin[v])
	for i := range x.partners {
		p := &x.partners[i]
		p.cells[at*p.stride+int(m.bins[p.other][g])*p.step].residual += w
	}
}

// choices makes the tables of residuals at the values that the groups show now,
// and their sum.
func (m *matching) choices() ([]choice, float64) {
	p := m.plan
	var choices []choice
	of := make([]int, len(m.columns))
	for j := range m.columns {
		if p.columns[j].counts == nil {
			continue
		}
		x := &p.tables.axes[j]
		of[j] = len(choices)
		choices = append(choices, choice{column: j, bin: append(x.code[:len(x.code):len(x.code)], uint8(x.bins-1))})
		bins := make([]uint8, len(m.size))
		for g, code := range m.columns[j].codes {
			bins[g] = choices[of[j]].bin[code]
		}
		m.bins[j] = bins
	}
	mean := float64(p.tables.rows) / float64(len(m.size))
	sum := 0.0
	for i := range choices {
		x := &choices[i]
		counts := p.columns[x.column].counts
		known := int64(0)
		for _, n := range counts {
			known += int64(n)
		}
		x.single = make([]cell, len(counts)+1)
		for code := range x.single {
			n := p.tables.rows - known
			if code < len(counts) {
				n = int64(counts[code])
			}
			x.single[code] = cell{residual: -float64(n), weight: 1 / (float64(n) + mean)}
		}
		for g, code := range m.columns[x.column].codes {
			x.single[code].residual += float64(m.size[g])
		}
		sum += squares(x.single)
	}
	for _, t := range p.tables.pairs {
		width := p.tables.axes[t.b].bins
		cells := make([]cell, len(t.counts))
		for i, n := range t.counts {
			cells[i] = cell{residual: -float64(n), weight: 1 / (float64(n) + mean)}
		}
		a, b := m.bins[t.a], m.bins[t.b]
		for g := range a {
			cells[int(a[g])*width+int(b[g])].residual += float64(m.size[g])
		}
		sum += squares(cells)
		if p.columns[t.a].counts != nil {
			x := &choices[of[t.a]]
			x.partners = append(x.partners, partner{cells: cells, other: t.b, stride: width, step: 1})
		}
		if p.columns[t.b].counts != nil {
			x := &choices[of[t.b]]
			x.partners = append(x.partners, partner{cells: cells, other: t.a, stride: 1, step: width})
		}
	}
	return choices, sum
}

func squares(cells []cell) float64 {
	sum := 0.0
	for i := range cells {
		sum += cells[i].residual * cells[i].residual * cells[i].weight
	}
	return sum
}
