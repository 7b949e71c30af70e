package correlated

import (
	"slices"
	"strconv"
	"strings"

	"github.com/noren-privacy/noren"
)

// Query is an additive query f(x) = sum over records i of g_i(x_i), with one
// coordinate or several. Its values are decimal numbers and are meant exactly:
// 0.1 is one tenth, not the binary number near it.
type Query struct {
	// each gives the values of a record's states when all records share them;
	// otherwise rows does, one a record.
	each []float64
	rows [][]float64
	// count and weights are a (weighted) count instead: the number of records
	// whose state is in count.
	count   []int
	weights []float64
	// histogram counts every state, a coordinate each.
	histogram bool
	// joint asks several queries at once, a coordinate or more each.
	joint []*Query
}

// Count is the number of records whose state is one of those given.
func Count(states ...int) *Query { return &Query{count: slices.Clone(states)} }

// WeightedCount is the sum of the weights, one a record, of the records whose
// state is one of those given.
func WeightedCount(weights []float64, states ...int) *Query {
	return &Query{count: slices.Clone(states), weights: slices.Clone(weights)}
}

// Sum is the sum over all records of the value of their state; value[v] is
// that of state v.
func Sum(value []float64) *Query { return &Query{each: slices.Clone(value)} }

// Values is the general additive query with one coordinate: the sum over
// records i of g[i][state of i].
func Values(g [][]float64) *Query {
	q := &Query{rows: make([][]float64, len(g))}
	for i := range g {
		q.rows[i] = slices.Clone(g[i])
	}
	return q
}

// Histogram counts the records of each state, a coordinate a state.
func Histogram() *Query { return &Query{histogram: true} }

// Joint asks several queries at once, so that what they tell together is
// measured together.
func Joint(queries ...*Query) *Query { return &Query{joint: slices.Clone(queries)} }

// String names q in a few words.
func (q *Query) String() string { return q.Text().String() }

// Text says what is asked.
func (q *Query) Text() noren.Text {
	switch {
	case q.joint != nil:
		all := q.joint[0].Text()
		for _, p := range q.joint[1:] {
			all = noren.Textf("%s and %s", all, p)
		}
		return all
	case q.histogram:
		return noren.Textf("histogram of the states")
	case q.count != nil && q.weights != nil:
		return noren.Textf("weighted count of states %s", list(q.count))
	case q.count != nil:
		return noren.Textf("count of states %s", list(q.count))
	}
	return noren.Textf("sum of the records' values")
}

func list(v []int) string {
	s := make([]string, len(v))
	for i, x := range v {
		s[i] = strconv.Itoa(x)
	}
	return strings.Join(s, ", ")
}

// coordinates is the number of coordinates for records of k states.
func (q *Query) coordinates(k int) int {
	switch {
	case q.joint != nil:
		n := 0
		for _, p := range q.joint {
			n += p.coordinates(k)
		}
		return n
	case q.histogram:
		return k
	}
	return 1
}

// append adds the values of record i with k states, coordinate by coordinate
// and in each state by state, to dst.
func (q *Query) append(dst []float64, i, k int) ([]float64, error) {
	switch {
	case q.joint != nil:
		var err error
		for j, p := range q.joint {
			if dst, err = p.append(dst, i, k); err != nil {
				return nil, noren.Reasonf("query %d: %s", j, err)
			}
		}
		return dst, nil
	case q.histogram:
		for c := range k {
			for v := range k {
				dst = append(dst, boolFloat(v == c))
			}
		}
		return dst, nil
	case q.count != nil:
		w := 1.0
		if q.weights != nil {
			w = q.weights[i]
		}
		for v := range k {
			dst = append(dst, w*boolFloat(slices.Contains(q.count, v)))
		}
		return dst, nil
	}
	row, where := q.each, "g"
	if q.rows != nil {
		row, where = q.rows[i], index("g", i)
	}
	if len(row) != k {
		return nil, noren.Usagef(where, "record %d has %d {state|states}, and here {3|is|are} %d {value|values}", i, k, len(row))
	}
	return append(dst, row...), nil
}

func boolFloat(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// check refuses what can be refused without looking at single records.
func (q *Query) check(m Model) error {
	n := m.Records()
	switch {
	case q == nil:
		return noren.Usagef("query", "the query is missing")
	case q.joint != nil:
		if len(q.joint) == 0 {
			return noren.Usagef("query", "a joint query needs at least one part")
		}
		for _, p := range q.joint {
			if err := p.check(m); err != nil {
				return err
			}
		}
	case q.histogram:
		for i := range n {
			if m.States(i) != m.States(0) {
				return noren.Usagef("histogram", "records 0 and %d have different numbers of states", i)
			}
		}
	case q.count != nil:
		if q.weights != nil && len(q.weights) != n {
			return noren.Usagef("weights", "there {1|is|are} %d {record|records}, and here {2|is|are} %d {weight|weights}", n, len(q.weights))
		}
		most := 0
		for i := range n {
			most = max(most, m.States(i))
		}
		if len(q.count) == 0 {
			return noren.Usagef("count", "a count needs at least one state")
		}
		for j, v := range q.count {
			if v < 0 || v >= most {
				return noren.Usagef(index("count", j), "no record has this state: states are numbered from 0 to %d", most-1)
			}
		}
	case q.rows != nil && len(q.rows) != n:
		return noren.Usagef("g", "there {1|is|are} %d {record|records}, and here {2|is|are} %d {row|rows}", n, len(q.rows))
	case q.rows == nil && q.each == nil:
		return noren.Usagef("query", "the query asks nothing")
	}
	return nil
}
