package cli

import (
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"regexp"
	"slices"

	"noren"
	"noren/internal/spec"
	"noren/query"
	"noren/table"
	"noren/table/file"
)

// fields are the file's columns with their declared types. Nothing is inferred
// from values: a type that were would be an answer. What nobody declares is a
// decimal number where the question needs a number, and words otherwise.
func (f *queryFlags) fields(ctx context.Context, path string, s *spec.Spec) ([]table.Field, error) {
	o, err := inputOptions(s)
	if err != nil {
		return nil, err
	}
	src, err := file.Open(ctx, path, o)
	if err != nil {
		return nil, err
	}
	defer closeSource(src)
	schema, err := s.Resolve(src.Columns(), nil, loadHierarchy)
	if err != nil {
		return nil, err
	}
	numeric := comparedWithNumbers(f.where)
	if f.column != "" && (f.kind != query.Histogram || f.bins != "") {
		numeric[f.column] = true
	}
	for i := range schema.Fields {
		field := &schema.Fields[i]
		c := specOf(s, field.Name)
		declared := c.Type != "" || len(c.Order) > 0 || c.Format != "" || c.Hierarchy != ""
		if proposed := src.Columns()[i].Proposed; proposed != nil && !declared {
			field.Type, declared = *proposed, true // the file declares it
		}
		field.Hierarchy, field.Round = nil, nil
		if declared || !numeric[field.Name] {
			continue
		}
		field.Type = table.Decimal
		if f.column == field.Name && f.looksLikeDates(s) {
			field.Type, field.Layout = table.Date, table.ISODate
		}
	}
	return schema.Fields, nil
}

// looksLikeDates reports whether the bounds or bins are written as dates.
func (f *queryFlags) looksLikeDates(s *spec.Spec) bool {
	texts := specOf(s, f.column).Bounds
	if f.bounds != "" {
		texts = splitList(f.bounds)
	}
	if f.bins != "" {
		texts = splitList(f.bins)
	}
	for _, text := range texts {
		if _, err := table.ISODate.Parse(text); err != nil {
			return false
		}
	}
	return len(texts) > 0
}

var (
	quoted   = regexp.MustCompile(`'[^']*'|"[^"]*"`)
	compared = regexp.MustCompile("(`[^`]+`|[\\pL_][\\pL\\pN_.\\-]*)\\s*(?:=|!=|<=|>=|<|>|(?i:not\\s+)?(?i:in)\\s*\\()\\s*[-+.]?[0-9]")
)

// comparedWithNumbers names the columns that a condition compares with bare
// numbers.
func comparedWithNumbers(where string) map[string]bool {
	names := map[string]bool{}
	for _, m := range compared.FindAllStringSubmatch(quoted.ReplaceAllString(where, "''"), -1) {
		name := m[1]
		if name[0] == '`' {
			name = name[1 : len(name)-1]
		}
		names[name] = true
	}
	return names
}

// groups are the public keys: of --keys-file, of --keys (all combinations), or
// of the specification.
func (f *queryFlags) groups(s *spec.Spec) ([][]string, error) {
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
		c := specOf(s, column)
		values := c.Keys
		if len(values) == 0 {
			values = c.Order
		}
		if j < len(f.keys) {
			values = splitList(f.keys[j])
		}
		if len(values) == 0 {
			return nil, &noren.Error{
				Kind: noren.Usage, Where: "--by " + column, What: "say which values it may have: a list that was read from the data would tell who is in it",
				Hint: "--keys VALUE,VALUE, or keys: of the column in a specification",
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
	in, err := os.Open(path)
	if err != nil {
		return nil, &noren.Error{Kind: noren.Usage, Where: path, What: "the keys cannot be read", Hint: "does the file exist?"}
	}
	defer func() { _ = in.Close() }()
	rows, err := csv.NewReader(in).ReadAll()
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
func (f *queryFlags) ranges(s *spec.Spec, o *query.Options) error {
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
	c := specOf(s, f.column)
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
		if o.Values = c.Keys; len(o.Values) == 0 {
			o.Values = c.Order
		}
	}
	return nil
}
