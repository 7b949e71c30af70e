package space

import "math/bits"

// Points is a run of records laid out for scanning: every numeric axis
// contiguous, categorical axes of equal weight packed as lanes of 64-bit words,
// so that their differences are counted a word at a time. Position p of the run
// is record ID[p].
type Points struct {
	ID      []int32
	numbers [][]float64
	packs   []pack
}

// pack is one 64-bit word a record, of lanes that share a weight, or of lanes of
// 8 bits that have one each.
type pack struct {
	weight float64
	each   [][2]float64 // by lane, 0 and its weight; nil where they share one
	width  uint         // bits of a lane: 8, 16 or 32
	lanes  uint         // lanes in use
	words  []uint64
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
	for a := range s.words {
		if w := &s.words[a]; w.Weight > 0 && w.Cardinality > 1 {
			p.addLane(w)
		}
	}
	p.join()
	return p
}

// join makes one pack of packs of one lane that follow each other, whose weights
// differ: the distances are the same to the last bit, and one pass computes them.
func (p *Points) join() {
	var out []pack
	single := func(k *pack) bool { return k.lanes == 1 && k.width == 8 }
	for at := 0; at < len(p.packs); {
		end := at
		for end < len(p.packs) && end-at < 8 && single(&p.packs[end]) {
			end++
		}
		if end-at < 2 {
			out = append(out, p.packs[at])
			at++
			continue
		}
		k := pack{width: 8, words: p.packs[at].words}
		for i := range p.packs[at:end] {
			from := &p.packs[at+i]
			k.each = append(k.each, [2]float64{0, from.weight})
			k.lanes++
			if i > 0 {
				for r, w := range from.words {
					k.words[r] |= w << (8 * i)
				}
			}
		}
		out = append(out, k)
		at = end
	}
	p.packs = out
}

// addLane puts an axis into the first pack of its weight and width that has
// space.
func (p *Points) addLane(w *Categorical) {
	width := uint(8)
	if w.Cardinality > 1<<8 {
		width = 16
	}
	if w.Cardinality > 1<<16 {
		width = 32
	}
	at := 0
	for at < len(p.packs) && (p.packs[at].weight != w.Weight || p.packs[at].width != width || p.packs[at].lanes*width == 64) {
		at++
	}
	if at == len(p.packs) {
		p.packs = append(p.packs, pack{weight: w.Weight, width: width, words: make([]uint64, len(p.ID))})
	}
	k := &p.packs[at]
	shift := k.lanes * width
	k.lanes++
	for i, r := range p.ID {
		k.words[i] |= uint64(w.Codes[r]) << shift
	}
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
		x0, x1, x2, x3 := p.numbers[0][lo:lo+n], p.numbers[1][lo:lo+n], p.numbers[2][lo:lo+n], p.numbers[3][lo:lo+n]
		c0, c1, c2, c3 := t.numbers[0], t.numbers[1], t.numbers[2], t.numbers[3]
		for i := range out {
			d0, d1, d2, d3 := x0[i]-c0, x1[i]-c1, x2[i]-c2, x3[i]-c3
			out[i] = float64(float64(float64(float64(d0*d0)+float64(d1*d1))+float64(d2*d2)) + float64(d3*d3))
		}
		a = 4
	case len(p.numbers) > 0:
		x, c := p.numbers[0][lo:lo+n], t.numbers[0]
		for i := range out {
			d := x[i] - c
			out[i] = float64(d * d)
		}
		a = 1
	default:
		clear(out)
	}
	for ; a+4 <= len(p.numbers); a += 4 {
		x0, x1, x2, x3 := p.numbers[a][lo:lo+n], p.numbers[a+1][lo:lo+n], p.numbers[a+2][lo:lo+n], p.numbers[a+3][lo:lo+n]
		c0, c1, c2, c3 := t.numbers[a], t.numbers[a+1], t.numbers[a+2], t.numbers[a+3]
		for i := range out {
			d0, d1, d2, d3 := x0[i]-c0, x1[i]-c1, x2[i]-c2, x3[i]-c3
			out[i] = float64(float64(float64(float64(out[i]+float64(d0*d0))+float64(d1*d1))+float64(d2*d2)) + float64(d3*d3))
		}
	}
	for ; a < len(p.numbers); a++ {
		x, c := p.numbers[a][lo:lo+n], t.numbers[a]
		for i := range out {
			d := x[i] - c
			out[i] += float64(d * d)
		}
	}
	for k := range p.packs {
		p.packs[k].add(t.words[k], lo, out)
	}
}

// add adds weight times the number of lanes that differ from those of c.
// Within a lane the shifts fold every bit onto the lowest one; what they drag
// in from the lane above stays above that bit.
func (k *pack) add(c uint64, lo int, out []float64) {
	words := k.words[lo : lo+len(out)]
	switch {
	case k.each != nil:
		k.addEach(c, words, out)
	case k.width == 8:
		for i, w := range words {
			t := w ^ c
			t |= t >> 4
			t |= t >> 2
			t |= t >> 1
			out[i] += float64(k.weight * float64(bits.OnesCount64(t&0x0101010101010101)))
		}
	case k.width == 16:
		for i, w := range words {
			t := w ^ c
			t |= t >> 8
			t |= t >> 4
			t |= t >> 2
			t |= t >> 1
			out[i] += float64(k.weight * float64(bits.OnesCount64(t&0x0001000100010001)))
		}
	default:
		for i, w := range words {
			t := w ^ c
			t |= t >> 16
			t |= t >> 8
			t |= t >> 4
			t |= t >> 2
			t |= t >> 1
			out[i] += float64(k.weight * float64(bits.OnesCount64(t&0x0000000100000001)))
		}
	}
}

// addEach is add for lanes of their own weights, which are added in order: four at a
// time, which the processor overlaps.
func (k *pack) addEach(c uint64, words []uint64, out []float64) {
	out = out[:len(words)]
	for first := 0; first < len(k.each); first += 4 {
		each, shift := k.each[first:min(first+4, len(k.each))], 8*first
		switch len(each) {
		case 1:
			a := each[0]
			for i, w := range words {
				out[i] += a[differing(w^c)>>shift&1]
			}
		case 2:
			a, b := each[0], each[1]
			for i, w := range words {
				t := differing(w^c) >> shift
				out[i] = out[i] + a[t&1] + b[t>>8&1]
			}
		case 3:
			a, b, d := each[0], each[1], each[2]
			for i, w := range words {
				t := differing(w^c) >> shift
				out[i] = out[i] + a[t&1] + b[t>>8&1] + d[t>>16&1]
			}
		default:
			a, b, d, e := each[0], each[1], each[2], each[3]
			for i, w := range words {
				t := differing(w^c) >> shift
				out[i] = out[i] + a[t&1] + b[t>>8&1] + d[t>>16&1] + e[t>>24&1]
			}
		}
	}
}

// differing has the lowest bit of each lane of 8 bits set where a bit of the lane is,
// and any others.
func differing(t uint64) uint64 {
	t |= t >> 4
	t |= t >> 2
	return t | t>>1
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
	one := s.NewPoints([]int32{i})
	one.Target(t, 0)
}
