package ratio

import (
	"math"
	"slices"
)

// neighbours are the public records nearest to public ones. What residuals of neighbours
// have in common, the columns tell.
type neighbours struct {
	rows   []int            // places among the rows of the model
	near   [][nearest]int   // places in rows
	mutual [][nearest]bool  // whether both are neighbours of each other
	away   [nearest]float64 // root mean squared distance of each
}

const (
	nearest   = 5
	mostNear  = 2_000 // records whose neighbours are looked for
	surprised = 3     // standard errors
)

// newNeighbours finds the neighbours of some rows of points. Of those at the same distance
// it takes the ones that come next, so that records that are all alike have different ones.
func newNeighbours(points *Points, rows []int) *neighbours {
	o := &neighbours{}
	n := min(mostNear, len(rows))
	if n <= nearest {
		return o
	}
	for k := range n {
		o.rows = append(o.rows, k*len(rows)/n)
	}
	o.near = make([][nearest]int, n)
	for a, k := range o.rows {
		x := points.Row(rows[k])
		var least [nearest]float64
		for l := range least {
			least[l] = math.Inf(1)
		}
		for step := 1; step < n; step++ {
			other := (a + step) % n
			sum := 0.0
			for j, v := range points.Row(rows[o.rows[other]]) {
				sum += (v - x[j]) * (v - x[j])
				if sum >= least[nearest-1] {
					break
				}
			}
			if sum >= least[nearest-1] {
				continue
			}
			l := nearest - 1
			for ; l > 0 && least[l-1] > sum; l-- {
				least[l], o.near[a][l] = least[l-1], o.near[a][l-1]
			}
			least[l], o.near[a][l] = sum, other
		}
		for l, v := range least {
			o.away[l] += v / float64(n)
		}
	}
	o.mutual = make([][nearest]bool, n)
	for a, all := range o.near {
		for l, other := range all {
			o.mutual[a][l] = slices.Contains(o.near[other][:], a)
		}
	}
	for l, v := range o.away {
		o.away[l] = math.Sqrt(v)
	}
	return o
}

// told is the share of the variance of residuals v that the columns tell, at a distance of
// 0: the correlation of neighbours, of which the nearest and the mean of all lie on a line
// over their distances. It is 0 where the mean correlation is not seen to be above 0.
func (o *neighbours) told(v, shares []float64) float64 {
	var square, variance float64
	var common [nearest]float64
	for a, k := range o.rows {
		s := shares[k]
		square += s * v[k] * v[k]
		for l, other := range o.near[a] {
			part := s * v[k] * v[o.rows[other]]
			common[l] += part
			if o.mutual[a][l] {
				// (a+b)^2 <= 2a^2 + 2b^2 of the two terms with the same product.
				part *= math.Sqrt2
			}
			variance += part * part
		}
	}
	mean, away := 0.0, 0.0
	for l, c := range common {
		mean += c / nearest
		away += o.away[l] / nearest
	}
	if square <= 0 || mean*nearest <= surprised*math.Sqrt(variance) {
		return 0
	}
	first, mean := common[0]/square, mean/square
	if away > o.away[0] {
		first += max(0, first-mean) * o.away[0] / (away - o.away[0])
	}
	return min(1, max(first, mean))
}
