package correlated

import "github.com/noren-privacy/noren"

// Class is a finite set of distributions of the same records (a credal set), any of
// which may be the true one: a guarantee for a class holds for each of its members.
type Class struct {
	list []Model
}

// NewClass returns the class of the given distributions, which must agree in the number
// of records and their states. Members of a class that is a member count each;
// a box cannot be a member.
func NewClass(members ...Model) (*Class, error) {
	return newModel().class(members)
}

func (l limits) class(members []Model) (*Class, error) {
	c := &Class{}
	total := 0
	for i, m := range members {
		if m == nil {
			return nil, noren.Usagef(index("members", i), "this member is missing")
		}
		if m.Kind() == "box" {
			return nil, noren.Usagef(index("members", i), "a box cannot be a member of a class")
		}
		if err := within(index("members", i), l.count(&total, m)); err != nil {
			return nil, err
		}
		c.list = append(c.list, m.members()...)
	}
	if len(c.list) == 0 {
		return nil, noren.Usagef("members", "a class needs at least one member")
	}
	for i, m := range c.list[1:] {
		if err := sameRecords(c.list[0], m); err != nil {
			return nil, &noren.Error{Kind: noren.Usage, Where: index("members", i+1), Err: err}
		}
	}
	return c, nil
}

// count adds the records of a member to those of a class, which has at most as many in all
// as one model.
func (l limits) count(total *int, m Model) error {
	for _, one := range m.members() {
		*total += one.Records()
	}
	if *total > l.records {
		return noren.Usagef("", "the members of a class have at most %d records in all", l.records)
	}
	return nil
}

func sameRecords(a, b Model) error {
	if a.Records() != b.Records() {
		return noren.Usagef("", "%d {record|records}, where the first member has %d", b.Records(), a.Records())
	}
	for i := range a.Records() {
		if a.States(i) != b.States(i) {
			return noren.Usagef("", "record %d has %d {state|states}, where the first member has %d", i, b.States(i), a.States(i))
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

// Members are the distributions of the class.
func (c *Class) Members() []Model { return append([]Model(nil), c.list...) }
