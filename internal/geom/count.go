package geom

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/noren-privacy/noren/internal/cputime"
)

// gap2 returns the least squared distance between the boxes, or 0 where they
// meet.
func gap2(alo, ahi, blo, bhi []int32) int64 {
	var sum int64
	for j := range alo {
		var e int64
		if blo[j] > ahi[j] {
			e = int64(blo[j]) - int64(ahi[j])
		} else if alo[j] > bhi[j] {
			e = int64(alo[j]) - int64(bhi[j])
		}
		sum += e * e
	}
	return sum
}

// reach2 returns the greatest squared distance between points of the boxes.
func reach2(alo, ahi, blo, bhi []int32) int64 {
	var sum int64
	for j := range alo {
		e := max(int64(bhi[j])-int64(alo[j]), int64(ahi[j])-int64(blo[j]))
		sum += e * e
	}
	return sum
}

// within reports whether |p-q|^2 <= r2.
func within(p, q []int32, r2 int64) bool {
	var sum int64
	q = q[:len(p)]
	for len(p) >= 8 {
		for j := range 8 {
			e := int64(p[j]) - int64(q[j])
			sum += e * e
		}
		if sum > r2 {
			return false
		}
		p, q = p[8:], q[8:]
	}
	for j := range p {
		e := int64(p[j]) - int64(q[j])
		sum += e * e
	}
	return sum <= r2
}

// countBlock returns how many of the points at [first, end) lie within r2 of q.
func (t *Tree) countBlock(first, end int32, q []int32, r2 int64) int {
	n := 0
	if t.dim == 2 {
		x, y := int64(q[0]), int64(q[1])
		for c := t.coords[2*first : 2*end]; len(c) >= 2; c = c[2:] {
			dx, dy := int64(c[0])-x, int64(c[1])-y
			if dx*dx+dy*dy <= r2 {
				n++
			}
		}
		return n
	}
	for i := first; i < end; i++ {
		if within(t.point(i), q, r2) {
			n++
		}
	}
	return n
}

// Count returns, for each point by the caller's index, how many other points
// lie within the squared distance r2 >= 0. A count that reaches limit stops
// there: the result is the smaller of the two. It works on several processors, unless
// ctx is marked by [cputime.OneThread],
// and ends early with the context's error.
//
// In few dimensions a point costs about as much as it has neighbours, up to
// limit; in many the whole costs O(n^2 d).
func (t *Tree) Count(ctx context.Context, r2 int64, limit int) ([]int32, error) {
	degrees := make([]int32, t.Len())
	err := t.eachLeaf(ctx, func() func(v int32) {
		var near, stack []int32
		return func(v int32) {
			near, stack = t.countLeaf(v, r2, limit, degrees, near[:0], stack[:0])
		}
	})
	return degrees, err
}

// countLeaf counts for the points of block v; near and stack are scratch.
func (t *Tree) countLeaf(v int32, r2 int64, limit int, degrees, near, stack []int32) (_, _ []int32) {
	lo, hi := t.box(v)
	sure := -1 // not the point itself
	stack = append(stack, 0)
	for len(stack) > 0 && sure < limit {
		w := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		blo, bhi := t.box(w)
		n := t.nodes[w]
		switch {
		case gap2(lo, hi, blo, bhi) > r2:
		case reach2(lo, hi, blo, bhi) <= r2:
			sure += int(n.end - n.first)
		case n.right == 0:
			near = append(near, w)
		default:
			stack = append(stack, n.right, w+1)
		}
	}
	own := t.nodes[v]
	for i := own.first; i < own.end; i++ {
		q := t.point(i)
		n := sure
		for _, w := range near {
			if n >= limit {
				break
			}
			blo, bhi := t.box(w)
			b := t.nodes[w]
			switch {
			case gap2(q, q, blo, bhi) > r2:
			case reach2(q, q, blo, bhi) <= r2:
				n += int(b.end - b.first)
			default:
				n += t.countBlock(b.first, b.end, q, r2)
			}
		}
		degrees[t.ids[i]] = int32(min(n, limit))
	}
	return near, stack
}

// AppendNear appends to dst the indexes of all points within the squared
// distance r2 of q, in no particular order; a point that lies at q is one. q
// must lie in the smallest box that holds the tree's points.
func (t *Tree) AppendNear(dst []int32, q []int32, r2 int64) []int32 {
	if t.Len() == 0 {
		return dst
	}
	return t.appendNear(dst, 0, q, r2)
}

func (t *Tree) appendNear(dst []int32, v int32, q []int32, r2 int64) []int32 {
	lo, hi := t.box(v)
	if gap2(q, q, lo, hi) > r2 {
		return dst
	}
	n := t.nodes[v]
	if n.right != 0 {
		dst = t.appendNear(dst, v+1, q, r2)
		return t.appendNear(dst, n.right, q, r2)
	}
	for i := n.first; i < n.end; i++ {
		if within(t.point(i), q, r2) {
			dst = append(dst, t.ids[i])
		}
	}
	return dst
}

// eachLeaf hands every block to a worker made by start; each goroutine has its
// own.
func (t *Tree) eachLeaf(ctx context.Context, start func() func(v int32)) error {
	workers := min(cputime.Workers(ctx), len(t.leaves))
	if workers <= 1 {
		work := start()
		for _, v := range t.leaves {
			if ctx.Err() != nil {
				break
			}
			work(v)
		}
		return ctx.Err()
	}
	var next atomic.Int64
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() {
			work := start()
			for ctx.Err() == nil {
				i := next.Add(1) - 1
				if i >= int64(len(t.leaves)) {
					return
				}
				work(t.leaves[i])
			}
		})
	}
	wait.Wait()
	return ctx.Err()
}
