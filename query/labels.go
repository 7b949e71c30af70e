package query

import (
	"slices"

	"github.com/noren-privacy/noren/table"
)

// Named are the labels of a column that a query names.
type Named struct {
	Column string
	Labels []string
}

// Named are the labels of category and ordered columns that q names: the keys of its groups, the
// bins of its histogram, and the texts in its condition. A missing value is no label.
func (q *Query) Named() []Named {
	var out []Named
	add := func(f *table.Field, label string) {
		if label == "" || f.Type != table.Category && f.Type != table.Ordered {
			return
		}
		at := slices.IndexFunc(out, func(n Named) bool { return n.Column == f.Name })
		if at < 0 {
			at, out = len(out), append(out, Named{Column: f.Name})
		}
		if !slices.Contains(out[at].Labels, label) {
			out[at].Labels = append(out[at].Labels, label)
		}
	}
	for i := range q.groups.fields {
		for _, key := range q.groups.texts {
			add(&q.groups.fields[i], key[i])
		}
	}
	if q.field != nil {
		for _, v := range q.o.Values {
			add(q.field, v)
		}
	}
	if q.predicate != nil {
		q.predicate.root.each(func(n *node) {
			for _, v := range n.values {
				add(&q.predicate.fields[n.field], v.text)
			}
		})
	}
	return out
}

// each calls do for every condition below n.
func (n *node) each(do func(*node)) {
	if n.kind == nodeCompare || n.kind == nodeIn {
		do(n)
	}
	for i := range n.sub {
		n.sub[i].each(do)
	}
}
