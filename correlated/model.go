package correlated

import (
	"math"

	"github.com/noren-privacy/noren"
)

// Model is the joint distribution of the records: a [*JointTable], a [*Chain], a [*Tree], a
// [*Class] of such distributions or a [*Box] around one. It is public: adversaries
// are taken to know it, and no privacy budget is charged for it.
type Model interface {
	// Records is the number n of records.
	Records() int
	// States is the number of states of record i, 0 <= i < n.
	States(i int) int
	// Kind is "table", "chain", "tree", "class" or "box".
	Kind() string
	// members are the single distributions that the model stands for, or for a box its
	// centre.
	members() []Model
}

var negInf = math.Inf(-1)

// maxRecords bounds a model: 32-bit numbers name its records, and a plan of it takes some 60
// bytes for each. maxGranted bounds one that a ledger holds, which an earlier version granted.
const (
	maxRecords = 1 << 22
	maxGranted = 1 << 24
)

// maxTable bounds the entries of a joint table, and maxShape its records: those of one state
// add no entries.
const (
	maxTable = 1 << 20
	maxShape = 1024
)

// limits bound the records of a model, and of one that is a joint table.
type limits struct{ records, shape int }

// newModel are the limits of a model that is new to the ledger.
func newModel() limits { return limits{maxRecords, maxShape} }

// JointTable is a joint distribution given entry by entry.
type JointTable struct {
	shape []int
	p     []float64 // the last record's state runs fastest
}

// NewJointTable returns the joint distribution p of len(shape) records, record i with
// shape[i] states. The state of the last record runs fastest: entry
// ((x0*shape[1]+x1)*shape[2]+x2)... is P(X0=x0, X1=x1, ..).
func NewJointTable(shape []int, p []float64) (*JointTable, error) {
	return newModel().joint(shape, p)
}

func (l limits) joint(shape []int, p []float64) (*JointTable, error) {
	if len(shape) == 0 {
		return nil, noren.Usagef("shape", "a table needs at least one record")
	}
	if len(shape) > l.shape {
		return nil, noren.Usagef("shape", "a table has at most %d records", l.shape)
	}
	size := 1
	for i, k := range shape {
		if err := checkStates(k, index("shape", i)); err != nil {
			return nil, err
		}
		size *= k
		if size > maxTable {
			return nil, &noren.Error{
				Kind: noren.Usage, Where: "shape", What: "the table has more than 1,048,576 entries",
				Hint: "describe the records by a chain or a tree",
			}
		}
	}
	if len(p) != size {
		return nil, noren.Usagef("p", "the shape asks for %d {entry|entries}, and here {2|is|are} %d", size, len(p))
	}
	p, err := scaled(p, "p")
	if err != nil {
		return nil, err
	}
	return &JointTable{shape: append([]int(nil), shape...), p: p}, nil
}

// Records is the number of records.
func (t *JointTable) Records() int { return len(t.shape) }

// States is the number of states of record i.
func (t *JointTable) States(i int) int { return t.shape[i] }

// Kind is "table".
func (t *JointTable) Kind() string { return "table" }

func (t *JointTable) members() []Model { return []Model{t} }

// Chain is a Markov chain: the distribution of record i+1 given all before it depends
// on record i alone.
type Chain struct {
	init []float64
	pool []*kernel
	step []int32 // step[i] is the kernel from record i to i+1
}

// NewChain returns the Markov chain of n = len(steps)+1 records: init is the
// distribution of record 0, and steps[i][x][y] = P(X_{i+1}=y | X_i=x).
func NewChain(init []float64, steps [][][]float64) (*Chain, error) {
	return newModel().chain(init, steps)
}

func (l limits) chain(init []float64, steps [][][]float64) (*Chain, error) {
	if len(steps) >= l.records {
		return nil, noren.Usagef("P", "there are too many records")
	}
	first, err := newDistribution(init, "init")
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
			return nil, noren.Usagef(index("P", i), "record %d has %d {state|states}, and the matrix has %d {row|rows}", i, states, k.rows)
		}
		states, c.step[i] = k.cols, id
	}
	c.pool = pool.all
	return c, nil
}

// NewHomogeneousChain returns the Markov chain of n records whose steps all
// have the transition matrix p, p[x][y] = P(X_{i+1}=y | X_i=x).
func NewHomogeneousChain(init []float64, p [][]float64, n int) (*Chain, error) {
	return newModel().homogeneous(init, p, n)
}

func (l limits) homogeneous(init []float64, p [][]float64, n int) (*Chain, error) {
	if n < 1 || n > l.records {
		return nil, noren.Usagef("length", "a chain has between 1 and %d records", l.records)
	}
	k, err := newKernel(p, "P")
	if err != nil {
		return nil, err
	}
	if k.rows != k.cols {
		return nil, noren.Usagef("P", "the matrix has %d {row|rows} and %d {column|columns}, and one matrix for all steps must be square", k.rows,
			k.cols)
	}
	first, err := newDistribution(init, "init")
	if err != nil {
		return nil, err
	}
	if len(first) != k.rows {
		return nil, noren.Usagef("init", "the first record has %d {state|states}, and the matrix has %d {row|rows}", len(first), k.rows)
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
	type move struct {
		step int32
		from uint64
	}
	known := map[move]uint64{} // of a chain with few matrices, whose records have few supports
	for i, s := range c.step {
		m := move{s, all[i]}
		to, ok := known[m]
		if !ok {
			to = c.pool[s].reach(all[i])
			if len(known) < 4096 {
				known[m] = to
			}
		}
		all[i+1] = to
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

// tree is the same distribution as a tree rooted at record 0.
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

// next is the distribution of a record from the distribution of the one before.
func (k *kernel) next(dist []float64) []float64 {
	out := make([]float64, k.cols)
	for x, w := range dist {
		if w == 0 {
			continue
		}
		for y := range out {
			out[y] += w * k.at(x, y)
		}
	}
	return out
}
