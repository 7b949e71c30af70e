package space

// Points is a run of records laid out for scanning: every numeric axis contiguous,
// categorical axes packed as lanes of 64-bit words, so that one look tells what all
// that differ add. Position p of the run is record ID[p].
type Points struct {
	ID      []int32
	numbers [][]float64
	packs   []pack
}

// pack is a 64-bit word of lanes a record.
type pack struct {
	lanes
	words []uint64
}

// Target is a point to measure distances to: a record of a [Points].
type Target struct {
	numbers []float64
	words   []uint64
}

// NewPoints lays out the given records in their order; nil stands for all.
func (s *Space) NewPoints(records []int32) *Points {
	if records == nil {
		records = make([]int32, s.n)
		for i := range records {
			records[i] = int32(i)
		}
	}
	p := &Points{ID: records, numbers: make([][]float64, len(s.numbers))}
	for a, x := range s.numbers {
		y := make([]float64, len(records))
		for i, r := range records {
			y[i] = x[r]
		}
		p.numbers[a] = y
	}
	for _, l := range s.lanes {
		k := pack{lanes: l, words: make([]uint64, len(records))}
		for lane, a := range l.axes {
			codes, shift := s.words[a].Codes, uint(lane)*l.width
			for i, r := range records {
				k.words[i] |= uint64(codes[r]) << shift
			}
		}
		p.packs = append(p.packs, k)
	}
	return p
}

// Target makes position at a target; t's memory is used again.
func (p *Points) Target(t *Target, at int) {
	t.numbers = t.numbers[:0]
	for _, x := range p.numbers {
		t.numbers = append(t.numbers, x[at])
	}
	t.words = t.words[:0]
	for k := range p.packs {
		t.words = append(t.words, p.packs[k].words[at])
	}
}

// Distances2 writes the squared distances of t to positions lo..lo+len(out)-1.
// They are summed over the numeric axes in order, then over the packs, exactly
// as [Space.Distance2] sums a space of numbers: equal distances come out
// equal. A run of a few hundred positions keeps out in the cache.
func (p *Points) Distances2(t *Target, lo int, out []float64) {
	n := len(out)
	a := 0
	switch {
	case len(p.numbers) >= 4:
		x0, x1, x2, x3 := p.numbers[0][lo:][:n], p.numbers[1][lo:][:n], p.numbers[2][lo:][:n], p.numbers[3][lo:][:n]
		c0, c1, c2, c3 := t.numbers[0], t.numbers[1], t.numbers[2], t.numbers[3]
		for i := range out {
			d0, d1, d2, d3 := x0[i]-c0, x1[i]-c1, x2[i]-c2, x3[i]-c3
			out[i] = float64(float64(float64(float64(d0*d0)+float64(d1*d1))+float64(d2*d2)) + float64(d3*d3))
		}
		a = 4
	case len(p.numbers) > 0:
		x, c := p.numbers[0][lo:][:n], t.numbers[0]
		for i := range out {
			d := x[i] - c
			out[i] = float64(d * d)
		}
		a = 1
	default:
		clear(out)
	}
	for ; a+4 <= len(p.numbers); a += 4 {
		x0, x1, x2, x3 := p.numbers[a][lo:][:n], p.numbers[a+1][lo:][:n], p.numbers[a+2][lo:][:n], p.numbers[a+3][lo:][:n]
		c0, c1, c2, c3 := t.numbers[a], t.numbers[a+1], t.numbers[a+2], t.numbers[a+3]
		for i := range out {
			d0, d1, d2, d3 := x0[i]-c0, x1[i]-c1, x2[i]-c2, x3[i]-c3
			out[i] = float64(float64(float64(float64(out[i]+float64(d0*d0))+float64(d1*d1))+float64(d2*d2)) + float64(d3*d3))
		}
	}
	for ; a < len(p.numbers); a++ {
		x, c := p.numbers[a][lo:][:n], t.numbers[a]
		for i := range out {
			d := x[i] - c
			out[i] += float64(d * d)
		}
	}
	for k := range p.packs {
		p.packs[k].add(t.words[k], lo, out)
	}
}

// add adds what the lanes that differ from those of c do.
func (k *pack) add(c uint64, lo int, out []float64) {
	words, table := k.words[lo:][:len(out)], k.table
	if k.width == 8 {
		for i, w := range words {
			out[i] += table[differing8(w^c)]
		}
		return
	}
	for i, w := range words {
		out[i] += table[differing(k.width, w^c)]
	}
}

// Keep drops every position that keep refuses; the others keep their order.
func (p *Points) Keep(keep func(at int) bool) {
	to := 0
	for at := range p.ID {
		if !keep(at) {
			continue
		}
		if to != at {
			p.ID[to] = p.ID[at]
			for _, x := range p.numbers {
				x[to] = x[at]
			}
			for k := range p.packs {
				p.packs[k].words[to] = p.packs[k].words[at]
			}
		}
		to++
	}
	p.ID = p.ID[:to]
	for a := range p.numbers {
		p.numbers[a] = p.numbers[a][:to]
	}
	for k := range p.packs {
		p.packs[k].words = p.packs[k].words[:to]
	}
}

// CentreDistances2 writes the squared distances of positions
// lo..lo+len(out)-1 to a centre of the same space.
func (p *Points) CentreDistances2(c *Centroid, lo int, out []float64) {
	clear(out)
	var m Meter
	p.Meter(&m, c)
	for a, x := range p.numbers {
		x := x[lo : lo+len(out)]
		mean := m.mean[a]
		for i := range out {
			d := x[i] - mean
			out[i] += float64(d * d)
		}
	}
	ids := p.ID[lo : lo+len(out)]
	for a := range c.s.words {
		w := &c.s.words[a]
		if w.Weight == 0 {
			continue
		}
		base, gain := m.base[a], m.gain[a]
		for i := range out {
			out[i] += base - gain[w.Codes[ids[i]]]
		}
	}
}

// Target makes record i a target for the points of s; t's memory is used
// again.
func (s *Space) Target(t *Target, i int32) {
	t.numbers = t.numbers[:0]
	for _, x := range s.numbers {
		t.numbers = append(t.numbers, x[i])
	}
	t.words = t.words[:0]
	for k := range s.lanes {
		t.words = append(t.words, s.lanes[k].word(s.words, i))
	}
}
