package spec

import (
	"slices"
	"sort"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter"
	"github.com/noren-privacy/noren/table"
)

// Resolve lays the specification over the columns of a file and returns a
// field for each of them, in file order. Columns that it does not name are
// kept (role other); the unit is an identifier unless it says otherwise. infer gives the type of the columns whose type is not
// said and matters (quasi-identifiers and sensitive ones); it is called once,
// with their positions, and may be nil when none can be missing. hierarchy
// loads a hierarchy file. All faults are reported at once.
func (s *Spec) Resolve(
	columns []table.StoredColumn,
	infer func(columns []int) ([]table.Field, error),
	hierarchy func(path string) (*table.Hierarchy, error),
) (*table.Schema, error) {
	var faults []*noren.Error
	var refused error // a hierarchy that exceeds a limit, which no other fault is to hide
	report := func(e *noren.Error) {
		faults = append(faults, e)
		if refused == nil && meter.Refused(e) != nil {
			refused = e
		}
	}
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	confirmed := s.Input.Header != nil && !*s.Input.Header || slices.Contains(names, s.Unit)
	for name := range s.Columns {
		confirmed = confirmed || slices.Contains(names, name)
	}
	for _, name := range s.sortedColumns() {
		if !slices.Contains(names, name) {
			report(s.fault("columns."+name, noren.Textf("the file has no such column"), nearest(name, names, confirmed)))
		}
	}
	if s.Unit != "" && !slices.Contains(names, s.Unit) {
		report(s.fault("unit", noren.Textf("the file has no such column"), nearest(s.Unit, names, confirmed)))
	}
	schema := &table.Schema{Fields: make([]table.Field, len(columns))}
	var untyped []int
	for i, stored := range columns {
		f := &schema.Fields[i]
		f.Name = stored.Name
		c, named := s.Columns[stored.Name]
		if stored.Name == s.Unit || stored.Index {
			f.Role = table.Identifier // unless it says otherwise
		}
		if !named {
			continue
		}
		path := "columns." + stored.Name
		if c.Role != "" {
			role, err := table.ParseRole(c.Role)
			if err != nil {
				report(s.fault(path+".role", noren.TextOf(err), noren.Text{}))
			}
			f.Role = role
		}
		typed := s.resolveType(path, c, f, report)
		if !typed && stored.Proposed != nil && len(c.Order) == 0 {
			f.Type, typed = *stored.Proposed, true
		}
		if !typed && (f.Role == table.Quasi || f.Role == table.Sensitive) {
			untyped = append(untyped, i)
		}
		if c.Hierarchy != "" {
			s.resolveHierarchy(path, c, f, hierarchy, report)
		}
	}
	switch {
	case refused != nil:
		return nil, refused
	case len(faults) > 0:
		return nil, all(faults)
	}
	if len(untyped) > 0 && infer != nil {
		found, err := infer(untyped)
		if err != nil {
			return nil, err
		}
		for j, i := range untyped {
			f := &schema.Fields[i]
			f.Type, f.Layout, f.Number, f.Levels = found[j].Type, found[j].Layout, found[j].Number, found[j].Levels
			if f.Hierarchy != nil {
				f.Type, f.Layout, f.Number, f.Levels = table.Category, "", "", nil
			}
		}
	}
	return schema, nil
}

// resolveType fills in what the column says of its type; typed is false when
// it says nothing.
func (s *Spec) resolveType(path string, c Column, f *table.Field, report func(*noren.Error)) (typed bool) {
	f.Round = c.Round
	switch {
	case c.Type != "":
		t, err := table.ParseType(c.Type)
		if err != nil {
			report(s.fault(path+".type", noren.TextOf(err), noren.Text{}))
			return true
		}
		f.Type, typed = t, true
	case len(c.Order) > 0:
		f.Type, typed = table.Ordered, true
	case c.Format != "":
		f.Type, typed = table.Date, true
		if r, err := table.NumberFormat(c.Format).Reader(); err == nil {
			f.Type = table.Decimal
			if r.Whole() {
				f.Type = table.Integer
			}
		}
	case c.Hierarchy != "":
		f.Type, typed = table.Category, true
	}
	if len(c.Order) > 0 {
		if f.Type != table.Ordered {
			report(s.fault(path+".order", noren.Textf("levels go with type ordered, not with %s", f.Type),
				noren.Textf("leave out order, or write type: ordered")))
		}
		f.Levels = c.Order
	} else if f.Type == table.Ordered {
		report(s.fault(path, noren.Textf("an ordered column needs its levels"), noren.Textf("write order: [lowest, ..., highest]")))
	}
	switch {
	case c.Format == "":
	case f.Type == table.Integer || f.Type == table.Decimal:
		f.Number = table.NumberFormat(c.Format)
		if _, err := f.Number.Reader(); err != nil {
			report(s.fault(path+".format", noren.TextOf(err), noren.Text{}))
		}
	default:
		if f.Type != table.Date {
			report(s.fault(path+".format", noren.Textf("a format goes with type date, integer or decimal, not with %s", f.Type), noren.Text{}))
		}
		f.Layout = table.Layout(c.Format)
		if err := f.Layout.Validate(); err != nil {
			report(s.fault(path+".format", noren.TextOf(err), noren.Text{}))
		}
	}
	if c.Round != nil && (*c.Round < -18 || *c.Round > 18) {
		report(s.fault(path+".round", noren.Textf("places must lie in -18..18"), noren.Text{}))
	}
	return typed
}

func (s *Spec) resolveHierarchy(path string, c Column, f *table.Field, load func(string) (*table.Hierarchy, error),
	report func(*noren.Error),
) {
	if f.Type != table.Category {
		report(s.fault(path+".hierarchy", noren.Textf("a hierarchy goes with type category, not with %s", f.Type), noren.Text{}))
		return
	}
	h, err := load(c.Hierarchy)
	if err != nil {
		report(&noren.Error{Kind: noren.KindOf(err), Where: s.at(path + ".hierarchy"), Err: err})
		return
	}
	f.Hierarchy = h
}

func (s *Spec) sortedColumns() []string {
	names := make([]string, 0, len(s.Columns))
	for name := range s.Columns {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// all is the one fault, or a list of several.
func all(faults []*noren.Error) error {
	if len(faults) == 1 {
		one := *faults[0]
		one.Kind = noren.Usage
		return &one
	}
	lines := make(noren.Lines, len(faults))
	for i, fault := range faults {
		lines[i] = noren.TextOf(fault)
	}
	return &noren.Error{Kind: noren.Usage, What: "%d {fault|faults}:\n  %s", Args: []any{len(faults), lines}}
}
