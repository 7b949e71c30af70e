package service

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/ldp/evaluate"
	"github.com/noren-privacy/noren/learn"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
	"github.com/noren-privacy/noren/table/infer"
)

// LDPEvaluate trains models to predict a class on raw, generalised and randomised
// records, and measures each on all three. The result holds figures of the table and is
// private.
func (s *Service) LDPEvaluate(ctx context.Context, r *api.LDPEvaluateRequest) (*api.LDPEvaluate, error) {
	if err := checkEvaluation(r); err != nil {
		return nil, err
	}
	o := evaluate.Options{
		Bins: r.Bins, EqualWidth: r.EqualWidth, Mechanisms: r.Mechanisms, Epsilons: r.Epsilons, PerRecord: r.PerRecord,
		RandomiseLabel: r.RandomiseLabel,
		Select:         r.Select, MaxCategories: r.MaxCategories, Sample: r.Sample, Folds: r.Folds, Repeats: r.Repeats, Seed: r.Seed,
		Models: r.Models,
		SVM:    learn.SVM{C: r.C}, Forest: learn.Forest{Trees: 20, Depth: 5}, Workers: r.Workers, Progress: s.Progress,
	}
	if r.Trees != 0 {
		o.Forest.Trees = r.Trees
	}
	if r.Depth != nil {
		o.Forest.Depth = *r.Depth
	}
	if err := s.readEvaluation(ctx, r, &o); err != nil {
		return nil, err
	}
	result, err := evaluate.Run(ctx, o)
	if err != nil {
		return nil, err
	}
	for _, l := range result.Left {
		s.note(api.Info, "column-left-out", "column %s is left out: %s", l.Name, l.Reason)
	}
	if result.Sampled {
		s.note(api.Info, "sampled", "%d of %d {record|records} {1|was|were} drawn to learn from", result.Records, result.WithClass)
	}
	return &api.LDPEvaluate{Result: result, Private: "do not release", Input: r.Input}, nil
}

// checkEvaluation refuses what no option of package evaluate says.
func checkEvaluation(r *api.LDPEvaluateRequest) error {
	if r.Label == "" {
		return noren.Usagef("label", "expected the column that is to be learned")
	}
	for _, n := range []struct {
		field        string
		value, least int
	}{
		{"bins", r.Bins, 2},
		{"folds", r.Folds, 2},
		{"repeats", r.Repeats, 1},
		{"trees", r.Trees, 1},
		{"select", r.Select, 0},
		{"max-categories", r.MaxCategories, 2},
		{"workers", r.Workers, 0},
	} {
		if n.value < n.least && n.value != 0 {
			return noren.Usagef(n.field, "expected %d or more", n.least)
		}
	}
	if r.Depth != nil && *r.Depth < 0 {
		return noren.Usagef("depth", "expected 0 or more")
	}
	if !(r.C >= 0) {
		return noren.Usagef("svm-c", "expected a number above 0")
	}
	return nil
}

// readEvaluation reads the class and the attributes.
func (s *Service) readEvaluation(ctx context.Context, r *api.LDPEvaluateRequest, o *evaluate.Options) error {
	sp, err := specOf(&r.Table)
	if err != nil {
		return err
	}
	src, err := s.openPlain(ctx, r.Input, sp)
	if err != nil {
		return err
	}
	defer func() { _ = src.Close() }()
	roles, names, err := learnedColumns(r, sp, src)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(r.Bounds)) {
		if !slices.Contains(names, name) {
			return noren.Usagef("bounds", "%s is no column that is learned from", name)
		}
	}
	resolved, err := roles.ResolveSource(ctx, src, s.reading())
	if err != nil {
		return err
	}
	var fields []table.Field
	for _, name := range append([]string{r.Label}, names...) {
		field := resolved.Schema.Fields[resolved.Schema.Index(name)]
		field.Hierarchy, field.Round = nil, nil
		fields = append(fields, field)
	}
	fields[0].Type, fields[0].Levels, fields[0].Layout = table.Category, nil, ""
	if sp.Unit != "" {
		fields = append(fields, table.Field{Name: sp.Unit, Type: table.Category})
	} else {
		s.noteUnit(resolved.Looked)
	}
	read, err := table.Read(ctx, resolved.Source, fields, table.ReadOptions{Missing: resolved.Missing, Progress: s.Progress})
	if err != nil {
		return err
	}
	o.Label = read.Columns[0]
	if sp.Unit != "" {
		o.Unit = read.Columns[len(read.Columns)-1]
	}
	for _, c := range read.Columns[1 : 1+len(names)] {
		a := evaluate.Attribute{Column: c}
		public := sp.Columns[c.Field.Name]
		if c.Field.Type == table.Category {
			a.Keys = public.Keys
		}
		var where any = "bounds"
		var texts []string
		if b, given := r.Bounds[c.Field.Name]; given {
			texts = b[:]
		} else if c.Field.Type.IsNumber() {
			texts, where = public.Bounds, noren.Place{noren.File(sp.Name()), noren.Textf("bounds of %s", c.Field.Name)}
		}
		if len(texts) > 0 {
			if a.Bounds, err = boundsOf(c.Field, texts); err != nil {
				return placed(where, err)
			}
		}
		o.Attributes = append(o.Attributes, a)
	}
	return nil
}

