package correlated

import (
	"math"

	"noren"
)

// Model is the joint law of the records: a [*Table], a [*Chain], a [*Tree], a
// [*Class] of such laws or a [*Box] around one. It is public: whoever sees an
// answer is taken to know it, and no privacy budget pays for it.
type Model interface {
	// Records is the number n of records.
	Records() int
	// States is the number of states of record i, 0 <= i < n.
	States(i int) int
	// Kind is "table", "chain", "tree", "class" or "box".
	Kind() string
	// members are the single laws that the model stands for, or for a box its
	// centre.
	members() []Model
}

// maxRecords bounds a model, so that 32-bit numbers name its records.
const maxRecords = 1 << 24

// maxTable bounds the entries of a joint table.
const maxTable = 1 << 20

// Table is a joint law given entry by entry.
type Table struct {
	shape []int
	p     []float64 // the last record's state runs fastest
}

// NewTable returns the joint law p of len(shape) records, record i with
// shape[i] states. The state of the last record runs fastest: entry
// ((x0*shape[1]+x1)*shape[2]+x2)... is P(X0=x0, X1=x1, ..).
func NewTable(shape []int, p []float64) (*Table, error) {
	if len(shape) == 0 {
		return nil, usagef("shape", "a table needs at least one record")
	}
	size := 1
	for i, k := range shape {
		if err := checkStates(k, index("shape", i)); err != nil {
			return nil, err
		}
		if size *= k; size > maxTable {
			return nil, &noren.Error{Kind: noren.Usage, Where: "shape", What: "the table has more than 1,048,576 entries", Hint: "describe the records by a chain or a tree"}
		}
	}
	if len(p) != size {
		return nil, usagef("p", "the shape asks for %d entries, and here are %d", size, len(p))
	}
	p, err := scaled(p, "p")
	if err != nil {
		return nil, err
	}
	return &Table{shape: append([]int(nil), shape...), p: p}, nil
}

// Records is the number of records.
func (t *Table) Records() int { return len(t.shape) }

// States is the number of states of record i.
func (t *Table) States(i int) int { return t.shape[i] }

// Kind is "table".
func (t *Table) Kind() string { return "table" }

func (t *Table) members() []Model { return []Model{t} }

// Chain is a Markov chain: the law of record i+1 given all before it depends
// on record i alone.
type Chain struct {
	init []float64
	pool []*kernel
	step []int32 // step[i] is the kernel from record i to i+1
}

// NewChain returns the Markov chain of n = len(steps)+1 records: init is the
// law of record 0, and steps[i][x][y] = P(X_{i+1}=y | X_i=x).
func NewChain(init []float64, steps [][][]float64) (*Chain, error) {
	if len(steps) >= maxRecords {
		return nil, usagef("P", "there are too many records")
	}
	first, err := newLaw(init, "init")
	if err != nil {
		return nil, err
	}
	pool := newKernelPool()
	c := &Chain{init: first, step: make([]int32, len(steps))}
	states := len(first)
	for i, m := range steps {
		id, err := pool.intern(m, index("P", i))
		if err != nil {
			return nil, err
		}
		k := pool.all[id]
		if k.rows != states {
			return nil, usagef(index("P", i), "record %d has %d states, and the matrix has %d rows", i, states, k.rows)
		}
		states, c.step[i] = k.cols, id
	}
	c.pool = pool.all
	return c, nil
}

// NewHomogeneousChain returns the Markov chain of n records whose steps all
// have the transition matrix p, p[x][y] = P(X_{i+1}=y | X_i=x).
func NewHomogeneousChain(init []float64, p [][]float64, n int) (*Chain, error) {
	if n < 1 || n > maxRecords {
		return nil, usagef("length", "a chain has between 1 and %d records", maxRecords)
	}
	k, err := newKernel(p, "P")
	if err != nil {
		return nil, err
	}
	if k.rows != k.cols {
		return nil, usagef("P", "the matrix has %d rows and %d columns, and one matrix for all steps must be square", k.rows, k.cols)
	}
	first, err := newLaw(init, "init")
	if err != nil {
		return nil, err
	}
	if len(first) != k.rows {
		return nil, usagef("init", "the first record has %d states, and the matrix has %d rows", len(first), k.rows)
	}
	return &Chain{init: first, pool: []*kernel{k}, step: make([]int32, n-1)}, nil
}

// Records is the number of records.
func (c *Chain) Records() int { return len(c.step) + 1 }

// States is the number of states of record i.
func (c *Chain) States(i int) int {
	if i == 0 {
		return len(c.init)
	}
	return c.pool[c.step[i-1]].cols
}

// Kind is "chain".
func (c *Chain) Kind() string { return "chain" }

func (c *Chain) members() []Model { return []Model{c} }

// Homogeneous reports whether all steps have the same matrix.
func (c *Chain) Homogeneous() bool {
	for _, s := range c.step {
		if s != c.step[0] {
			return false
		}
	}
	return true
}

// supports are the states of each record that have positive probability, as
// bits.
func (c *Chain) supports() []uint64 {
	all := make([]uint64, c.Records())
	for x, p := range c.init {
		if p > 0 {
			all[0] |= 1 << x
		}
	}
	for i, s := range c.step {
		all[i+1] = c.pool[s].reach(all[i])
	}
	return all
}

// reach is the set of states that can follow those in from.
func (k *kernel) reach(from uint64) uint64 {
	var to uint64
	for x := range k.rows {
		if from>>x&1 == 0 {
			continue
		}
		for y := range k.cols {
			if k.at(x, y) > 0 {
				to |= 1 << y
			}
		}
	}
	return to
}

