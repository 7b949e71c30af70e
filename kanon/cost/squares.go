package cost

import "github.com/noren-privacy/noren/kanon/space"

// Squares measures groups by the sum of squared distances of their records to
// the group's centre, in the space s.
func Squares(s *space.Space) Measure {
	return &squares{s: s, guard: 1e-11 * s.SST() / float64(max(1, s.Len()))}
}

type squares struct {
	s     *space.Space
	guard float64
}

func (m *squares) Len() int       { return m.s.Len() }
func (m *squares) Guard() float64 { return m.guard }
func (m *squares) Axes() int      { return len(m.s.Numbers()) + len(m.s.Words()) }

func (m *squares) Key(axis int, record int32) float64 {
	if numbers := m.s.Numbers(); axis < len(numbers) {
		return numbers[axis][record]
	}
	return float64(m.s.Words()[axis-len(m.s.Numbers())].Codes[record])
}

func (m *squares) Ordered(axis int) bool { return axis < len(m.s.Numbers()) }

func (m *squares) Subset(records []int32) Measure {
	return &squares{s: m.s.Subset(records), guard: m.guard}
}

// Beginnings goes by sums: of numbers, taken from the first record's, for
// rounding, and of squared counts of codes, (w/2)(m - sum m_c²/m).
func (m *squares) Beginnings(order []int32, out []float64) {
	clear(out)
	for _, x := range m.s.Numbers() {
		shift := x[order[0]]
		var sum, sum2 float64
		for j, i := range order {
			v := x[i] - shift
			sum += v
			sum2 += v * v
			out[j] += max(0, sum2-sum*sum/float64(j+1))
		}
	}
	for _, w := range m.s.Words() {
		if w.Weight == 0 {
			continue
		}
		codes, n := few(w.Codes, order, w.Cardinality)
		count := make([]float64, n)
		var pairs float64 // sum of squared counts
		for j, c := range codes {
			pairs += 2*count[c] + 1
			count[c]++
			n := float64(j + 1)
			out[j] += w.Weight / 2 * (n - pairs/n)
		}
	}
}

// few are the codes of the records of an order, numbered anew where they are few of
// very many, and how many numbers there are.
func few(codes []uint32, order []int32, cardinality int) ([]uint32, int) {
	out := make([]uint32, len(order))
	for j, i := range order {
		out[j] = codes[i]
	}
	if cardinality <= max(64, 2*len(order)) {
		return out, cardinality
	}
	number := make(map[uint32]uint32, len(order))
	for j, code := range out {
		n, ok := number[code]
		if !ok {
			n = uint32(len(number))
			number[code] = n
		}
		out[j] = n
	}
	return out, len(number)
}

func (m *squares) NewGroup() Group { return &squaresGroup{s: m.s, centre: m.s.NewCentroid()} }

// squaresGroup knows its centre and its sum of squares. With m records and
// centre c a record p adds m/(m+1) |p-c|², takes m/(m-1) |p-c|² away, and in the
// place of q changes the sum by |p-c|² - |q-c|² - |p-q|²/m.
type squaresGroup struct {
	s      *space.Space
	centre *space.Centroid
	cost   float64
}

func (g *squaresGroup) Set(records []int32) {
	g.centre.Reset()
	for _, i := range records {
		g.centre.Add(i)
	}
	g.cost = 0
	for _, i := range records {
		g.cost += g.centre.Distance2(i)
	}
}

func (g *squaresGroup) Cost() float64 { return g.cost }

func (g *squaresGroup) With(in int32) float64 {
	m := float64(g.centre.N)
	if m == 0 {
		return 0
	}
	return g.cost + m/(m+1)*g.centre.Distance2(in)
}

func (g *squaresGroup) Without(out int32) float64 {
	m := float64(g.centre.N)
	if m <= 1 {
		return 0
	}
	return g.cost - m/(m-1)*g.centre.Distance2(out)
}

func (g *squaresGroup) Replaced(out, in int32) float64 {
	m := float64(g.centre.N)
	return g.cost + g.centre.Distance2(in) - g.centre.Distance2(out) - g.s.Distance2(int(in), int(out))/m
}

func (g *squaresGroup) Vacant(out int32) float64 { return g.Without(out) }
