package cost

// span is what is known of a group's numbers in a column: the two least and the
// two greatest, and how many are missing.
type span struct {
	lo, lo2, hi, hi2 float64
	present, missing int
}

func (s *span) add(c *number, i int32) {
	if c.missing(i) {
		s.missing++
		return
	}
	v := c.x[i]
	s.present++
	if s.present == 1 {
		s.lo, s.hi = v, v
		return
	}
	if s.present == 2 {
		s.lo2, s.hi2 = max(s.lo, v), min(s.hi, v)
		s.lo, s.hi = min(s.lo, v), max(s.hi, v)
		return
	}
	if v < s.lo {
		s.lo, s.lo2 = v, s.lo
	} else if v < s.lo2 {
		s.lo2 = v
	}
	if v > s.hi {
		s.hi, s.hi2 = v, s.hi
	} else if v > s.hi2 {
		s.hi2 = v
	}
}

// spanWidth is the width of so many present numbers from lo to hi beside so many
// missing ones.
func (c *number) spanWidth(lo, hi float64, present, missing int) float64 {
	switch {
	case present == 0:
		return 0
	case missing > 0:
		return c.full
	}
	return hi - lo
}

func (s *span) width(c *number) float64 { return c.spanWidth(s.lo, s.hi, s.present, s.missing) }

// changed is the width without record out and with record in, either of which may
// be -1 for none.
func (s *span) changed(c *number, out, in int32) float64 {
	lo, hi, present, missing := s.lo, s.hi, s.present, s.missing
	if out >= 0 {
		if c.missing(out) {
			missing--
		} else {
			present--
			if v := c.x[out]; v == lo {
				lo = s.lo2
			}
			if v := c.x[out]; v == hi {
				hi = s.hi2
			}
		}
	}
	if in >= 0 {
		if c.missing(in) {
			missing++
		} else if v := c.x[in]; present == 0 {
			lo, hi, present = v, v, 1
		} else {
			lo, hi = min(lo, v), max(hi, v)
			present++
		}
	}
	return c.spanWidth(lo, hi, present, missing)
}

// codeCount is how many records of a group have a code.
type codeCount struct {
	code  uint32
	count int32
}

// branch is what is known of a group's leaves: the level of their common ancestor,
// one of them, and whether some are missing.
type branch struct {
	level         int
	rep           uint32
	some, missing bool
}

func (b *branch) add(c *tree, leaf uint32) {
	switch {
	case leaf == c.missing:
		b.missing = true
	case !b.some:
		b.some, b.rep, b.level = true, leaf, 0
	default:
		b.level = c.join(b.level, b.rep, leaf)
	}
}

func (b *branch) width(c *tree) float64 {
	switch {
	case !b.some:
		return 0
	case b.missing:
		return 1
	}
	return c.width[b.level][c.h.Ancestor(b.rep, b.level)]
}

func (m *boxes) NewGroup() Group {
	return &boxGroup{
		m: m, spans: make([]span, len(m.numbers)), sets: make([][]codeCount, len(m.words)),
		leaves: make([][]codeCount, len(m.trees)), branches: make([]branch, len(m.trees)),
	}
}

// boxGroup is a group with its box.
type boxGroup struct {
	m        *boxes
	n        int
	cost     float64
	spans    []span
	sets     [][]codeCount
	leaves   [][]codeCount
	branches []branch
}

func counted(list []codeCount, code uint32) []codeCount {
	for j := range list {
		if list[j].code == code {
			list[j].count++
			return list
		}
	}
	return append(list, codeCount{code, 1})
}

func countOf(list []codeCount, code uint32) int32 {
	for _, c := range list {
		if c.code == code {
			return c.count
		}
	}
	return 0
}

func (g *boxGroup) Set(records []int32) {
	g.n = len(records)
	var width float64
	for a := range g.spans {
		c, s := &g.m.numbers[a], &g.spans[a]
		*s = span{}
		for _, i := range records {
			s.add(c, i)
		}
		width += s.width(c)
	}
	for a := range g.sets {
		c, list := &g.m.words[a], g.sets[a][:0]
		for _, i := range records {
			list = counted(list, c.codes[i])
		}
		g.sets[a] = list
		width += c.width[len(list)]
	}
	for a := range g.leaves {
		c, list := &g.m.trees[a], g.leaves[a][:0]
		for _, i := range records {
			list = counted(list, c.codes[i])
		}
		g.leaves[a] = list
		g.branches[a] = branch{}
		for _, leaf := range list {
			g.branches[a].add(c, leaf.code)
		}
		width += g.branches[a].width(c)
	}
	g.cost = float64(g.n) * width
}

// width is the sum of widths without record out and with record in, -1 for none.
func (g *boxGroup) width(out, in int32) float64 {
	var width float64
	for a := range g.spans {
		width += g.spans[a].changed(&g.m.numbers[a], out, in)
	}
	for a, list := range g.sets {
		c := &g.m.words[a]
		values := len(list)
		if out >= 0 && in >= 0 && c.codes[out] == c.codes[in] {
			width += c.width[values]
			continue
		}
		if out >= 0 && countOf(list, c.codes[out]) == 1 {
			values--
		}
		if in >= 0 && countOf(list, c.codes[in]) == 0 {
			values++
		}
		width += c.width[values]
	}
	for a, list := range g.leaves {
		c, b := &g.m.trees[a], g.branches[a]
		if out >= 0 && countOf(list, c.codes[out]) == 1 {
			b = branch{}
			for _, leaf := range list {
				if leaf.code != c.codes[out] {
					b.add(c, leaf.code)
				}
			}
		}
		if in >= 0 {
			b.add(c, c.codes[in])
		}
		width += b.width(c)
	}
	return width
}

func (g *boxGroup) Cost() float64             { return g.cost }
func (g *boxGroup) With(in int32) float64     { return float64(g.n+1) * g.width(-1, in) }
func (g *boxGroup) Without(out int32) float64 { return float64(g.n-1) * g.width(out, -1) }

func (g *boxGroup) Replaced(out, in int32) float64 { return float64(g.n) * g.width(out, in) }

// Vacant: a box never gets narrower by a record that comes in.
func (g *boxGroup) Vacant(out int32) float64 { return float64(g.n) * g.width(out, -1) }
