package gate

import (
	"math"
	"slices"
)

// Predictor is a kept column whose value tells the values of quasi-identifiers.
type Predictor struct {
	Column string
	Quasi  []string
}

// What makes a predictor. The records that count are those whose value in the
// kept column occurs in three records at least: a value that occurs once tells
// everything by chance. With m of them, in groups of g records of one value, the
// column tells a quasi-identifier where
//
//   - m is a third of all records at least (so it is where the column has three
//     records a value on average: n/3 values, each in fewer than three records,
//     hold 2n/3 records at most), and 20;
//   - all but 1 % of the m records have their group's commonest value;
//   - this is at most half of the records that have not the commonest value of
//     all: otherwise a quasi-identifier that hardly varies would be told by every
//     column;
//   - it is no coincidence: with p the share of the commonest value, groups of
//     independent records hold one value each with probability at most the
//     product of p^(g-1), which must be below 1e-6. (sum over values p_v^g is at
//     most p^(g-1) sum p_v = p^(g-1).)
//
// Numbers and dates count as one value within a tenth of the quartile distance
// of all records: a year of birth tells the age up to a year.
const (
	groupRecords = 3
	leastRecords = 20
	told         = 0.99
	coincidence  = 1e-6
	window       = 0.1
)

// predictor samples the records of one kept column: all records of values that
// are chosen by their hash, so that the groups are whole. A column of few values
// is sampled by records instead.
type predictor struct {
	quasi          int
	values, places uint64 // what is above these limits is left out
	rows           []predicted
	numbers        []float64 // by row and quasi-identifier
}

type predicted struct{ value, place uint64 }

func newPredictor(quasi int) *predictor {
	return &predictor{quasi: quasi, values: 1<<64 - 1, places: 1<<64 - 1}
}

// takes reports whether the sample takes a record.
func (p *predictor) takes(value, place uint64) bool {
	return p.quasi > 0 && value <= p.values && place <= p.places
}

// add takes in a record that the sample takes.
func (p *predictor) add(value, place uint64, numbers []float64) {
	p.rows = append(p.rows, predicted{value, place})
	p.numbers = append(p.numbers, numbers...)
	if len(p.rows) >= 2*predictRecords {
		p.thin()
	}
}

func (p *predictor) thin() {
	for len(p.rows) > predictRecords {
		distinct := make(map[uint64]struct{}, fewValues)
		for _, r := range p.rows {
			distinct[r.value] = struct{}{}
			if len(distinct) > fewValues {
				break
			}
		}
		if len(distinct) > fewValues {
			p.values /= 2
		} else {
			p.places /= 2
		}
		n := 0
		for i, r := range p.rows {
			if r.value > p.values || r.place > p.places {
				continue
			}
			p.rows[n] = r
			copy(p.numbers[n*p.quasi:(n+1)*p.quasi], p.numbers[i*p.quasi:])
			n++
		}
		p.rows, p.numbers = p.rows[:n], p.numbers[:n*p.quasi]
	}
}

// tells reports whether the column tells quasi-identifier q.
func (p *predictor) tells(q int, number bool) bool {
	groups := map[uint64][]float64{}
	for i, r := range p.rows {
		groups[r.value] = append(groups[r.value], p.numbers[i*p.quasi+q])
	}
	var all []float64
	count := 0
	for _, g := range groups {
		if len(g) >= groupRecords {
			all = append(all, g...)
			count++
		}
	}
	m := len(all)
	if count < 2 || m < leastRecords || 3*m < len(p.rows) {
		return false
	}
	width := 0.0
	if number {
		width = window * quartileDistance(all)
	}
	common := commonest(all, width)
	others := m - common
	if others == 0 {
		return false
	}
	wrong, chance := 0, 0.0
	share := math.Log(float64(common) / float64(m))
	for _, g := range groups {
		if len(g) >= groupRecords {
			wrong += len(g) - commonest(g, width)
			chance += float64(len(g)-1) * share
		}
	}
	return float64(wrong) <= (1-told)*float64(m)*(1+1e-9) && 2*wrong <= others && chance <= math.Log(coincidence)
}

// commonest is how many values lie in the fullest window of that width; missing
// values are one value of their own. It sorts values.
func commonest(values []float64, width float64) int {
	slices.SortFunc(values, func(a, b float64) int {
		switch {
		case a < b || !math.IsNaN(a) && math.IsNaN(b):
			return -1
		case a > b || math.IsNaN(a) && !math.IsNaN(b):
			return 1
		}
		return 0
	})
	n := len(values)
	for n > 0 && math.IsNaN(values[n-1]) {
		n--
	}
	best, from := len(values)-n, 0
	for to := range n {
		for values[to]-values[from] > width {
			from++
		}
		best = max(best, to-from+1)
	}
	return best
}

// quartileDistance is the distance of the upper from the lower quartile; it
// sorts values.
func quartileDistance(values []float64) float64 {
	commonest(values, 0) // sorts
	n := len(values)
	for n > 0 && math.IsNaN(values[n-1]) {
		n--
	}
	if n == 0 {
		return 0
	}
	return values[3*n/4] - values[n/4]
}
