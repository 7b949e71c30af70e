package ratio

import (
	"context"
	"math"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table/axis"
)

// publicSample is how many public points centres and bandwidth are chosen from: evenly
// through the table.
const publicSample = 2000

// thin is at most n of the points that have all coordinates, evenly through p.
func thin(p *Points, n int) *Points {
	var whole []int
	for i := range p.Rows {
		if isWhole(p.Row(i)) {
			whole = append(whole, i)
		}
	}
	n = min(n, len(whole))
	out := axis.NewPoints[float64](n, p.Dim)
	for i := range n {
		copy(out.Row(i), p.Row(whole[i*len(whole)/n]))
	}
	return out
}

func isWhole(x []float64) bool {
	for _, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

func distance2(a, b []float64) float64 {
	s := 0.0
	for j, v := range a {
		s += (v - b[j]) * (v - b[j])
	}
	return s
}

// MedianDistance is the median of the distances between public points, of which at most
// 2,000 are looked at: the usual bandwidth, of which half is our default. A kernel that
// is too narrow is smoothed by lambda, which is chosen for free; one that is too wide
// is mended by nothing. Half the median was as good or better in all trials but those
// where private and public records are alike (docs/density-ratio.md, section 12). It
// knows nothing of the private records: where these are much narrower than the public
// ones, or in several clouds, a quarter serves better still. It is 0 where there are no
// two different points.
func MedianDistance(public *Points) float64 {
	p := thin(public, publicSample)
	all := make([]float64, 0, p.Rows*(p.Rows-1)/2)
	for i := range p.Rows {
		for j := range i {
			if d := distance2(p.Row(i), p.Row(j)); d > 0 {
				all = append(all, d)
			}
		}
	}
	if len(all) == 0 {
		return 0
	}
	m := len(all) / 2
	place(all, m)
	if len(all)%2 == 1 {
		return math.Sqrt(all[m])
	}
	return (math.Sqrt(slices.Max(all[:m])) + math.Sqrt(all[m])) / 2
}

// place brings to place m of v what would be there if v were sorted, and nothing greater
// before it (Hoare's selection).
func place(v []float64, m int) {
	for low, high := 0, len(v)-1; low < high; {
		a, b, c := v[low], v[low+(high-low)/2], v[high]
		pivot := max(min(a, b), min(max(a, b), c))
		i, j := low, high
		for i <= j {
			for v[i] < pivot {
				i++
			}
			for v[j] > pivot {
				j--
			}
			if i <= j {
				v[i], v[j] = v[j], v[i]
				i++
				j--
			}
		}
		switch {
		case m <= j:
			high = j
		case m >= i:
			low = i
		default:
			return
		}
	}
}

// ChooseCentres chooses b centres from public points: equally spaced on their range in
// one dimension (without what is far from the quartiles), else the means that k-means settles on within 20 rounds, begun from
// points far from each other. It repeats, as nothing in it is drawn. Fewer come back
// where there are fewer different points. Errors: [noren.Usage], or the context's.
func ChooseCentres(ctx context.Context, public *Points, b int) (*Points, error) {
	if b < 1 || b > maxCentres {
		return nil, noren.Usagef("centres", "between 1 and 4096 centres are possible")
	}
	p := thin(public, max(publicSample, 2*b))
	if p.Rows == 0 {
		return nil, noren.Usagef(noren.Phrase("public records"), "there is no public record that has a value in every column")
	}
	if p.Dim == 1 {
		low, high := bulk(public)
		if low == high || b == 1 {
			return &Points{Rows: 1, Dim: 1, Data: []float64{low + (high-low)/2}}, nil
		}
		c := axis.NewPoints[float64](b, 1)
		for l := range b {
			c.Data[l] = low + (high-low)*float64(l)/float64(b-1)
		}
		return c, nil
	}
	c := spread(p, b)
	for range 20 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		sum, count := axis.NewPoints[float64](c.Rows, c.Dim), make([]float64, c.Rows)
		for i := range p.Rows {
			best, at := math.Inf(1), 0
			for l := range c.Rows {
				if d := distance2(p.Row(i), c.Row(l)); d < best {
					best, at = d, l
				}
			}
			count[at]++
			for j, v := range p.Row(i) {
				sum.Row(at)[j] += v
			}
		}
		moved := 0.0
		for l := range c.Rows {
			if count[l] == 0 {
				continue
			}
			for j, v := range sum.Row(l) {
				v /= count[l]
				moved = max(moved, math.Abs(v-c.Row(l)[j]))
				c.Row(l)[j] = v
			}
		}
		if moved == 0 {
			break
		}
	}
	return c, nil
}

// tails is how many interquartile ranges beyond the quartiles centres on a line reach: a
// normal distribution has nothing there, and one of heavy tails would leave few centres
// for its bulk.
const tails = 3

// bulk is the range of the points of a line, cut off at tails.
func bulk(public *Points) (low, high float64) {
	var all []float64
	for i := range public.Rows {
		if isWhole(public.Row(i)) {
			all = append(all, public.Data[i])
		}
	}
	slices.Sort(all)
	n := len(all)
	low, high = all[0], all[n-1]
	first, third := all[n/4], all[min(n-1, 3*n/4)]
	if by := tails * (third - first); by > 0 {
		low, high = max(low, first-by), min(high, third+by)
	}
	return low, high
}

// spread chooses b of the points, each as far as can be from those chosen before.
func spread(p *Points, b int) *Points {
	c := axis.NewPoints[float64](0, p.Dim)
	nearest := make([]float64, p.Rows)
	for i := range nearest {
		nearest[i] = math.Inf(1)
	}
	mean := make([]float64, p.Dim)
	for i := range p.Rows {
		for j, v := range p.Row(i) {
			mean[j] += v / float64(p.Rows)
		}
	}
	at, best := 0, math.Inf(1)
	for i := range p.Rows {
		if d := distance2(p.Row(i), mean); d < best {
			at, best = i, d
		}
	}
	for c.Rows < b {
		c.Data = append(c.Data, p.Row(at)...)
		c.Rows++
		next, far := 0, 0.0
		for i := range p.Rows {
			nearest[i] = min(nearest[i], distance2(p.Row(i), p.Row(at)))
			if nearest[i] > far {
				next, far = i, nearest[i]
			}
		}
		if far == 0 {
			break
		}
		at = next
	}
	return c
}
