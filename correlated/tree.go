package correlated

import "github.com/noren-privacy/noren"

// Tree is a distribution in which every record depends on its parent alone; with
// several roots it is a forest, whose trees are independent.
type Tree struct {
	parent []int32 // -1 at a root
	kernel []int32 // from the parent to the record; a root's has one row
	pool   []*kernel
	order  []int32 // parents before children
}

// NewTree returns the distribution of n = len(parent) records in which record i depends
// on record parent[i], and a root (parent -1) on none: prior is the distribution of a
// root, and cpt[i][x][y] = P(X_i=y | X_parent=x). cpt[i] of a root is nil, or
// has one row that is this root's own distribution. Parents may stand after their
// children.
func NewTree(parent []int, prior []float64, cpt [][][]float64) (*Tree, error) {
	return newModel().tree(parent, prior, cpt)
}

func (l limits) tree(parent []int, prior []float64, cpt [][][]float64) (*Tree, error) {
	n := len(parent)
	if n == 0 || n > l.records {
		return nil, noren.Usagef("parent", "a tree has between 1 and %d records", l.records)
	}
	if len(cpt) != n {
		return nil, noren.Usagef("cpt", "there {1|is|are} %d {record|records}, and here {2|is|are} %d {table|tables}", n, len(cpt))
	}
	t := &Tree{parent: make([]int32, n), kernel: make([]int32, n)}
	pool := newKernelPool()
	shared := int32(-1)
	for i, p := range parent {
		if p < -1 || p >= n || p == i {
			return nil, noren.Usagef(index("parent", i), "a parent is the number of another record, 0 to %d, or -1 at a root", n-1)
		}
		t.parent[i] = int32(p)
		if p == -1 && cpt[i] == nil {
			if shared < 0 {
				dist, err := newDistribution(prior, "prior")
				if err != nil {
					return nil, err
				}
				shared = pool.add(&kernel{rows: 1, cols: len(dist), p: dist, log: logs(dist)})
			}
			t.kernel[i] = shared
			continue
		}
		if cpt[i] == nil {
			return nil, noren.Usagef(index("cpt", i), "record %d has a parent and needs its table", i)
		}
		id, err := pool.intern(cpt[i], index("cpt", i))
		if err != nil {
			return nil, err
		}
		if p == -1 && pool.all[id].rows != 1 {
			return nil, noren.Usagef(index("cpt", i), "record %d is a root: its table has one row, or is null to use the prior", i)
		}
		t.kernel[i] = id
	}
	t.pool = pool.all
	if err := t.sort(); err != nil {
		return nil, err
	}
	for i, p := range t.parent {
		if k := t.pool[t.kernel[i]]; p >= 0 && k.rows != t.States(int(p)) {
			return nil, noren.Usagef(index("cpt", i), "the parent, record %d, has %d {state|states}, and the table has %d {row|rows}", p,
				t.States(int(p)), k.rows)
		}
	}
	return t, nil
}

// sort lists the records with parents before children.
func (t *Tree) sort() error {
	first, next := t.childLists()
	t.order = make([]int32, 0, len(t.parent))
	for i, p := range t.parent {
		if p < 0 {
			t.order = append(t.order, int32(i))
		}
	}
	for at := 0; at < len(t.order); at++ {
		for c := first[t.order[at]]; c >= 0; c = next[c] {
			t.order = append(t.order, c)
		}
	}
	if len(t.order) < len(t.parent) {
		return noren.Usagef("parent", "%d {record is|records are} their own ancestors", len(t.parent)-len(t.order))
	}
	return nil
}

// childLists are linked lists of children: first[i] is the first child of
// record i and next[c] the child after c, -1 at the end.
func (t *Tree) childLists() (first, next []int32) {
	first, next = make([]int32, len(t.parent)), make([]int32, len(t.parent))
	for i := range first {
		first[i] = -1
	}
	for i := len(t.parent) - 1; i >= 0; i-- {
		if p := t.parent[i]; p >= 0 {
			next[i], first[p] = first[p], int32(i)
		} else {
			next[i] = -1
		}
	}
	return first, next
}

// Records is the number of records.
func (t *Tree) Records() int { return len(t.parent) }

// States is the number of states of record i.
func (t *Tree) States(i int) int { return t.pool[t.kernel[i]].cols }

// Kind is "tree".
func (t *Tree) Kind() string { return "tree" }

func (t *Tree) members() []Model { return []Model{t} }

// marginals are the distributions of the records, each alone.
func (t *Tree) marginals() [][]float64 {
	all := make([][]float64, len(t.parent))
	for _, v := range t.order {
		k := t.pool[t.kernel[v]]
		if p := t.parent[v]; p >= 0 {
			all[v] = k.next(all[p])
		} else {
			all[v] = k.p
		}
	}
	return all
}

// supports are the states of each record that have positive probability, as
// bits.
func (t *Tree) supports() []uint64 {
	all := make([]uint64, len(t.parent))
	for _, v := range t.order {
		from := uint64(1)
		if p := t.parent[v]; p >= 0 {
			from = all[p]
		}
		all[v] = t.pool[t.kernel[v]].reach(from)
	}
	return all
}
