package query

import (
	"errors"
	"slices"

	"github.com/noren-privacy/noren"
)

// Texts are the public parts of a query as texts, written as the column writes its
// values. [Options.Read] types them.
type Texts struct {
	// Bounds are the smallest and the largest value that counts, two texts. Default to
	// those of the description.
	Bounds []string
	// Bins are the edges of a histogram of a number column.
	Bins []string
	// Values are the bins of a histogram of a category or ordered column. Default to
	// those of the description, where there are no Bins.
	Values []string
	// Keys holds a list of public values for each column of By; all combinations are
	// answered. Columns without one default to the values of the description. A
	// histogram without By takes one list as its Values.
	Keys [][]string
	// Groups are the keys of groups themselves, instead of Keys.
	Groups [][]string
}

// Described is the public description of a column in the definition of a data set.
type Described struct {
	Bounds []string // none or two
	Values []string // keys or levels
}

// Read types texts by the fields of o, and sets Keys, Bounds, Bins and Values of o.
// Kind, Fields, Column and By of o must be set. describe gives the description of a
// column; it must know every column of o.Fields. Names that o.Fields does not have are
// left to [New]. Error: [noren.Usage].
func (o *Options) Read(t Texts, describe func(column string) Described) error {
	first, second := o.readGroups(t, describe), o.readRanges(t, describe)
	switch {
	case second == nil:
		return first
	case first == nil:
		return second
	}
	return errors.Join(first, second)
}

// has reports whether the table has that column.
func (o *Options) has(name string) bool {
	_, err := findField(o.Fields, "", name)
	return err == nil
}

// keysAreBins says that Keys lists the bins of a histogram of categories: there are no
// groups that it could list.
func (o *Options) keysAreBins(t Texts) bool {
	return o.Kind == Histogram && len(o.By) == 0 && len(t.Keys) == 1 && len(t.Values) == 0 && len(t.Bins) == 0
}

func (o *Options) readGroups(t Texts, describe func(string) Described) error {
	switch {
	case len(o.By) == 0:
		if len(t.Keys) > 0 && !o.keysAreBins(t) || t.Groups != nil {
			return noren.Usagef("by", "expected the columns that the keys are of")
		}
		return nil
	case t.Groups != nil && len(t.Keys) > 0:
		return noren.Usagef("keys", "expected keys or a file of keys, got both")
	case t.Groups != nil:
		o.Keys = t.Groups
		return nil
	case len(t.Keys) > len(o.By):
		return noren.Usagef("keys", "%d {list|lists} of keys for %d {column|columns}", len(t.Keys), len(o.By))
	}
	groups := [][]string{nil}
	for j, column := range o.By {
		if !o.has(column) {
			return nil // New says what is missing
		}
		values := describe(column).Values
		if j < len(t.Keys) {
			values = t.Keys[j]
		}
		if len(values) == 0 {
			return noren.Usagef("keys", "expected a public list of the values of column %s: a list that was read from the data would reveal who "+
				"is in it", column).Hinted("list the values, or state keys of the column in the schema")
		}
		if len(groups) > maxGroups/len(values) {
			return noren.Usagef("keys", "more than %d keys", maxGroups)
		}
		var next [][]string
		for _, g := range groups {
			for _, v := range values {
				next = append(next, append(slices.Clone(g), v))
			}
		}
		groups = next
	}
	o.Keys = groups
	return nil
}

// readRanges reads bounds, bins and values, written as the column writes its own.
func (o *Options) readRanges(t Texts, describe func(string) Described) error {
	if !o.has(o.Column) {
		return nil // New says what is missing
	}
	field, err := findField(o.Fields, "", o.Column)
	if err != nil {
		return err
	}
	parse := func(where string, texts []string) ([]float64, error) {
		var out []float64
		for _, text := range texts {
			v, err := ParseBound(*field, text)
			if err != nil {
				return nil, &noren.Error{Kind: noren.Usage, Where: where, Err: err}
			}
			out = append(out, v)
		}
		return out, nil
	}
	d := describe(o.Column)
	bounds := d.Bounds
	if len(t.Bounds) > 0 {
		bounds = t.Bounds
	}
	if len(bounds) > 0 && o.Kind != Histogram {
		v, err := parse("bounds", bounds)
		if err != nil {
			return err
		}
		if len(v) != 2 {
			return noren.Usagef("bounds", "expected LO,HI, found %d {value|values}", len(v)).Hinted("for instance 0,120")
		}
		o.Bounds = &Bounds{Lo: v[0], Hi: v[1]}
	}
	if len(t.Bins) > 0 {
		if o.Bins, err = parse("bins", t.Bins); err != nil {
			return err
		}
	}
	o.Values = t.Values
	if o.keysAreBins(t) {
		o.Values = t.Keys[0]
	}
	if o.Kind == Histogram && len(o.Values) == 0 && len(o.Bins) == 0 {
		o.Values = d.Values
	}
	return nil
}
