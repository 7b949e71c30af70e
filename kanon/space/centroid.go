package space

// Centroid is the running centre of a group: sums of the numeric axes and
// counts of the codes.
type Centroid struct {
	s *Space
	// N is the number of records.
	N int
	// Sum holds the sum of the records' values on each numeric axis.
	Sum []float64
	// Words holds, for each categorical axis, how often each code occurs. Only
	// codes that occur, or occurred, have an entry: groups are small.
	Words [][]CodeCount
}

// CodeCount is how many records have a code.
type CodeCount struct {
	Code  uint32
	Count int32
}

// NewCentroid is the centre of no records.
func (s *Space) NewCentroid() *Centroid {
	return &Centroid{s: s, Sum: make([]float64, len(s.numbers)), Words: make([][]CodeCount, len(s.words))}
}

// Reset makes c the centre of no records.
func (c *Centroid) Reset() {
	c.N = 0
	clear(c.Sum)
	for a := range c.Words {
		c.Words[a] = c.Words[a][:0]
	}
}

// CopyTo makes o, or a new centre where o is nil, one of the same records; it
// returns it.
func (c *Centroid) CopyTo(o *Centroid) *Centroid {
	if o == nil {
		o = c.s.NewCentroid()
	}
	o.N = c.N
	copy(o.Sum, c.Sum)
	for a := range c.Words {
		o.Words[a] = append(o.Words[a][:0], c.Words[a]...)
	}
	return o
}

// Add takes a record in.
func (c *Centroid) Add(i int32) {
	c.N++
	for a, x := range c.s.numbers {
		c.Sum[a] += x[i]
	}
	for a := range c.s.words {
		c.count(a, c.s.words[a].Codes[i], 1)
	}
}

// Remove takes a record out, which must be in.
func (c *Centroid) Remove(i int32) {
	c.N--
	for a, x := range c.s.numbers {
		c.Sum[a] -= x[i]
	}
	for a := range c.s.words {
		c.count(a, c.s.words[a].Codes[i], -1)
	}
}

func (c *Centroid) count(a int, code uint32, by int32) {
	list := c.Words[a]
	for j := range list {
		if list[j].Code == code {
			list[j].Count += by
			if list[j].Count == 0 {
				list[j] = list[len(list)-1]
				c.Words[a] = list[:len(list)-1]
			}
			return
		}
	}
	c.Words[a] = append(list, CodeCount{code, by})
}

func (c *Centroid) countOf(a int, code uint32) float64 {
	for _, w := range c.Words[a] {
		if w.Code == code {
			return float64(w.Count)
		}
	}
	return 0
}

// squares is the sum of the squared counts of axis a.
func (c *Centroid) squares(a int) float64 {
	var t float64
	for _, w := range c.Words[a] {
		t += float64(w.Count) * float64(w.Count)
	}
	return t
}

// Distance2 is the squared distance of record i to the centre:
// (w/2)(1 - 2 m_c/m + sum m_c²/m²) on a categorical axis.
func (c *Centroid) Distance2(i int32) float64 {
	m := float64(c.N)
	var d float64
	for a, x := range c.s.numbers {
		t := x[i] - c.Sum[a]/m
		d += t * t
	}
	for a := range c.s.words {
		w := &c.s.words[a]
		d += w.Weight / 2 * (1 - 2*c.countOf(a, w.Codes[i])/m + c.squares(a)/(m*m))
	}
	return d
}

// Between is the squared distance of two centres of one space.
func (c *Centroid) Between(o *Centroid) float64 {
	m, n := float64(c.N), float64(o.N)
	var d float64
	for a := range c.Sum {
		t := c.Sum[a]/m - o.Sum[a]/n
		d += t * t
	}
	for a := range c.s.words {
		var cross float64
		for _, w := range c.Words[a] {
			cross += float64(w.Count) * o.countOf(a, w.Code)
		}
		d += c.s.words[a].Weight / 2 * (c.squares(a)/(m*m) + o.squares(a)/(n*n) - 2*cross/(m*n))
	}
	return d
}

// Merging is by how much the sum of squared errors rises when the two groups
// become one (Ward 1963): |A||B|/(|A|+|B|) times the squared distance of their
// centres.
func (c *Centroid) Merging(o *Centroid) float64 {
	m, n := float64(c.N), float64(o.N)
	return m * n / (m + n) * c.Between(o)
}
