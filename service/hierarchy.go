package service

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/hierarchy"
)

// NoteUncovered is the code of the warning that values have no line in a hierarchy.
const NoteUncovered = "hierarchy-uncovered"

// HierarchyPropose proposes a generalisation hierarchy for the values of a column, or for a
// public range without any data. It depends on which values occur, never on how often.
// For a column the result is private: it holds its values. Errors are of kind Usage
// (the request; values of no known kind) or BadData.
func (s *Service) HierarchyPropose(ctx context.Context, r *api.HierarchyProposeRequest) (*api.Hierarchy, error) {
	ranged := r.Low != "" || r.High != ""
	switch {
	case (r.Input == "") == !ranged:
		return nil, noren.Usagef("", "expected either a table or a range").Hinted("name a table and its column, or low and high")
	case (r.Input == "") != (r.Column == ""):
		return nil, noren.Usagef("column", "goes with a table, and a table with it")
	}
	o := hierarchy.Options{Kind: hierarchy.Kind(r.Kind), Steps: r.Steps, Layout: table.Layout(r.Layout)}
	if r.Kind != "" && !slices.Contains(hierarchy.Kinds, o.Kind) {
		return nil, noren.Usagef("kind", "expected one of %v, got %q", hierarchy.Kinds, r.Kind)
	}
	if o.Layout != "" {
		if err := o.Layout.Validate(); err != nil {
			return nil, badField("layout", err)
		}
	}
	if ranged {
		values, err := hierarchy.Range(o.Kind, o.Layout, r.Low, r.High)
		if err != nil {
			return nil, about("range", err)
		}
		p, err := hierarchy.Propose(values, o)
		if err != nil {
			return nil, about("range", err)
		}
		return proposed(p), nil
	}
	c, err := s.readValues(ctx, &r.Table, r.Column)
	if err != nil {
		return nil, err
	}
	p, err := hierarchy.Propose(c.Dict, o)
	if err != nil {
		return nil, about(noren.Place{noren.File(r.Input), noren.Textf("column %s", r.Column)}, err)
	}
	if len(p.Missing) > 0 {
		names := map[string]bool{}
		for _, i := range p.Missing {
			names[c.Dict[i]] = true
		}
		s.columnNote(api.Warning, NoteUncovered, []string{r.Column}, noren.Textf("column %s: %s", r.Column, uncovered(c, names)))
	}
	return proposed(p), nil
}

func proposed(p *hierarchy.Proposal) *api.Hierarchy {
	return &api.Hierarchy{Kind: string(p.Kind), Levels: p.Levels, Rows: p.Rows}
}

// HierarchyCheck checks that a hierarchy file is one and that every value of a column
// has a line in it. Errors name lines of the hierarchy and records of the table, never a
// value. They are of kind BadData where a check fails, and of kind Usage otherwise.
func (s *Service) HierarchyCheck(ctx context.Context, r *api.HierarchyCheckRequest) (*api.HierarchyCheck, error) {
	if r.Column == "" {
		return nil, noren.Usagef("column", "expected a column, got no name")
	}
	h, err := spec.LoadHierarchy(r.Hierarchy, s.tableNotes())
	if err != nil {
		return nil, err
	}
	c, err := s.readValues(ctx, &r.Table, r.Column)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, v := range c.Dict {
		if _, ok := h.Leaf(v); !ok {
			names[v] = true
		}
	}
	if len(names) > 0 {
		what := uncovered(c, names)
		return nil, &noren.Error{
			Kind: noren.BadData, Where: noren.Place{noren.File(r.Input), noren.Textf("column %s", r.Column)},
			What: what.Format, Args: what.Args, Hint: "add their lines to %s", HintArgs: []any{r.Hierarchy},
		}
	}
	return &api.HierarchyCheck{Values: len(c.Dict), Lines: h.Leaves(), Levels: h.Levels()}, nil
}

// HierarchyCover counts the values of a column that have a line in a hierarchy. The
// result is private. Errors are of kind Usage or BadData: the file is no hierarchy, or
// the table cannot be read.
func (s *Service) HierarchyCover(ctx context.Context, r *api.HierarchyCoverRequest) (*api.HierarchyCover, error) {
	if r.Column == "" {
		return nil, noren.Usagef("column", "expected a column, got no name")
	}
	h, err := spec.LoadHierarchy(r.Hierarchy, s.tableNotes())
	if err != nil {
		return nil, err
	}
	c, err := s.readValues(ctx, &r.Table, r.Column)
	if err != nil {
		return nil, err
	}
	out := &api.HierarchyCover{Levels: h.Levels(), Values: len(c.Dict)}
	for _, v := range c.Dict {
		if _, ok := h.Leaf(v); ok {
			out.Covered++
		}
	}
	out.Uncovered = out.Values - out.Covered
	return out, nil
}

// readValues reads a column as texts.
func (s *Service) readValues(ctx context.Context, t *api.Table, column string) (*table.Column, error) {
	sp, err := specOf(t)
	if err != nil {
		return nil, err
	}
	src, err := s.openLooked(ctx, t.Input, sp)
	if err != nil {
		return nil, err
	}
	defer closeTable(src)
	read, err := table.ReadText(ctx, src, []string{column}, table.ReadOptions{Missing: sp.Input.Missing, Progress: s.Progress})
	if err != nil {
		return nil, err
	}
	return read.Columns[0], nil
}

// uncovered says how many values have no line, and in which records they are.
func uncovered(c *table.Column, names map[string]bool) noren.Text {
	const shown = 10
	var first []string
	records := 0
	for i := range c.Len() {
		if c.IsMissing(i) || !names[c.Dict[c.Codes[i]]] {
			continue
		}
		if records++; records <= shown {
			first = append(first, fmt.Sprint(i+1))
		}
	}
	if records > shown {
		first = append(first, "...")
	}
	return noren.Textf("%d {value|values} in %d {record|records} {1|has|have} no line in the hierarchy: {2|record|records} %s", len(names),
		records, strings.Join(first, ", "))
}
