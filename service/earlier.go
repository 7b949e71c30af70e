package service

import (
	"context"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/assess"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/table"
)

// earlier names an earlier release of the same people and its source, and may say what its
// quasi-identifiers are.
type earlier struct {
	release, source string
	quasi           []string
	certificate     string
}

// check refuses one without the other, and both where they cannot be compared.
func (e earlier) check(possible bool, needs noren.Format) error {
	switch {
	case e.release == "" && e.source == "" && len(e.quasi) == 0 && e.certificate == "":
		return nil
	case e.release == "" || e.source == "":
		return noren.Usagef("previous", "an earlier release is compared by its source: expected both, got one of them")
	case len(e.quasi) > 0 && e.certificate != "":
		return noren.Usagef("previous", "expected the quasi-identifiers of the earlier release or its certificate, got both")
	case !possible:
		return noren.Usagef("previous", needs)
	}
	return nil
}

// overlap compares a release, of these classes in the order of its rows, with an
// earlier one.
func (a *assessing) overlap(src table.Source, classes assess.Classes) error {
	if a.earlier.release == "" {
		return nil
	}
	class := a.classOf
	if class == nil {
		class = classes.Of
	}
	own, err := a.allText(a.source)
	if err != nil {
		return err
	}
	if len(class) != own.Rows {
		return &noren.Error{Kind: noren.BadData, Where: table.PlaceOf(src), What: "the release has another number of records than its source"}
	}
	before, err := a.earlierSource()
	if err != nil {
		return err
	}
	placed, names, err := a.placedBefore(before)
	if err != nil {
		return err
	}
	if err := a.compare(own, before, class, placed); err != nil {
		return err
	}
	a.apart(src.Columns(), names)
	return nil
}

// earlierSource is the source of the earlier release. Sheet, header row and query of the
// specification are of the table.
func (a *assessing) earlierSource() (*table.Table, error) {
	like := *a.spec
	like.Input = a.spec.Input.Alike()
	source, err := a.service.openLooked(a.ctx, a.earlier.source, &like)
	if err != nil {
		return nil, err
	}
	defer closeTable(source)
	return a.allText(source)
}

// placed is the class of each record of a source in its release: rows are paired by the
// columns that the release kept.
func (a *assessing) placed(release string, source *table.Table) ([]uint32, error) {
	released, _, err := a.openWritten(release, source)
	if err != nil {
		return nil, err
	}
	defer closeTable(released)
	shown, err := table.ReadText(a.ctx, released, a.result.Quasi, table.ReadOptions{Progress: a.service.Progress})
	if err != nil {
		return nil, err
	}
	classes, err := assess.Classify(shown)
	if err != nil {
		return nil, err
	}
	var kept []string
	for _, c := range released.Columns() {
		if i := a.schema.Index(c.Name); i >= 0 && (a.schema.Fields[i].Role == table.Quasi || a.schema.Fields[i].Role == table.Identifier) {
			continue
		}
		if source.Column(c.Name) != nil {
			kept = append(kept, c.Name)
		}
	}
	rest := &table.Table{Rows: shown.Rows}
	if len(kept) > 0 {
		if rest, err = table.ReadText(a.ctx, released, kept, table.ReadOptions{Missing: a.missing, Progress: a.service.Progress}); err != nil {
			return nil, err
		}
	}
	row, err := assess.PairRows(source, rest)
	if err != nil {
		return nil, about(noren.File(release), err)
	}
	class := make([]uint32, len(row))
	for i, r := range row {
		class[i] = classes[0].Of[r]
	}
	return class, nil
}

// compare counts the candidates that remain to a reader of both releases, given the class
// of each record of each source.
func (a *assessing) compare(own, before *table.Table, now, then []uint32) error {
	first, second := assess.Placed{Class: now}, assess.Placed{Class: then}
	byUnit := a.unit != "" && before.Column(a.unit) != nil
	if byUnit {
		first.Who, second.Who = namesOf(own.Column(a.unit)), namesOf(before.Column(a.unit))
	} else {
		first.Who, second.Who = assess.Identities(own, before)
	}
	for _, p := range []assess.Placed{first, second} {
		for i, c := range p.Class {
			if c == kanon.LeftOut {
				p.Who[i] = "" // in no class of the release
			}
		}
	}
	o, err := assess.NewOverlap(a.ctx, first, second, max(2, a.k))
	if err != nil {
		return err
	}
	o.Release, o.Source = a.earlier.release, a.earlier.source
	if byUnit {
		o.Unit = a.unit
	}
	a.result.Overlap = o
	return nil
}

// Overlap counts the candidates that remain of each person to somebody who holds two
// releases of the same people: see [assess.Overlap]. Both sources must be at hand. Where
// the request does not state classes, the columns that a release kept must tell its rows
// apart. The result is private. Errors are of kind Usage, of reading a file, or of kind BadData where rows
// cannot be paired.
func (s *Service) Overlap(ctx context.Context, r *api.OverlapRequest) (*api.Overlap, error) {
	if r.Release == "" || r.Previous == "" || r.PreviousSource == "" {
		return nil, noren.Usagef("previous", "expected two releases and the source of the other")
	}
	if len(r.PreviousQuasi) > 0 && r.PreviousCertificate != "" {
		return nil, noren.Usagef("previous", "expected the quasi-identifiers of the earlier release or its certificate, got both")
	}
	sp, err := specOf(&r.Table)
	if err != nil {
		return nil, err
	}
	read, err := s.openMeasured(ctx, r.Input, sp)
	if err != nil {
		return nil, err
	}
	defer read.close()
	a := &assessing{
		ctx: ctx, service: s, spec: sp, unit: sp.Unit, k: sp.Anonymize.K, earlier: earlier{
			r.Previous, r.PreviousSource, r.PreviousQuasi, r.PreviousCertificate,
		},
		source: read.Source, schema: read.Schema, missing: read.Missing, result: &assess.Assessment{Quasi: read.quasi},
	}
	own, err := a.allText(a.source)
	if err != nil {
		return nil, err
	}
	now := r.Classes
	if now == nil {
		if now, err = a.placed(r.Release, own); err != nil {
			return nil, err
		}
	}
	before, err := a.earlierSource()
	if err != nil {
		return nil, err
	}
	then := r.PreviousClasses
	var names []string
	if then == nil {
		if then, names, err = a.placedBefore(before); err != nil {
			return nil, err
		}
	}
	if len(now) != own.Rows || len(then) != before.Rows {
		return nil, &noren.Error{
			Kind: noren.BadData, Where: table.PlaceOf(read.Source), What: "a release has another number of records than its source",
		}
	}
	if err := a.compare(own, before, now, then); err != nil {
		return nil, err
	}
	if names != nil {
		released, _, err := a.openWritten(r.Release, own)
		if err != nil {
			return nil, err
		}
		defer closeTable(released)
		a.apart(released.Columns(), names)
	}
	return &api.Overlap{Overlap: *a.result.Overlap}, nil
}

func (a *assessing) allText(src table.Source) (*table.Table, error) {
	var names []string
	for _, c := range src.Columns() {
		names = append(names, c.Name)
	}
	return table.ReadText(a.ctx, src, names, table.ReadOptions{Missing: a.missing, Progress: a.service.Progress})
}

// namesOf are the texts of a column, empty for missing ones.
func namesOf(c *table.Column) []string {
	out := make([]string, c.Len())
	for i := range out {
		if !c.IsMissing(i) {
			out[i] = c.Dict[c.Codes[i]]
		}
	}
	return out
}
