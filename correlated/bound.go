package correlated

import (
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/noren-privacy/noren"
)

// dim is one coordinate of a bound query.
type dim struct {
	unit float64  // the value of one step
	rat  *big.Rat // the same, exactly
	// base is what f is when every step count is zero: the sum over the
	// records of their smallest values.
	base   *big.Rat
	size   int64 // step counts of all records together lie in 0..size-1
	stride int64 // one step in a packed key
}

// boundQuery is a query seen by a model: every value is a whole number of steps
// above the record's smallest value in its coordinate. Steps of several
// coordinates are packed into one number, which still adds.
type boundQuery struct {
	dims []dim
	row  []int32 // of each record, its entry in rows
	rows []queryRow
}

// queryRow is what records with the same values share.
type queryRow struct {
	states int
	key    []int64     // by state, packed
	osc    []int64     // by coordinate, in steps
	low    []int64     // by coordinate, the smallest value in units of 10^-places
	least  []float64   // by coordinate, the smallest value
	value  [][]float64 // by coordinate and state
}

// maxSteps bounds the whole numbers that a query's values become.
const maxSteps = 1 << 52

// bind lays q over the records of m.
func (q *Query) bind(m Model) (*boundQuery, error) {
	if err := q.check(m); err != nil {
		return nil, err
	}
	n := m.Records()
	nd := q.coordinates(m.States(0))
	b := &boundQuery{dims: make([]dim, nd), row: make([]int32, n)}
	byHash := map[uint64][]int32{}
	flat := [][]float64{}
	var buf []float64
	uniform := q.uniform()
	for i := range n {
		k := m.States(i)
		if uniform && i > 0 && k == m.States(i-1) {
			b.row[i] = b.row[i-1]
			continue
		}
		var err error
		if buf, err = q.append(buf[:0], i, k); err != nil {
			return nil, err
		}
		h := hashFloats(uint64(k), buf)
		id := int32(-1)
		for _, o := range byHash[h] {
			if b.rows[o].states == k && slices.Equal(flat[o], buf) {
				id = o
			}
		}
		if id < 0 {
			id = int32(len(b.rows))
			byHash[h] = append(byHash[h], id)
			flat = append(flat, slices.Clone(buf))
			r := queryRow{states: k, key: make([]int64, k), osc: make([]int64, nd), low: make([]int64, nd)}
			for c := range nd {
				r.value = append(r.value, flat[id][c*k:(c+1)*k])
			}
			b.rows = append(b.rows, r)
		}
		b.row[i] = id
	}
	counts := make([]int64, len(b.rows))
	for _, r := range b.row {
		counts[r]++
	}
	stride := int64(1)
	for c := range b.dims {
		if err := b.steps(c, stride, counts); err != nil {
			return nil, err
		}
		if b.dims[c].size > maxSteps/stride {
			return nil, &noren.Error{
				Kind: noren.Usage, Where: "query", What: "the coordinates together take too many values",
				Hint: "round the values to a coarser grid, or ask fewer coordinates",
			}
		}
		stride *= b.dims[c].size
	}
	return b, nil
}

// uniform reports whether records with equally many states have equal values.
func (q *Query) uniform() bool {
	if q.joint != nil {
		return !slices.ContainsFunc(q.joint, func(p *Query) bool { return !p.uniform() })
	}
	return q.rows == nil && q.weights == nil
}