// learnedColumns names the columns to learn from, and returns the specification with
// roles by which their types are inferred.
func learnedColumns(r *api.LDPEvaluateRequest, sp *spec.Spec, src file.Source) (*spec.Spec, []string, error) {
	wanted := append([]string{r.Label}, r.Columns...)
	if sp.Unit != "" {
		if sp.Unit == r.Label || slices.Contains(r.Columns, sp.Unit) {
			return nil, nil, noren.Usagef("unit", "the column that tells persons apart cannot be learned, nor learned from")
		}
		wanted = append(wanted, sp.Unit)
	}
	if _, err := table.Find(src, append(wanted, r.Drop...)); err != nil {
		return nil, nil, err
	}
	out := *sp
	out.Columns = maps.Clone(sp.Columns)
	if out.Columns == nil {
		out.Columns = map[string]spec.Column{}
	}
	var names []string
	for _, stored := range src.Columns() {
		name := stored.Name
		c := out.Columns[name]
		dropped := c.Role == table.Identifier.String() || c.Role == table.Drop.String()
		switch {
		case name == r.Label:
			if slices.Contains(r.Columns, name) || slices.Contains(r.Drop, name) {
				return nil, nil, noren.Usagef("label", "the class cannot be learned from itself, nor be dropped")
			}
			c = spec.Column{Role: table.Sensitive.String()} // its type is inferred only for the texts of missing values
		case slices.Contains(r.Drop, name), name == sp.Unit, len(r.Columns) > 0 && !slices.Contains(r.Columns, name), dropped &&
			len(r.Columns) == 0:
			c.Role = table.Other.String()
		default:
			c.Role, c.Hierarchy = table.Quasi.String(), ""
			names = append(names, name)
		}
		out.Columns[name] = c
	}
	if len(names) == 0 {
		return nil, nil, &noren.Error{Kind: noren.Usage, What: "no column is left to learn from"}
	}
	return &out, names, nil
}

// noteUnit warns of columns that seem to tell persons apart who have several records.
func (s *Service) noteUnit(looked *infer.Report) {
	if looked == nil {
		return
	}
	for i := range looked.Columns {
		if c := &looked.Columns[i]; c.Unit {
			name := c.Field.Name
			s.columnNote(api.Warning, "unit-open", []string{name}, noren.Textf("column %s seems to tell persons apart who have several records: "+
				"without it as the unit, models are tried on other records of persons whom they have seen, and their accuracy is too high", name))
		}
	}
}

// boundsOf reads the two ends of a number or a date.
func boundsOf(f table.Field, texts []string) (*[2]float64, error) {
	bad := &noren.Error{Kind: noren.Usage, What: "expected two ends of column %s, of type %s", Args: []any{f.Name, f.Type}}
	if len(texts) != 2 || !f.Type.IsNumber() {
		return nil, bad
	}
	var b [2]float64
	for i, text := range texts {
		text = strings.TrimSpace(text)
		v, err := strconv.ParseFloat(text, 64)
		if f.Type == table.Date {
			layout := f.Layout
			if layout == "" {
				layout = table.ISODate
			}
			var days int64
			days, err = layout.Parse(text)
			v = float64(days)
		}
		if err != nil {
			return nil, bad
		}
		b[i] = v
	}
	return &b, nil
}
