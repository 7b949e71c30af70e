package space

// Meter measures the distance of single positions of a [Points] to a centre,
// each exactly as [Points.CentreDistances2] does. It is made once for a centre
// by [Points.Meter], which costs about as much as a few distances.
type Meter struct {
	c    *Centroid
	mean []float64   // by numeric axis
	base []float64   // by categorical axis: the distance of a code that the centre lacks
	gain [][]float64 // and by how much each of its codes is nearer
}

// Meter sets m to measure distances to c; its memory is used again.
func (p *Points) Meter(m *Meter, c *Centroid) {
	if m.gain == nil {
		m.mean, m.base, m.gain = make([]float64, len(c.Sum)), make([]float64, len(c.s.words)), make([][]float64, len(c.s.words))
		for a := range m.gain {
			m.gain[a] = make([]float64, c.s.words[a].Cardinality)
		}
	}
	m.c = c
	n := float64(c.N)
	for a, sum := range c.Sum {
		m.mean[a] = sum / n
	}
	for a := range c.s.words {
		w := &c.s.words[a]
		if w.Weight == 0 {
			continue
		}
		m.base[a] = w.Weight / 2 * (1 + c.squares(a)/(n*n))
		clear(m.gain[a])
		for _, k := range c.Words[a] {
			m.gain[a][k.Code] = w.Weight * float64(k.Count) / n
		}
	}
}

// Measure is the squared distance of position at.
func (p *Points) Measure(m *Meter, at int) float64 {
	var out float64
	for a, x := range p.numbers {
		d := x[at] - m.mean[a]
		out += float64(d * d)
	}
	id := p.ID[at]
	for a := range m.c.s.words {
		if w := &m.c.s.words[a]; w.Weight != 0 {
			out += m.base[a] - m.gain[a][w.Codes[id]]
		}
	}
	return out
}
