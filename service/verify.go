package service

import (
	"context"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/kanon/verify"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
	"github.com/noren-privacy/noren/table/parts"
	"github.com/noren-privacy/noren/table/xlsx"
)

// Codes of what a verification refuses or warns of.
const (
	// CodeNoK: the request states no k.
	CodeNoK = "no-k"
	// CodeNoSensitive: l or t is stated, and no sensitive column.
	CodeNoSensitive = "no-sensitive"
	// CodeNoUnit: the file has no column of the unit.
	CodeNoUnit = "no-unit"
)

// Verify decides whether a file has k-anonymity, and l-diversity and t-closeness where
// they are stated, by [verify.Verify]. It uses nothing of how the file was made. Where
// the file does not have them the result says so and the error is nil: see
// [verify.Result.Err]. A folder with a manifest must be what the manifest states, and no
// folder may hold a file that is not read ([parts.Unread]). Of workbooks it compares what the
// cells store and not what they show ([xlsx.Options], Exact), and reads each row, whatever the
// specification says of hidden ones and of totals in the source. Errors are of kind Usage, or of
// reading the file.
func (s *Service) Verify(ctx context.Context, r *api.VerifyRequest) (*api.Verification, error) {
	sp, err := specOf(&r.Table)
	if err != nil {
		return nil, err
	}
	requirement, err := sp.Anonymize.Requirement()
	if err != nil {
		return nil, err
	}
	if requirement.K < 1 {
		return nil, &noren.Error{
			Kind: noren.Usage, Code: CodeNoK, Where: "k",
			What: "expected how many records are to share their quasi-identifiers",
		}
	}
	if parts.IsManifested(r.Input) {
		err = parts.CheckManifest(ctx, r.Input)
	} else {
		err = file.Unread(ctx, r.Input)
	}
	if err != nil {
		return nil, err
	}
	form, err := sp.CheckedForm()
	if err != nil {
		return nil, err
	}
	if form.Formulas, err = sp.ReleaseFormulas(); err != nil {
		return nil, err
	}
	for name, c := range sp.Columns {
		if role, err := table.ParseRole(c.Role); err == nil && role == table.Quasi {
			form.Exact = append(form.Exact, name)
		}
	}
	form.Hidden, form.Totals = xlsx.Look, xlsx.Look // a row that is left out would not be verified
	read, err := s.openResolved(ctx, r.Input, form, s.reading(), sp.ResolveRelease)
	if err != nil {
		return nil, err
	}
	defer read.close()
	o := verify.Options{
		Requirement: requirement, Missing: read.Missing, Quasi: read.quasi, Sensitive: read.Fields(table.Sensitive), Progress: s.Progress,
	}
	if o.Unit, err = s.unitOf(sp, read.src, r.UnitRequired); err != nil {
		return nil, err
	}
	if len(o.Sensitive) == 0 && (requirement.Diversity != nil || requirement.Closeness != nil) {
		return nil, &noren.Error{Kind: noren.Usage, Code: CodeNoSensitive, What: "l and t are about sensitive columns, and none is named"}
	}
	result, err := verify.Verify(ctx, read.src, o)
	if err != nil {
		return nil, err
	}
	out := api.NewVerification(result)
	out.Uncounted = sp.Unit != "" && o.Unit == nil
	return out, nil
}

// unitOf is the unit by which a file is verified. It is nil where the file has no such
// column, as after a release that dropped it; a required unit is then an error.
func (s *Service) unitOf(sp *spec.Spec, src table.Source, required bool) (*verify.Unit, error) {
	linkage, err := sp.Anonymize.Linkage()
	if err != nil {
		return nil, badField("unit-linkage", err)
	}
	if sp.Unit == "" {
		return nil, nil
	}
	if hasColumn(src, sp.Unit) {
		return &verify.Unit{Column: sp.Unit, Linked: linkage == kanon.LinkAll}, nil
	}
	if required {
		return nil, &noren.Error{
			Kind: noren.Usage, Code: CodeNoUnit, Where: "unit", What: "%s has no column %s: its persons cannot be counted",
			Args: []any{table.PlaceOf(src), sp.Unit},
			Hint: "without a unit, records are counted; the persons were counted when the release was made",
		}
	}
	s.columnNote(api.Warning, CodeNoUnit, []string{sp.Unit},
		noren.Textf("%s has no column %s: its persons cannot be counted, records are counted instead", table.PlaceOf(src), sp.Unit))
	return nil, nil
}

// hasColumn reports whether a source has a column of that name.
func hasColumn(src table.Source, name string) bool {
	return slices.ContainsFunc(src.Columns(), func(c table.StoredColumn) bool { return c.Name == name })
}
