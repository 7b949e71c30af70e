package service

import (
	"context"
	"reflect"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/query"
	"github.com/noren-privacy/noren/ratio"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/axis"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/file"
)

// ratioSpace is a public table as points of a space of columns.
type ratioSpace struct {
	source  file.Source
	table   *table.Table
	frame   *ratio.Frame
	points  *ratio.Points
	missing []string
	public  ratio.PublicTable
	path    string
}

func (v *ratioSpace) close() {
	if v != nil && v.source != nil {
		_ = v.source.Close()
	}
}

// openSpace reads the public table as schema reads the private one, and maps it to points.
// reserved is a column that the table must not have. The caller closes the space.
func (s *Service) openSpace(ctx context.Context, q *api.RatioSpace, schema *dataset.Definition, reserved string) (_ *ratioSpace,
	err error,
) {
	v := &ratioSpace{missing: schema.Missing, path: q.Public}
	defer func() {
		if err != nil {
			v.close()
		}
	}()
	o, err := publicForm(q.PublicDelimiter, q.PublicEncoding)
	if err != nil {
		return nil, err
	}
	if v.source, err = file.Open(ctx, q.Public, o); err != nil {
		return nil, err
	}
	if v.public, err = publicTable(ctx, q.Public, v.source); err != nil {
		return nil, err
	}
	for _, c := range v.source.Columns() {
		if reserved != "" && c.Name == reserved {
			return nil, noren.Usagef(q.Public, "has a column %q already", reserved).Hinted("give the column of the weights another name")
		}
	}
	fields := make([]table.Field, len(q.Columns))
	for j, name := range q.Columns {
		if fields[j], err = schema.Field(name); err != nil {
			return nil, inField("columns", err)
		}
	}
	if v.table, err = table.Read(ctx, v.source, fields, table.ReadOptions{Missing: v.missing, Progress: s.Progress}); err != nil {
		return nil, err
	}
	axes, err := ratioAxes(q, v.table, schema)
	if err != nil {
		return nil, err
	}
	if v.frame, err = ratio.NewFrame(axes); err != nil {
		return nil, err
	}
	if v.points, err = v.frame.Points(v.table); err != nil {
		return nil, err
	}
	return v, v.unchanged(ctx)
}

// unchanged makes sure that what was read so far is the table that is stated. A table of a
// database was copied when it was opened.
func (v *ratioSpace) unchanged(ctx context.Context) error {
	if file.IsDatabase(v.path) {
		return nil
	}
	now, err := publicTable(ctx, v.path, v.source)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(now, v.public) {
		return &noren.Error{
			Kind: noren.BadData, Where: noren.File(v.path), What: "the public table changed while it was read",
			Hint: "start again when no program writes to it",
		}
	}
	return nil
}

// publicForm says how a public text file is written.
func publicForm(delimiter, encoding string) (o file.Options, err error) {
	if o.Delimiter, err = csvio.ParseDelimiter(delimiter); err != nil {
		return o, inField("public-delimiter", err)
	}
	if o.Encoding, err = csvio.ParseEncoding(encoding); err != nil {
		return o, inField("public-encoding", err)
	}
	o.Plain = true
	return o, spec.StrictEncoding("public-encoding", o.Encoding)
}

// ratioAxes are the columns of the public table as axes, with what the request and the
// schema state about them.
func ratioAxes(q *api.RatioSpace, public *table.Table, schema *dataset.Definition) ([]axis.Axis, error) {
	scales, err := readScales(q.PublicScale)
	if err != nil {
		return nil, err
	}
	for where, stated := range map[string]map[string][]string{"bounds": q.Bounds, "categories": q.Categories} {
		for name := range stated {
			if !slices.Contains(q.Columns, name) {
				return nil, noren.Usagef(where, "column %q is not among the columns of the space", name)
			}
		}
	}
	axes := make([]axis.Axis, len(q.Columns))
	for j, name := range q.Columns {
		a := axis.Axis{Field: public.Columns[j].Field, Scale: scales[name].Unit}
		number := a.Field.Type != table.Category
		bounds, bounded := q.Bounds[name]
		switch stated := schema.Column(name).Bounds; {
		case bounded && !number:
			return nil, noren.Usagef("bounds", "column %s: expected a column of numbers, got one of categories", name).
				Hinted("list its categories instead; its type is that of the schema")
		case bounded:
			if err := parseRatioBounds(&a, bounds, "bounds"); err != nil {
				return nil, err
			}
		case number && scales[name].Bounded:
			a.Low, a.High = scales[name].Low, scales[name].High
		case number && len(stated) == 2:
			if err := parseRatioBounds(&a, stated, noren.Textf("column %s", name)); err != nil {
				return nil, err
			}
		}
		if list, given := q.Categories[name]; given {
			if number {
				return nil, noren.Usagef("categories", "column %s: expected a column of categories, got one of numbers", name).
					Hinted("state its bounds instead; its type is that of the schema")
			}
			a.Categories = list
		}
		if a.Low == 0 && a.High == 0 && a.Categories == nil {
			own, err := ratio.PublicAxes(public, name)
			if err != nil {
				return nil, err
			}
			a.Low, a.High, a.Categories = own[0].Low, own[0].High, own[0].Categories
		}
		axes[j] = a
	}
	return axes, nil
}

func parseRatioBounds(a *axis.Axis, ends []string, where any) (err error) {
	if len(ends) != 2 {
		return noren.Usagef(where, "column %s: expected the smallest and the largest value, got %d {value|values}", a.Field.Name, len(ends))
	}
	if a.Low, err = query.ParseBound(a.Field, ends[0]); err != nil {
		return inField(where, err)
	}
	if a.High, err = query.ParseBound(a.Field, ends[1]); err != nil {
		return inField(where, err)
	}
	return nil
}

// inField is an error about a field of a request.
func inField(name any, err error) error {
	return &noren.Error{Kind: noren.KindOf(err), Code: noren.CodeOf(err), Where: name, Err: err}
}