// tree is the same law as a tree rooted at record 0.
func (c *Chain) tree() *Tree {
	n := c.Records()
	t := &Tree{parent: make([]int32, n), kernel: make([]int32, n), order: make([]int32, n)}
	t.pool = append(append([]*kernel(nil), c.pool...), &kernel{rows: 1, cols: len(c.init), p: c.init, log: logs(c.init)})
	t.parent[0], t.kernel[0] = -1, int32(len(c.pool))
	for i := range n {
		t.order[i] = int32(i)
		if i > 0 {
			t.parent[i], t.kernel[i] = int32(i-1), c.step[i-1]
		}
	}
	return t
}

// next is the law of a record from the law of the one before.
func (k *kernel) next(law []float64) []float64 {
	out := make([]float64, k.cols)
	for x, w := range law {
		if w == 0 {
			continue
		}
		for y := range out {
			out[y] += w * k.at(x, y)
		}
	}
	return out
}

// Tree is a law in which every record depends on its parent alone; with
// several roots it is a forest, whose trees are independent.
type Tree struct {
	parent []int32 // -1 at a root
	kernel []int32 // from the parent to the record; a root's has one row
	pool   []*kernel
	order  []int32 // parents before children
}

// NewTree returns the law of n = len(parent) records in which record i depends
// on record parent[i], and a root (parent -1) on none: prior is the law of a
// root, and cpt[i][x][y] = P(X_i=y | X_parent=x). cpt[i] of a root is nil, or
// has one row that is this root's own law. Parents may stand after their
// children.
func NewTree(parent []int, prior []float64, cpt [][][]float64) (*Tree, error) {
	n := len(parent)
	if n == 0 || n > maxRecords {
		return nil, usagef("parent", "a tree has between 1 and %d records", maxRecords)
	}
	if len(cpt) != n {
		return nil, usagef("cpt", "there are %d records, and here are %d tables", n, len(cpt))
	}
	t := &Tree{parent: make([]int32, n), kernel: make([]int32, n)}
	pool := newKernelPool()
	shared := int32(-1)
	for i, p := range parent {
		if p < -1 || p >= n || p == i {
			return nil, usagef(index("parent", i), "a parent is the number of another record, 0 to %d, or -1 at a root", n-1)
		}
		t.parent[i] = int32(p)
		if p == -1 && cpt[i] == nil {
			if shared < 0 {
				law, err := newLaw(prior, "prior")
				if err != nil {
					return nil, err
				}
				shared = pool.add(&kernel{rows: 1, cols: len(law), p: law, log: logs(law)})
			}
			t.kernel[i] = shared
			continue
		}
		if cpt[i] == nil {
			return nil, usagef(index("cpt", i), "record %d has a parent and needs its table", i)
		}
		id, err := pool.intern(cpt[i], index("cpt", i))
		if err != nil {
			return nil, err
		}
		if p == -1 && pool.all[id].rows != 1 {
			return nil, usagef(index("cpt", i), "record %d is a root: its table has one row, or is null to use the prior", i)
		}
		t.kernel[i] = id
	}
	t.pool = pool.all
	if err := t.sort(); err != nil {
		return nil, err
	}
	for i, p := range t.parent {
		if k := t.pool[t.kernel[i]]; p >= 0 && k.rows != t.States(int(p)) {
			return nil, usagef(index("cpt", i), "the parent, record %d, has %d states, and the table has %d rows", p, t.States(int(p)), k.rows)
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
		return usagef("parent", "%d records are their own ancestors", len(t.parent)-len(t.order))
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

// marginals are the laws of the records, each alone.
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

// Class is a list of laws of the same records, any of which may be the true
// one: a promise for a class holds for each of its members.
type Class struct {
	list []Model
}

// NewClass returns the class of the given laws, which must agree in the number
// of records and their states. Members of a class that is a member count each;
// a box cannot be a member.
func NewClass(members ...Model) (*Class, error) {
	c := &Class{}
	for i, m := range members {
		if m == nil {
			return nil, usagef(index("members", i), "this member is missing")
		}
		if m.Kind() == "box" {
			return nil, usagef(index("members", i), "a box cannot be a member of a class")
		}
		c.list = append(c.list, m.members()...)
	}
	if len(c.list) == 0 {
		return nil, usagef("members", "a class needs at least one member")
	}
	for i, m := range c.list[1:] {
		if err := sameRecords(c.list[0], m); err != nil {
			return nil, &noren.Error{Kind: noren.Usage, Where: index("members", i+1), Err: err}
		}
	}
	return c, nil
}

func sameRecords(a, b Model) error {
	if a.Records() != b.Records() {
		return usagef("", "%d records, where the first member has %d", b.Records(), a.Records())
	}
	for i := range a.Records() {
		if a.States(i) != b.States(i) {
			return usagef("", "record %d has %d states, where the first member has %d", i, b.States(i), a.States(i))
		}
	}
	return nil
}

// Records is the number of records.
func (c *Class) Records() int { return c.list[0].Records() }

// States is the number of states of record i.
func (c *Class) States(i int) int { return c.list[0].States(i) }

// Kind is "class".
func (c *Class) Kind() string { return "class" }

func (c *Class) members() []Model { return c.list }

// Members are the laws of the class.
func (c *Class) Members() []Model { return append([]Model(nil), c.list...) }

var negInf = math.Inf(-1)
