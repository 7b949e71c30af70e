package service

import (
	"context"
	"encoding/binary"
	"errors"
	"io/fs"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/ledger"
	"github.com/noren-privacy/noren/noise"
	"github.com/noren-privacy/noren/release"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/file"
	"github.com/noren-privacy/noren/table/parquetio"
)

// openSet is an open data set; its ledger is nil when unaccounted.
type openSet struct {
	*release.Dataset
	ledger *ledger.Ledger
	reach  []*ledger.Ledger // those that may know a file
	kept   bool             // they stay open
}

func (a *openSet) close() {
	if a.kept {
		return
	}
	for _, l := range a.reach {
		_ = l.Close()
	}
}

func (a *openSet) neighbours() account.Neighbours { return a.Definition.Relation() }

// records is the public number of records: what the request states, by default the
// definition's. Under add-remove neighbours it is not public.
func (a *openSet) records(stated int) (int, error) {
	have := int(a.Definition.Records)
	switch {
	case stated == 0 || stated == have:
		return have, nil
	case have == 0:
		return 0, noren.Usagef("records", "the number of records is not public where neighbours are %s of one %s", a.neighbours(),
			noren.UnitName(a.Definition.Unit)).Hinted("leave it out").Coded("records")
	}
	return 0, noren.Usagef("records", "expected %d, the number of the schema, got %d", have, stated).Hinted("leave it out").Coded("records")
}

// rowsKey is the secret by which the records of one person are picked.
func (a *openSet) rowsKey() ([]byte, error) {
	if a.ledger != nil {
		return a.ledger.Key("noren.query.rows"), nil
	}
	src := noise.NewSource()
	var key []byte
	for range 4 {
		word, err := src.Uint64()
		if err != nil {
			return nil, &noren.Error{What: "cannot read random bytes", Err: err}
		}
		key = binary.BigEndian.AppendUint64(key, word)
	}
	return key, nil
}

// public refuses inputs, called public, that are private files of a ledger. Texts
// that name no file pass.
func (a *openSet) public(ctx context.Context, paths ...string) error {
	for _, path := range paths {
		if path == "" {
			continue
		}
		for _, l := range a.reach {
			if err := release.Public(ctx, path, l); err != nil {
				return err
			}
		}
	}
	return nil
}

// open finds the data set of that name or file, or makes one of a file that no ledger
// knows. No file of a data set is opened, and everything that states how it is read is
// refused: the grant fixed that.
func (s *Service) open(ctx context.Context, q *api.Ask) (*openSet, error) {
	if q.Dataset == "" {
		return nil, noren.Usagef("dataset", "expected the name of a data set or the path of its file, got an empty text")
	}
	if q.Unaccounted {
		return s.openUnaccounted(ctx, q)
	}
	path := s.ledger()
	if k := s.Kept; k != nil {
		return s.openKept(ctx, k, q)
	}
	l, err := ledger.Open(ctx, path, ledger.Options{Anchor: s.Anchor})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &noren.Error{
			Kind: noren.Refused, Code: "no-ledger", Where: q.Dataset, What: "there is no ledger %s, and so no budget", Args: []any{noren.File(path)},
			Hint: "the steward creates the ledger and grants a budget",
		}
	}
	if err != nil {
		return nil, err
	}
	a := &openSet{ledger: l, reach: []*ledger.Ledger{l}}
	if a.Dataset, err = release.Find(ctx, l, q.Dataset); err == nil {
		err = pinned(q, a)
	}
	if err == nil { // no option replaces the private file or the ledger
		err = atomicfile.Apart([]string{a.Path, path, path + ".head"}, q.Outputs...)
	}
	if err != nil {
		a.close()
		return nil, err
	}
	return a, nil
}

// openKept is open with a ledger that is open already.
func (s *Service) openKept(ctx context.Context, k *Kept, q *api.Ask) (*openSet, error) {
	a := &openSet{ledger: k.ledger, reach: []*ledger.Ledger{k.ledger}, kept: true}
	var err error
	if a.Dataset, err = k.find(ctx, q.Dataset); err == nil {
		err = pinned(q, a)
	}
	if err == nil {
		err = atomicfile.Apart([]string{a.Path, k.path, k.path + ".head"}, q.Outputs...)
	}
	if err != nil {
		return nil, err
	}
	return a, nil
}

// pinned refuses every field that would change how the data set is read.
func pinned(q *api.Ask, a *openSet) error {
	if fields := stated(q); len(fields) > 0 {
		return noren.Usagef(fields[0], "the schema of data set %s is fixed by its grant; nothing was read or charged", a.Name).
			Hinted("leave it out").Coded("schema-pinned")
	}
	if err := unitNamed(q.Unit, a.Definition); err != nil {
		return err
	}
	if q.Unit != "" && q.Unit != a.Definition.Unit {
		return noren.Usagef("unit", "the budget of %s is for one %s, not one %s", a.Name, noren.UnitName(a.Definition.Unit),
			noren.UnitName(q.Unit)).
			Hinted("the unit is fixed by the grant").Coded("schema-pinned")
	}
	return nil
}