// steps turns the values of coordinate c into whole steps.
func (b *boundQuery) steps(c int, stride int64, counts []int64) error {
	places := 0
	for _, r := range b.rows {
		for _, v := range r.value[c] {
			p, err := decimalPlaces(v)
			if err != nil {
				return err
			}
			places = max(places, p)
		}
	}
	tooFine := &noren.Error{
		Kind: noren.Usage, Where: "query", What: "the values have too many digits to be added exactly",
		Hint: "round them to a public grid; the rounded query is then the one that is asked",
	}
	if places > 15 {
		return tooFine
	}
	whole := make([][]int64, len(b.rows))
	common := int64(0)
	for j := range b.rows {
		r := &b.rows[j]
		for _, v := range r.value[c] {
			w, ok := decimalWhole(v, places)
			if !ok {
				return tooFine
			}
			whole[j] = append(whole[j], w)
		}
		r.low[c] = slices.Min(whole[j])
		for _, w := range whole[j] {
			common = gcd(common, w-r.low[c])
		}
	}
	common = max(common, 1)
	base, size := new(big.Int), int64(1)
	for j := range b.rows {
		r := &b.rows[j]
		r.least = append(r.least, slices.Min(r.value[c]))
		r.osc[c] = (slices.Max(whole[j]) - r.low[c]) / common
		if r.osc[c] > 0 && counts[j] > (maxSteps-size)/r.osc[c] {
			return tooFine
		}
		size += counts[j] * r.osc[c]
		base.Add(base, new(big.Int).Mul(big.NewInt(counts[j]), big.NewInt(r.low[c])))
		for v, w := range whole[j] {
			r.key[v] += (w - r.low[c]) / common * stride
		}
	}
	ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places)), nil)
	unit := new(big.Rat).SetFrac(big.NewInt(common), ten)
	f, _ := unit.Float64()
	b.dims[c] = dim{unit: f, rat: unit, base: new(big.Rat).SetFrac(base, ten), size: size, stride: stride}
	return nil
}

// decimalPlaces is the number of digits after the point of the shortest
// decimal that reads as v.
func decimalPlaces(v float64) (int, error) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, noren.Usagef("query", "a value is not a finite number")
	}
	s := strconv.FormatFloat(v, 'e', -1, 64)
	mantissa, exponent, _ := strings.Cut(s, "e")
	e, _ := strconv.Atoi(exponent)
	_, fraction, _ := strings.Cut(mantissa, ".")
	return max(0, len(fraction)-e), nil
}

// decimalWhole is v times 10^places, exactly, by way of v's shortest decimal.
func decimalWhole(v float64, places int) (int64, bool) {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(v, 'e', -1, 64))
	if !ok {
		return 0, false
	}
	r.Mul(r, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places)), nil)))
	if !r.IsInt() || !r.Num().IsInt64() {
		return 0, false
	}
	w := r.Num().Int64()
	return w, w > -maxSteps && w < maxSteps
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// rangeLoss is the sum over coordinates of range(f)/unit steps times rate, an
// upper bound of any leakage: a shift by at most the range.
func (b *boundQuery) rangeLoss(rates []float64) float64 {
	sum := 0.0
	for c, d := range b.dims {
		sum += float64(d.size-1) * rates[c]
	}
	return sum
}

// loss is the change of the log likelihood that record i alone can make when
// its state moves from v to w: the sum over coordinates of steps times rate.
func (b *boundQuery) loss(row int32, v, w int, rates []float64) float64 {
	r := &b.rows[row]
	if len(b.dims) == 1 {
		return math.Abs(float64(r.key[v]-r.key[w])) * rates[0]
	}
	sum := 0.0
	for c, d := range b.dims {
		sum += math.Abs(float64(d.coordinate(r.key[v])-d.coordinate(r.key[w]))) * rates[c]
	}
	return sum
}

// coordinate is the step count that a packed key holds for this coordinate.
func (d *dim) coordinate(key int64) int64 { return key / d.stride % d.size }

// osc is the largest loss of any record's move, over all pairs of states.
func (b *boundQuery) osc(rates []float64) float64 {
	most := 0.0
	for j := range b.rows {
		for v := range b.rows[j].key {
			for w := range v {
				most = max(most, b.loss(int32(j), v, w, rates))
			}
		}
	}
	return most
}

// answer turns a packed step count into the query's values, where the records
// given are those that were summed.
func (b *boundQuery) answer(key int64, records func(yield func(int) bool)) []float64 {
	out := make([]float64, len(b.dims))
	for c, d := range b.dims {
		if len(b.dims) == 1 {
			out[c] = float64(key) * d.unit
		} else {
			out[c] = float64(d.coordinate(key)) * d.unit
		}
	}
	for i := range records {
		for c, v := range b.rows[b.row[i]].least {
			out[c] += v
		}
	}
	return out
}
