package correlated

import (
	"math"
	"slices"
)

type classKey struct {
	kernel, row int32
	list        string
}

// classify numbers the edges so that equal branches have equal numbers, and
// returns the distinct targets and, by root, the class of its whole tree.
func (p *treePlan) classify() ([]treeTarget, map[int32]int32) {
	t := p.tree
	n := t.Records()
	p.first, p.next = t.childLists()
	p.down, p.up = make([]int32, n), make([]int32, n)
	marginals := t.marginals()
	pool := newKernelPool()
	classes := map[classKey]int32{}
	intern := func(k *kernel, row int32, branches []int32) int32 {
		kid := pool.add(k)
		key := classKey{kid, row, listString(branches)}
		id, ok := classes[key]
		if !ok {
			id = int32(len(p.edges))
			classes[key] = id
			p.edges = append(p.edges, treeEdge{kernel: pool.all[kid], row: row, branches: branches})
		}
		return id
	}
	children := make([][]int32, n)
	roots := map[int32]int32{}
	for j := n - 1; j >= 0; j-- {
		v := t.order[j]
		for c := p.first[v]; c >= 0; c = p.next[c] {
			children[v] = append(children[v], p.down[c])
		}
		slices.Sort(children[v])
		p.down[v] = intern(t.pool[t.kernel[v]], p.query.row[v], children[v])
		if t.parent[v] < 0 {
			roots[v] = p.down[v]
		}
	}
	type backKey struct {
		kernel int32
		bits   string
	}
	backs := map[backKey]*kernel{}
	for _, v := range t.order {
		if t.parent[v] < 0 {
			p.up[v] = -1
		}
		// The edges from v's children back to v: all that hangs on v but the
		// child. Equal children have equal edges.
		seen := map[int32][]int32{}
		for c := p.first[v]; c >= 0; c = p.next[c] {
			branches, ok := seen[p.down[c]]
			if !ok {
				at, _ := slices.BinarySearch(children[v], p.down[c])
				branches = slices.Delete(slices.Clone(children[v]), at, at+1)
				if p.up[v] >= 0 {
					branches = append(branches, p.up[v])
					slices.Sort(branches)
				}
				seen[p.down[c]] = branches
			}
			bk := backKey{t.kernel[c], floatString(marginals[v])}
			back := backs[bk]
			if back == nil {
				back = t.pool[t.kernel[c]].reversed(marginals[v])
				backs[bk] = back
			}
			p.up[c] = intern(back, p.query.row[v], branches)
		}
	}
	rootOf := make([]int32, n)
	type targetKey struct {
		row  int32
		mask uint64
		list string
		root int32
	}
	known := map[targetKey]bool{}
	supports := t.supports()
	var targets []treeTarget
	for _, v := range t.order {
		branches := slices.Clone(children[v])
		rootOf[v] = p.down[v]
		if u := t.parent[v]; u >= 0 {
			branches = append(branches, p.up[v])
			slices.Sort(branches)
			rootOf[v] = rootOf[u]
		}
		key := targetKey{p.query.row[v], supports[v], listString(branches), -1}
		if p.empty {
			key.root = rootOf[v]
		}
		if !known[key] {
			known[key] = true
			targets = append(targets, treeTarget{record: int(v), branches: branches, root: rootOf[v]})
		}
	}
	return targets, roots
}

func listString(v []int32) string {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = append(b, byte(x), byte(x>>8), byte(x>>16), byte(x>>24))
	}
	return string(b)
}

func floatString(v []float64) string {
	b := make([]byte, 0, 8*len(v))
	for _, x := range v {
		u := math.Float64bits(x)
		for s := 0; s < 64; s += 8 {
			b = append(b, byte(u>>s))
		}
	}
	return string(b)
}

// reversed is P(X_u|X_v) from k = P(X_v|X_u) and the distribution of X_u; the row of a
// state of v that cannot be is zero.
func (k *kernel) reversed(dist []float64) *kernel {
	r := &kernel{rows: k.cols, cols: k.rows, p: make([]float64, len(k.p))}
	total := k.next(dist)
	for y := range k.cols {
		if total[y] == 0 {
			continue
		}
		for x := range k.rows {
			r.p[y*r.cols+x] = dist[x] * k.at(x, y) / total[y]
		}
	}
	r.log = logs(r.p)
	return r
}
