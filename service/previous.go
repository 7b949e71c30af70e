package service

import (
	"slices"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/assess"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/table"
)

// placedBefore is the class of each record of the earlier source in the earlier release,
// whose classes are those of its own quasi-identifiers: as its certificate or the request
// states them, or otherwise the columns that differ from the source. quasi are their names.
func (a *assessing) placedBefore(source *table.Table) (class []uint32, quasi []string, err error) {
	released, release, err := a.openWritten(a.earlier.release, source)
	if err != nil {
		return nil, nil, err
	}
	defer closeTable(released)
	a.before = released.Columns()
	stated, err := a.statedBefore(release)
	if err != nil {
		return nil, nil, err
	}
	rest := &table.Table{Rows: release.Rows}
	for _, name := range assess.Unchanged(source, release) {
		if !slices.Contains(stated, name) {
			rest.Columns = append(rest.Columns, release.Column(name))
		}
	}
	row, err := assess.PairRows(source, rest)
	if err != nil {
		return nil, nil, about(noren.File(a.earlier.release), err)
	}
	quasi = stated
	if quasi == nil {
		if quasi, err = a.differing(source, release, row); err != nil {
			return nil, nil, err
		}
	}
	// Byte for byte: to a reader the texts of missing values are different values.
	shown, err := table.ReadText(a.ctx, released, quasi, table.ReadOptions{Progress: a.service.Progress})
	if err != nil {
		return nil, nil, err
	}
	classes, err := assess.Classify(shown)
	if err != nil {
		return nil, nil, err
	}
	class = make([]uint32, len(row))
	for i, r := range row {
		class[i] = classes[0].Of[r]
	}
	return class, quasi, nil
}

// statedBefore are the quasi-identifiers of the earlier release that were stated, nil
// where none were.
func (a *assessing) statedBefore(release *table.Table) ([]string, error) {
	names := a.earlier.quasi
	if a.earlier.certificate != "" {
		signed, err := certificate.Load(a.earlier.certificate)
		if err != nil {
			return nil, err
		}
		if _, err := certificate.CheckFile(a.ctx, signed, a.earlier.release); err != nil {
			return nil, err
		}
		names = signed.Certificate.Guarantee.Quasi
		if len(names) == 0 {
			return nil, &noren.Error{
				Kind: noren.BadData, Where: a.earlier.certificate,
				What: "expected the certificate of a k-anonymous release, got one without quasi-identifiers",
			}
		}
	}
	for _, name := range names {
		if release.Column(name) == nil {
			return nil, &noren.Error{
				Kind: noren.Usage, Where: noren.File(a.earlier.release),
				What: "the earlier release has no column %s, which is stated to be a quasi-identifier of it", Args: []any{name},
			}
		}
	}
	return names, nil
}

// codePreviousQuasi is the code of errors about an earlier release whose quasi-identifiers
// are not known.
const codePreviousQuasi = "previous-quasi"

// differing are the columns of the earlier release that differ from its source. Where
// another column may be a quasi-identifier without a difference, or one of these none, that
// is refused.
func (a *assessing) differing(source, release *table.Table, row []uint32) ([]string, error) {
	found := assess.NewChanged(source, release, row, func(name string) bool { return name == a.unit })
	var what noren.Text
	switch {
	case len(found.Quasi) == 0:
		what = noren.Textf("no column of the earlier release differs from its source: its quasi-identifiers are not known")
	case found.Single:
		what = noren.Textf("the quasi-identifiers of the earlier release are not known: these columns differ from its source, but one record "+
			"alone has its values of them, so that some are none: %s", strings.Join(found.Quasi, ", "))
	case len(found.Undecided) > 0:
		what = noren.Textf("the quasi-identifiers of the earlier release are not known: these columns do not differ from its source, or by "+
			"the names of their values alone, and may be some of them: %s", strings.Join(found.Undecided, ", "))
	default:
		return found.Quasi, nil
	}
	return nil, &noren.Error{
		Kind: noren.BadData, Code: codePreviousQuasi, Where: noren.File(a.earlier.release), What: what.Format, Args: what.Args,
		Hint: "name its quasi-identifiers, or its certificate",
	}
}

// apart states the quasi-identifiers of the earlier release, and the columns that are
// quasi-identifiers of one release and kept as they are by the other. now are the columns
// of this release.
func (a *assessing) apart(now []table.StoredColumn, before []string) {
	o := a.result.Overlap
	o.Quasi = before
	for _, name := range before {
		if !slices.Contains(a.result.Quasi, name) && slices.ContainsFunc(now, func(c table.StoredColumn) bool { return c.Name == name }) {
			o.Kept = append(o.Kept, name)
		}
	}
	for _, c := range a.before {
		if slices.Contains(a.result.Quasi, c.Name) && !slices.Contains(before, c.Name) {
			o.Kept = append(o.Kept, c.Name)
		}
	}
}
