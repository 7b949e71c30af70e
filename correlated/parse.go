package correlated

import (
	"errors"
	"io"

	"github.com/noren-privacy/noren"
)

// ModelFile is a model with what its file says about it.
type ModelFile struct {
	Model Model
	// States names the states of all records, where the file does.
	States []string
	// Source says where the model came from: public statistics, older data,
	// an assumption. It goes into guarantees.
	Source string
}

// ParseModel reads a model in JSON; name is the file's, for errors. The forms
// are
//
//	{"type":"table","shape":[2,2],"p":[0.49,0.01,0.01,0.49]}
//	{"type":"chain","init":[0.5,0.5],"P":[[[0.9,0.1],[0.1,0.9]], ..]}
//	{"type":"chain","init":[0.5,0.5],"P":[[0.9,0.1],[0.1,0.9]],"length":1440}
//	{"type":"tree","parent":[-1,0,0],"prior":[0.9,0.1],"cpt":[null,[[..],[..]],[[..],[..]]]}
//	{"type":"class","members":[{..},{..}]}
//	{"type":"box","centre":{..},"low":[[..],[..]],"high":[[..],[..]]}
//
// with the meaning of [NewJointTable], [NewChain], [NewHomogeneousChain], [NewTree],
// [NewClass] and [NewBox]. A tree's "cpt" may be one matrix for all records
// with a parent, and "low" and "high" one for all steps. The outermost object
// may have "states", the names of the states, and "source", where the model
// came from.
//
// Errors are of kind Usage and name the entry that is wrong.
func ParseModel(r io.Reader, name string) (*ModelFile, error) {
	return newModel().parse(r, name)
}

// ParseGranted is ParseModel for a model that a ledger holds. It may have 16,777,216 records, the
// limit of earlier versions: what was granted stays usable.
func ParseGranted(r io.Reader, name string) (*ModelFile, error) {
	return limits{maxGranted, maxGranted}.parse(r, name)
}

func (l limits) parse(r io.Reader, name string) (*ModelFile, error) {
	n, err := readJSON(r, name)
	if err != nil {
		return nil, err
	}
	f, err := l.parseModelFile(n)
	if err != nil {
		return nil, inFile(name, err)
	}
	return f, nil
}

func (l limits) parseModelFile(n node) (*ModelFile, error) {
	f := &ModelFile{}
	o, ok := n.value.(object)
	if !ok {
		return nil, n.wrong("an object")
	}
	var err error
	if v, ok := o["source"]; ok {
		if f.Source, err = (node{"source", v}).text(); err != nil {
			return nil, err
		}
		delete(o, "source")
	}
	if v, ok := o["states"]; ok {
		list, err := (node{"states", v}).list()
		if err != nil {
			return nil, err
		}
		seen := map[string]bool{}
		for _, e := range list {
			s, err := e.text()
			if err != nil {
				return nil, err
			}
			if seen[s] {
				return nil, noren.Usagef(e.where, "this state is given twice")
			}
			seen[s] = true
			f.States = append(f.States, s)
		}
		delete(o, "states")
	}
	if f.Model, err = l.parseModel(n); err != nil {
		return nil, err
	}
	if f.States != nil {
		for i := range f.Model.Records() {
			if k := f.Model.States(i); k != len(f.States) {
				return nil, noren.Usagef("states", "record %d has %d {state|states}, and here {3|is|are} %d {name|names}", i, k, len(f.States))
			}
		}
	}
	return f, nil
}

