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

// choice is a column in the sweeps. What a group may show in it are codes of a
// category, or steps of a number.
type choice struct {
	column   int
	single   []cell  // of a category by code and the missing value, of a number by bin
	bin      []uint8 // of each code
	shifts   *shifts
	partners []partner
}

// options lists what group g may show.
func (x *choice) options(own *own, g uint32, dst []uint32) []uint32 {
	if x.shifts == nil {
		return own.codes(g, dst)
	}
	for step := range uint32(shiftChoices) {
		dst = append(dst, step)
	}
	return dst
}

// binAt is the bin of group g where it shows v, and singleAt its cell of the
// column alone.
func (x *choice) binAt(g, v uint32) uint8 {
	if x.shifts == nil {
		return x.bin[v]
	}
	return x.shifts.bins[g*shiftChoices+v]
}

func (x *choice) singleAt(g, v uint32) *cell {
	if x.shifts == nil {
		return &x.single[v]
	}
	return &x.single[x.binAt(g, v)]
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
	var options []uint32
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
				options = x.options(col.own, g, options[:0])
				if len(options) < 2 {
					continue
				}
				u := m.now(x, g)
				from, alone := x.binAt(g, u), x.singleAt(g, u)
				best, least := u, -1e-9
				without := m.without(x, g, from, w)
				for _, v := range options {
					to, single := x.binAt(g, v), x.singleAt(g, v)
					if single == alone {
						continue
					}
					touched += len(x.partners)
					change := w*(w-2*alone.residual)*alone.weight + w*(w+2*single.residual)*single.weight
					if from != to {
						change += without + m.with(x, g, to, w)
					}
					if change < least {
						best, least = v, change
					}
				}
				if best != u {
					gain -= least
					m.put(x, g, u, -w)
					m.put(x, g, best, w)
					m.bins[x.column][g] = x.binAt(g, best)
					if x.shifts != nil {
						x.shifts.at[g] = uint8(best)
					} else {
						col.codes[g] = best
					}
				}
			}
		}
		sum -= gain
		if gain <= sweepsGain*(sum+gain) {
			break
		}
	}
	return nil
}

// now is what group g shows.
func (m *matching) now(x *choice, g uint32) uint32 {
	if x.shifts == nil {
		return m.columns[x.column].codes[g]
	}
	return uint32(x.shifts.at[g])
}

// without is the change of the sum over two columns when group g, of w records,
// no longer shows a value of this bin.
func (m *matching) without(x *choice, g uint32, bin uint8, w float64) float64 {
	sum, at := 0.0, int(bin)
	for i := range x.partners {
		p := &x.partners[i]
		c := &p.cells[at*p.stride+int(m.bins[p.other][g])*p.step]
		sum += (w - 2*c.residual) * c.weight
	}
	return w * sum
}

// with is the change when it shows one.
func (m *matching) with(x *choice, g uint32, bin uint8, w float64) float64 {
	sum, at := 0.0, int(bin)
	for i := range x.partners {
		p := &x.partners[i]
		c := &p.cells[at*p.stride+int(m.bins[p.other][g])*p.step]
		sum += (w + 2*c.residual) * c.weight
	}
	return w * sum
}

// put adds w records of value v and of what group g shows elsewhere.
func (m *matching) put(x *choice, g, v uint32, w float64) {
	x.singleAt(g, v).residual += w
	at := int(x.binAt(g, v))
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
	mean := float64(p.tables.rows) / float64(len(m.size))
	sum := 0.0
	for j := range m.columns {
		of[j] = -1
		switch {
		case p.columns[j].counts != nil:
			choices = append(choices, m.category(j, mean))
		case m.shifts[j].at != nil:
			choices = append(choices, choice{column: j, shifts: &m.shifts[j], single: m.histogram(j, mean)})
		default:
			continue
		}
		of[j] = len(choices) - 1
		sum += squares(choices[of[j]].single)
	}
	for _, t := range p.tables.pairs {
		width := p.tables.axes[t.b].bins
		cells := make([]cell, len(t.counts))
		for i, n := range t.counts {
			cells[i] = newCell(uint64(n), mean)
		}
		a, b := m.bins[t.a], m.bins[t.b]
		for g := range a {
			cells[int(a[g])*width+int(b[g])].residual += float64(m.size[g])
		}
		sum += squares(cells)
		if of[t.a] >= 0 {
			x := &choices[of[t.a]]
			x.partners = append(x.partners, partner{cells: cells, other: t.b, stride: width, step: 1})
		}
		if of[t.b] >= 0 {
			x := &choices[of[t.b]]
			x.partners = append(x.partners, partner{cells: cells, other: t.a, stride: 1, step: width})
		}
	}
	return choices, sum
}

// category makes the choice of a category.
func (m *matching) category(j int, mean float64) choice {
	axis, counts, codes := &m.plan.tables.axes[j], m.plan.columns[j].counts, m.columns[j].codes
	x := choice{column: j, bin: append(axis.code[:len(axis.code):len(axis.code)], uint8(axis.bins-1))}
	bins := make([]uint8, len(codes))
	for g, code := range codes {
		bins[g] = x.bin[code]
	}
	m.bins[j] = bins
	rest := m.plan.tables.rows
	for _, n := range counts {
		x.single = append(x.single, newCell(n, mean))
		rest -= int64(n)
	}
	x.single = append(x.single, newCell(uint64(rest), mean))
	for g, code := range codes {
		x.single[code].residual += float64(m.size[g])
	}
	return x
}

// histogram is the counts of a number column over its bins.
func (m *matching) histogram(j int, mean float64) []cell {
	axis, v := &m.plan.tables.axes[j], m.plan.columns[j].values
	counts := make([]uint32, axis.bins)
	for i, x := range v.at {
		counts[binOf(axis.edges, x)] += v.times[i]
	}
	counts[axis.bins-1] = uint32(m.plan.tables.rows - v.total)
	cells := make([]cell, axis.bins)
	for bin, n := range counts {
		cells[bin] = newCell(uint64(n), mean)
	}
	for g, bin := range m.bins[j] {
		cells[bin].residual += float64(m.size[g])
	}
	return cells
}

func newCell(count uint64, mean float64) cell {
	return cell{residual: -float64(count), weight: 1 / (float64(count) + mean)}
}

func squares(cells []cell) float64 {
	sum := 0.0
	for i := range cells {
		sum += cells[i].residual * cells[i].residual * cells[i].weight
	}
	return sum
}
