package correlated

import (
	"io"
	"slices"

	"github.com/noren-privacy/noren"
)

// ParseQuery reads a query in JSON for the model of f; name is the file's, for
// errors. The forms are
//
//	{"g":[[0,1],[0,2.5], ..]}   the value of each record's each state
//	{"g":[0,1]}                 the same for all records
//	{"count":"on"}              how many records are in a state: its name or number, or a list of them
//	{"count":1,"weights":[..]}  weighted, one weight a record
//	{"histogram":true}          how many records are in each state
//	{"joint":[{..},{..}]}       several at once
//
// Errors are of kind Usage and name the entry that is wrong.
func ParseQuery(r io.Reader, name string, f *ModelFile) (*Query, error) {
	n, err := readJSON(r, name)
	if err != nil {
		return nil, err
	}
	q, err := parseQuery(n, f)
	if err == nil {
		_, err = q.bind(f.Model)
	}
	if err != nil {
		return nil, inFile(name, err)
	}
	return q, nil
}

func parseQuery(n node, file *ModelFile) (*Query, error) {
	f, err := n.object("g", "count", "weights", "histogram", "joint")
	if err != nil {
		return nil, err
	}
	forms := 0
	for _, name := range [...]string{"g", "count", "histogram", "joint"} {
		if _, ok := f[name]; ok {
			forms++
		}
	}
	if forms != 1 {
		return nil, noren.Usagef(n.where, "a query has exactly one of g, count, histogram and joint")
	}
	if w, ok := f["weights"]; ok && f["count"].value == nil {
		return nil, noren.Usagef(w.where, "weights go with a count")
	}
	if g, ok := f["g"]; ok {
		if g.depth() == 1 {
			row, err := g.floats()
			return Sum(row), err
		}
		rows, err := g.matrix()
		return Values(rows), err
	}
	if h, ok := f["histogram"]; ok {
		if h.value != true {
			return nil, h.wrong("true")
		}
		return Histogram(), nil
	}
	if j, ok := f["joint"]; ok {
		list, err := j.list()
		if err != nil {
			return nil, err
		}
		q := &Query{joint: []*Query{}}
		for _, part := range list {
			p, err := parseQuery(part, file)
			if err != nil {
				return nil, err
			}
			q.joint = append(q.joint, p)
		}
		return q, nil
	}
	return parseCount(f, file)
}

func parseCount(f map[string]node, file *ModelFile) (*Query, error) {
	c := f["count"]
	list := []node{c}
	if _, ok := c.value.([]any); ok {
		var err error
		if list, err = c.list(); err != nil {
			return nil, err
		}
	}
	q := &Query{count: []int{}}
	seen := map[int]bool{}
	for _, s := range list {
		v, err := parseState(s, file)
		if err != nil {
			return nil, err
		}
		if seen[v] {
			return nil, noren.Usagef(s.where, "this state is given twice")
		}
		seen[v] = true
		q.count = append(q.count, v)
	}
	if w, ok := f["weights"]; ok {
		var err error
		if q.weights, err = w.floats(); err != nil {
			return nil, err
		}
	}
	return q, nil
}

func parseState(n node, file *ModelFile) (int, error) {
	name, ok := n.value.(string)
	if !ok {
		v, err := n.int()
		if err != nil {
			return 0, n.wrong("the name or the number of a state")
		}
		return v, nil
	}
	v := slices.Index(file.States, name)
	if v < 0 {
		if file.States == nil {
			return 0, &noren.Error{
				Kind: noren.Usage, Where: n.where, What: "the model's file names no states",
				Hint: `give the state's number, or add "states" to the model`,
			}
		}
		return 0, noren.Usagef(n.where, "the model has no state of this name")
	}
	return v, nil
}
