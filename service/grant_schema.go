package service

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/correlated"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/file"
)

// spec is what the request states of the columns. Without a specification from a file
// it is laid over the schema that is pinned.
func (g *grant) spec(pinned *dataset.Definition) *spec.Spec {
	s := g.table.Spec
	if s == nil {
		s = &spec.Spec{Version: spec.Version}
	}
	switch {
	case g.stated != nil:
		return g.stated.With(s)
	case pinned == nil:
		return s
	}
	return s.Over(pinned)
}

// definition is what the request states of the file, with types proposed where it
// states none. What it does not state stays as granted before.
func (g *grant) definition(ctx context.Context) (*dataset.Definition, error) {
	var pinned *dataset.Definition
	if g.book != nil && g.book.Version > 0 {
		var err error
		if pinned, err = dataset.Parse(g.book.Definition); err != nil {
			return nil, err
		}
	}
	s := *g.spec(pinned)
	o, err := g.options(&s, pinned)
	if err != nil {
		return nil, err
	}
	stated := g.table.Unit
	if stated == "" && s.Unit != "" && (g.book == nil || g.table.Replace) {
		stated = s.Unit // persons, as in releases by the same specification
		o.Unit = stated
	}
	o.Sharded = g.sharded
	if g.copied {
		s.Input = spec.Input{Missing: s.Input.Missing} // the copy is read as it is
	}
	src, err := g.open(ctx, &s)
	if err != nil {
		return nil, err
	}
	defer func() { _ = src.Close() }()
	d, proposed, err := s.Definition(ctx, src, *o)
	if err == nil {
		err = unitNamed(stated, d)
	}
	g.proposed = proposed
	g.missing = err == nil && s.Name() == "" && s.Input.Missing == nil && len(d.Missing) > 0
	return d, err
}

// open opens the file in the strict form. A first line that looks like a record is
// refused unless the request says that it holds names: a record must not become part
// of a public schema.
func (g *grant) open(ctx context.Context, s *spec.Spec) (file.Source, error) {
	in, err := s.StrictForm()
	if err != nil {
		return nil, err
	}
	if s.Input.Header == nil {
		in.Header = csvio.HeaderChecked
	}
	src, err := file.Open(ctx, g.path, in)
	var e *noren.Error
	if noren.CodeOf(err) == csvio.FirstLineCode && errors.As(err, &e) {
		return nil, &noren.Error{
			Kind: e.Kind, Code: e.Code, Where: e.Where, What: e.What,
			Hint: "add a first line with the names of the columns, which will be public, or state that these are names",
		}
	}
	return src, err
}

// options are the parts of a definition that no column states.
func (g *grant) options(s *spec.Spec, pinned *dataset.Definition) (*spec.DatasetOptions, error) {
	t := &g.table
	o := &spec.DatasetOptions{Unit: t.Unit, AtMost: t.AtMost, Records: t.Records, Progress: g.service.Progress}
	if g.book != nil {
		o.Neighbours = g.book.Neighbours
		if o.Unit == "" {
			o.Unit = g.book.Unit
		}
	}
	var err error
	if t.Neighbours != "" {
		if o.Neighbours, err = account.ParseNeighbours(t.Neighbours); err != nil {
			return nil, &noren.Error{Kind: noren.KindOf(err), Where: "neighbours", Err: err}
		}
	}
	if o.Model, err = modelOf(t.Model); err != nil {
		return nil, err
	}
	if pinned != nil {
		if o.Model == nil && (!t.Replace || s.Name() == "") {
			o.Model = pinned.Model
		}
		same := o.Neighbours == pinned.Relation() && o.Unit == pinned.Unit
		if same && !t.Replace && o.Records == 0 {
			o.Records = pinned.Records
		}
		if same && o.AtMost == 0 && pinned.Records == 0 {
			o.AtMost = pinned.AtMost
		}
	}
	if o.Model != nil && o.Records == 0 {
		m, err := correlated.ParseGranted(bytes.NewReader(o.Model.Distribution), "model") // [release.ConfirmGrant] looks at what is new
		if err != nil {
			return nil, err
		}
		o.Records = int64(m.Model.Records())
	}
	return o, nil
}

// modelOf reads the model of a request; nil where there is none.
func modelOf(m *api.GrantModel) (*dataset.Model, error) {
	if m == nil {
		return nil, nil
	}
	if len(m.Distribution) == 0 {
		return nil, noren.Usagef("model", "say which model the column follows")
	}
	if m.Column == "" {
		return nil, noren.Usagef("model-column", "say which column holds the states of the model")
	}
	name := m.Name
	if name == "" {
		name = "model"
	}
	parsed, err := correlated.ParseModel(bytes.NewReader(m.Distribution), name)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(parsed)
	if err != nil {
		return nil, &noren.Error{Kind: noren.KindOf(err), Where: noren.File(name), Err: err}
	}
	return &dataset.Model{Column: m.Column, States: parsed.StateNames(), Other: m.Other, Distribution: text}, nil
}
