package cli

import (
	"fmt"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/query"
	"github.com/noren-privacy/noren/table"
)

// groups are the public keys: of --keys-file, of --keys (all combinations), or
// of the definition.
func (f *queryFlags) groups(d *dataset.Definition) ([][]string, error) {
	if len(f.by) == 0 {
		if len(f.keys) > 0 && !f.keysAreBins() || f.keysFile != "" {
			return nil, &noren.Error{Kind: noren.Usage, Where: "--keys", What: "goes with --by"}
		}
		return nil, nil
	}
	if f.keysFile != "" {
		if len(f.keys) > 0 {
			return nil, &noren.Error{Kind: noren.Usage, Where: "--keys", What: "goes without --keys-file"}
		}
		return readKeys(f.keysFile, f.by)
	}
	if len(f.keys) > len(f.by) {
		return nil, &noren.Error{Kind: noren.Usage, Where: "--keys", What: fmt.Sprintf("%d lists of keys for %d columns of --by", len(f.keys), len(f.by))}
	}
	groups := [][]string{nil}
	for j, column := range f.by {
		if d.Column(column) == nil {
			return nil, nil // what is missing is said by query.New
		}
		values := publicValues(d.Column(column))
		if j < len(f.keys) {
			values = splitList(f.keys[j])
		}
		if len(values) == 0 {
			return nil, &noren.Error{
				Kind: noren.Usage, Where: "--by " + column, What: "say which values it may have: a list that was read from the data would tell who is in it",
				Hint: "--keys VALUE,VALUE, or keys of the column in the schema",
			}
		}
		var next [][]string
		for _, g := range groups {
			for _, v := range values {
				next = append(next, append(slices.Clone(g), v))
			}
		}
		groups = next
	}
	return groups, nil
}

// readKeys reads the groups of a CSV file whose header names the columns.
func readKeys(path string, by []string) ([][]string, error) {
	text, _, err := readSide(path, "the keys", "does the file exist?")
	if err != nil {
		return nil, err
	}
	r, _ := sideRows(text)
	rows, err := r.ReadAll()
	if err != nil || len(rows) < 2 {
		return nil, &noren.Error{Kind: noren.BadData, Where: path, What: "the keys cannot be read", Hint: "a CSV file whose header names the columns of --by, and a line for each group"}
	}
	at := make([]int, len(by))
	for j, name := range by {
		if at[j] = slices.Index(rows[0], name); at[j] < 0 {
			return nil, &noren.Error{Kind: noren.BadData, Where: path, What: fmt.Sprintf("its header has no column %q", name)}
		}
	}
	groups := make([][]string, len(rows)-1)
	for i, row := range rows[1:] {
		for _, j := range at {
			groups[i] = append(groups[i], row[j])
		}
	}
	return groups, nil
}

// keysAreBins tells that --keys lists the bins of a histogram of words: there
// are no groups that it could list.
func (f *queryFlags) keysAreBins() bool {
	return f.kind == query.Histogram && len(f.by) == 0 && len(f.keys) == 1 && len(f.values) == 0 && f.bins == ""
}

// ranges reads bounds, bins and values, written as the column writes its own.
func (f *queryFlags) ranges(d *dataset.Definition, o *query.Options) error {
	at := slices.IndexFunc(o.Fields, func(x table.Field) bool { return x.Name == f.column })
	if at < 0 {
		return nil // what is missing is said by query.New
	}
	field := o.Fields[at]
	parse := func(flag string, texts []string) ([]float64, error) {
		var out []float64
		for _, text := range texts {
			v, err := query.ParseBound(field, text)
			if err != nil {
				return nil, &noren.Error{Kind: noren.Usage, Where: flag, Err: err}
			}
			out = append(out, v)
		}
		return out, nil
	}
	c := d.Column(f.column)
	bounds := c.Bounds
	if f.bounds != "" {
		bounds = splitList(f.bounds)
	}
	if len(bounds) > 0 && f.kind != query.Histogram {
		v, err := parse("--bounds", bounds)
		if err != nil {
			return err
		}
		if len(v) != 2 {
			return &noren.Error{Kind: noren.Usage, Where: "--bounds", What: fmt.Sprintf("expected LO,HI, found %d values", len(v)), Hint: "for instance --bounds 0,120"}
		}
		o.Bounds = &query.Bounds{Lo: v[0], Hi: v[1]}
	}
	if f.bins != "" {
		v, err := parse("--bins", splitList(f.bins))
		if err != nil {
			return err
		}
		o.Bins = v
	}
	if f.keysAreBins() {
		o.Values = splitList(f.keys[0])
	}
	if f.kind == query.Histogram && len(o.Values) == 0 && len(o.Bins) == 0 {
		o.Values = publicValues(c)
	}
	return nil
}

// publicValues are the values that a definition lists for a column.
func publicValues(c *dataset.Column) []string {
	switch {
	case c == nil:
		return nil
	case len(c.Keys) > 0:
		return c.Keys
	}
	return c.Levels
}
