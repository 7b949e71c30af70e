package outlier

import (
	"context"

	"github.com/noren-privacy/noren/account"
)

// outs computes how many records around one record have degrees in a window:
// those that its going would turn into outliers.
type outs struct {
	counter []int32 // around each record, in the window grown so far
	most    []int64 // most[t]: the largest counter for the window [k-t, k+t]
	near    []int32 // scratch
	// rows keeps neighbours that were found, as long as they fit; free is what
	// is left.
	rows [][]int32
	free int64
}

// outsMemory is about how many neighbours are kept.
const outsMemory = 1 << 27

// pause is after how many records a loop looks at its context.
const pause = 1 << 12

// grown returns max_a #{i != a : |x_i-x_a| <= r, k-t <= deg(i) <= k+t}. The
// windows are nested: each record enters once, when t reaches |deg(i) - k|, and
// adds one to the counter of each of its neighbours.
func (o *outs) grown(ctx context.Context, p *profile, t int) (int64, error) {
	if o.counter == nil {
		o.counter = make([]int32, len(p.degree))
	}
	for s := len(o.most); s <= t; s++ {
		most := int64(0)
		if s > 0 {
			most = o.most[s-1]
		}
		enter := func(degree int) error {
			first, end := p.window(degree, degree)
			for at := first; at < end; at++ {
				if at%pause == 0 && ctx.Err() != nil {
					return ctx.Err()
				}
				i := p.order[at]
				for _, a := range o.around(p, i) {
					if a != i {
						o.counter[a]++
						most = max(most, int64(o.counter[a]))
					}
				}
			}
			return nil
		}
		if err := enter(p.set.K - s); err != nil {
			return 0, err
		}
		if s > 0 {
			if err := enter(p.set.K + s); err != nil {
				return 0, err
			}
		}
		o.most = append(o.most, most)
	}
	return o.most[t], nil
}

// shifted returns the largest, over s = 0..t, of
// s + max_a #{i != a : |x_i-x_a| <= r, k-s <= deg(i) <= k+t-s}, or best where
// none exceeds it. The window slides from [k, k+t] down to [k-t, k]; the number
// of records at each counter gives the largest, also when it falls.
func (o *outs) shifted(ctx context.Context, p *profile, t int, best int64) (int64, error) {
	counter := make([]int32, len(p.degree))
	at := []int{len(counter)} // at[c]: how many counters stand at c
	most := 0
	move := func(degree int, by int32) error {
		first, end := p.window(degree, degree)
		for pos := first; pos < end; pos++ {
			if pos%pause == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			i := p.order[pos]
			for _, a := range o.around(p, i) {
				if a == i {
					continue
				}
				at[counter[a]]--
				counter[a] += by
				if int(counter[a]) == len(at) {
					at = append(at, 0)
				}
				at[counter[a]]++
				most = max(most, int(counter[a]))
			}
		}
		return nil
	}
	for d := p.set.K; d <= p.set.K+t; d++ {
		if err := move(d, 1); err != nil {
			return 0, err
		}
	}
	for s := 0; ; s++ {
		for most > 0 && at[most] == 0 {
			most--
		}
		best = max(best, int64(s+most))
		if s == t {
			return best, nil
		}
		if err := move(p.set.K+t-s, -1); err != nil {
			return 0, err
		}
		if err := move(p.set.K-s-1, 1); err != nil {
			return 0, err
		}
	}
}

// around returns the records within the radius of record i, itself among them.
// Add-remove asks for the same ones again and again; replace-one never does.
func (o *outs) around(p *profile, i int32) []int32 {
	keep := p.set.Neighbours == account.AddRemove
	if keep {
		if o.rows == nil {
			o.rows, o.free = make([][]int32, len(p.degree)), outsMemory
		}
		if r := o.rows[i]; r != nil {
			return r
		}
	}
	d := p.dim
	o.near = p.tree.AppendNear(o.near[:0], p.points.Data[int(i)*d:][:d], p.set.Radius2)
	if keep && int64(len(o.near)) <= o.free {
		o.free -= int64(len(o.near))
		o.rows[i] = append([]int32(nil), o.near...)
	}
	return o.near
}