// stated names the fields of the request that say how a file is read.
func stated(q *api.Ask) []string {
	var fields []string
	add := func(name string, is bool) {
		if is {
			fields = append(fields, name)
		}
	}
	add("spec", q.SpecFile != "")
	if s := q.Spec; s != nil {
		has := func(is func(c spec.Column) bool) bool {
			for _, c := range s.Columns {
				if is(c) {
					return true
				}
			}
			return false
		}
		add("type", has(func(c spec.Column) bool { return c.Type != "" }))
		add("order", has(func(c spec.Column) bool { return len(c.Order) > 0 }))
		add("format", has(func(c spec.Column) bool { return c.Format != "" }))
		add("missing", len(s.Input.Missing) > 0)
		add("delimiter", s.Input.Delimiter != "")
		add("encoding", s.Input.Encoding != "")
		add("schema", len(fields) == 0 && (len(s.Columns) > 0 || s.Unit != ""))
	}
	add("neighbours", q.Neighbours != "")
	return fields
}

// unitNamed refuses the unit record, where it was stated, for a file with a column of
// that name: a definition would take it for one record, and the steward may mean the
// column.
func unitNamed(stated string, d *dataset.Definition) error {
	if stated != account.Record || d.Column(account.Record) == nil {
		return nil
	}
	return noren.Usagef("unit", "the file has a column named record").Hinted("rename it, or leave the unit out for one record").
		Coded("unit-name")
}

// openUnaccounted makes a data set of a file that no reachable ledger knows.
func (s *Service) openUnaccounted(ctx context.Context, q *api.Ask) (_ *openSet, err error) {
	again := ""
	switch {
	case q.RequestKey != "":
		again = "request-key"
	case q.Reuse:
		again = "reuse"
	}
	if again != "" {
		return nil, noren.Usagef(again, "an unaccounted answer is stored in no ledger, and cannot be asked again").Hinted("leave it out")
	}
	if file.IsParts(q.Dataset) || file.IsDatabase(q.Dataset) {
		return nil, noCopy(q.Dataset)
	}
	a := &openSet{}
	defer func() {
		if err != nil {
			a.close()
		}
	}()
	if a.reach, err = s.reachable(ctx, q.Dataset); err != nil {
		return nil, err
	}
	if err := atomicfile.Apart([]string{q.Dataset}, q.Outputs...); err != nil {
		return nil, err
	}
	if err := s.public(ctx, a, q.SpecFile); err != nil {
		return nil, err
	}
	sheet, err := merged(q)
	if err != nil {
		return nil, err
	}
	o, err := datasetOptions(q)
	if err != nil {
		return nil, err
	}
	// First of all: the header of a private file under the asker's own form, and
	// whether it can be read so, would tell of it.
	if err := release.Unknown(ctx, q.Dataset, dataset.File{Delimiter: sheet.Input.Delimiter, Encoding: sheet.Input.Encoding},
		a.reach); err != nil {
		return nil, err
	}
	d, err := declared(ctx, q.Dataset, sheet, o)
	if err == nil {
		err = unitNamed(q.Unit, d)
	}
	if err != nil {
		return nil, err
	}
	if a.Dataset, err = release.Unaccounted(ctx, q.Dataset, d, a.reach); err != nil {
		return nil, err
	}
	return a, nil
}

// merged is the specification of the request: its file with its schema laid over it.
func merged(q *api.Ask) (*spec.Spec, error) {
	s := &spec.Spec{Version: spec.Version}
	if q.SpecFile != "" {
		var err error
		if s, err = spec.Load(q.SpecFile); err != nil {
			return nil, err
		}
	}
	over := q.Spec
	if over == nil {
		over = &spec.Spec{}
	}
	return s.With(over), nil
}

// datasetOptions are the request's unit and relation of neighbours.
func datasetOptions(q *api.Ask) (o spec.DatasetOptions, err error) {
	o.Unit = q.Unit
	if q.Neighbours != "" {
		o.Neighbours, err = account.ParseNeighbours(q.Neighbours)
	}
	return o, err
}

// declared is the definition of a file for an unaccounted answer. Nothing of it is
// taken from the values: every column must have a declared type.
func declared(ctx context.Context, path string, s *spec.Spec, o spec.DatasetOptions) (*dataset.Definition, error) {
	form, err := s.StrictForm()
	if err != nil {
		return nil, err
	}
	if form.Delimiter == 0 {
		form.Delimiter = ','
	}
	if form.Encoding == csvio.AnyEncoding {
		form.Encoding = csvio.UTF8
	}
	src, err := file.Open(ctx, path, form)
	if err != nil {
		return nil, err
	}
	defer func() { _ = src.Close() }()
	switch src.(type) {
	case *csvio.Source, *parquetio.Source:
	default:
		return nil, noCopy(table.PlaceOf(src))
	}
	o.Strict = true
	d, _, err := s.Definition(ctx, src, o)
	return d, err
}

// noCopy refuses an unaccounted answer about a table that only a grant can copy.
func noCopy(where any) error {
	return noren.Usagef(where, "answers are about a CSV or Parquet file, or a data set of the ledger").Coded("no-copy")
}