func (l limits) parseModel(n node) (Model, error) {
	o, ok := n.value.(object)
	if !ok {
		return nil, n.wrong("an object")
	}
	kind, ok := o["type"].(string)
	if !ok {
		return nil, &noren.Error{
			Kind: noren.Usage, Where: join(n.where, "type"), What: "the model needs a type",
			Hint: "types are table, chain, tree, class and box",
		}
	}
	parsers := map[string]func(node) (Model, error){
		"table": l.parseTable, "chain": l.parseChain, "tree": l.parseTree, "class": l.parseClass,
		"box": l.parseBox,
	}
	parse, ok := parsers[kind]
	if !ok {
		return nil, &noren.Error{
			Kind: noren.Usage, Where: join(n.where, "type"), What: "there is no such type of model",
			Hint: "types are table, chain, tree, class and box",
		}
	}
	m, err := parse(n)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// within puts the place of a part before the place in an error of its
// constructor.
func within(where string, err error) error {
	var e *noren.Error
	if where == "" || !errors.As(err, &e) {
		return err
	}
	c := *e
	c.Where = where
	if inner := e.Place(); inner != "" {
		c.Where = where + "." + inner
	}
	return &c
}

func (l limits) parseTable(n node) (Model, error) {
	f, err := n.object("type", "shape", "p")
	if err != nil {
		return nil, err
	}
	shape, err := n.need(f, "shape")
	if err != nil {
		return nil, err
	}
	k, err := shape.ints()
	if err != nil {
		return nil, err
	}
	entries, err := n.need(f, "p")
	if err != nil {
		return nil, err
	}
	p, err := entries.floats()
	if err != nil {
		return nil, err
	}
	t, err := l.joint(k, p)
	if err != nil {
		return nil, within(n.where, err)
	}
	return t, nil
}

func (l limits) parseChain(n node) (Model, error) {
	f, err := n.object("type", "init", "P", "length")
	if err != nil {
		return nil, err
	}
	first, err := n.need(f, "init")
	if err != nil {
		return nil, err
	}
	init, err := first.floats()
	if err != nil {
		return nil, err
	}
	length, hasLength := f["length"]
	steps, ok := f["P"]
	if !ok && !hasLength {
		return nil, noren.Usagef(n.where, "the field %q is missing", "P")
	}
	var c *Chain
	if !hasLength {
		if steps.depth() == 2 && len(steps.value.([]any)) > 0 {
			return nil, &noren.Error{
				Kind: noren.Usage, Where: steps.where, What: "this is one matrix, and the number of records is missing",
				Hint: `give "length", or a list of one matrix a step`,
			}
		}
		list, err := steps.list()
		if err != nil {
			return nil, err
		}
		matrices := make([][][]float64, len(list))
		for i, m := range list {
			if matrices[i], err = m.matrix(); err != nil {
				return nil, err
			}
		}
		c, err = l.chain(init, matrices)
		if err != nil {
			return nil, within(n.where, err)
		}
		return c, nil
	}
	count, err := length.int()
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, noren.Usagef(n.where, "the field %q is missing", "P")
	}
	m, err := steps.matrix()
	if err != nil {
		return nil, err
	}
	c, err = l.homogeneous(init, m, count)
	if err != nil {
		return nil, within(n.where, err)
	}
	return c, nil
}

func (l limits) parseTree(n node) (Model, error) {
	f, err := n.object("type", "parent", "prior", "cpt")
	if err != nil {
		return nil, err
	}
	parents, err := n.need(f, "parent")
	if err != nil {
		return nil, err
	}
	parent, err := parents.ints()
	if err != nil {
		return nil, err
	}
	var prior []float64
	if p, ok := f["prior"]; ok {
		if prior, err = p.floats(); err != nil {
			return nil, err
		}
	}
	tables, err := n.need(f, "cpt")
	if err != nil {
		return nil, err
	}
	cpt, alone, err := tables.matrices()
	if err != nil {
		return nil, err
	}
	if alone {
		one := cpt[0]
		cpt = make([][][]float64, len(parent))
		for i, p := range parent {
			if p >= 0 {
				cpt[i] = one
			}
		}
	}
	t, err := l.tree(parent, prior, cpt)
	if err != nil {
		return nil, within(n.where, err)
	}
	return t, nil
}

func (l limits) parseClass(n node) (Model, error) {
	f, err := n.object("type", "members")
	if err != nil {
		return nil, err
	}
	members, err := n.need(f, "members")
	if err != nil {
		return nil, err
	}
	list, err := members.list()
	if err != nil {
		return nil, err
	}
	all, total := make([]Model, len(list)), 0
	for i, m := range list {
		if all[i], err = l.parseModel(m); err != nil {
			return nil, err
		}
		if err := within(m.where, l.count(&total, all[i])); err != nil {
			return nil, err
		}
	}
	c, err := l.class(all)
	if err != nil {
		return nil, within(n.where, err)
	}
	return c, nil
}

func (l limits) parseBox(n node) (Model, error) {
	f, err := n.object("type", "centre", "low", "high")
	if err != nil {
		return nil, err
	}
	c, err := n.need(f, "centre")
	if err != nil {
		return nil, err
	}
	centre, err := l.parseModel(c)
	if err != nil {
		return nil, err
	}
	var bounds [2][][][]float64
	for i, name := range [...]string{"low", "high"} {
		b, err := n.need(f, name)
		if err != nil {
			return nil, err
		}
		if bounds[i], _, err = b.matrices(); err != nil {
			return nil, err
		}
	}
	b, err := NewBox(centre, bounds[0], bounds[1])
	if err != nil {
		return nil, within(n.where, err)
	}
	return b, nil
}
