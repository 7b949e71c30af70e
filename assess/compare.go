package assess

import (
	"context"
	"math"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
)

// CompareOptions say how two tables are to be compared.
type CompareOptions struct {
	// Corresponding says that row i of both tables is the same record, so
	// that loss can be taken record by record. Nothing in the tables proves
	// it: set it only for a release that kept its order. Defaults to false.
	Corresponding bool
	// Means says that the release publishes the means of its classes: the loss of
	// a column can then be had, within the bounds of rounding, from the spread of
	// both tables alone. Nothing in the tables proves it either. Defaults to
	// false.
	Means bool
	// Progress receives the number of columns compared. Optional.
	Progress noren.Progress
}

// Compare lays a release (m records) beside its original (n records), over the
// columns of the original that the release has too. In the release, a column
// may be published in another form than it had: numbers as text ranges
// "[lo-hi]", words as sets "{a, b}", as names of the original's hierarchy or as
// ranges of levels. It takes O((n+m) log(n+m)) a column and O(n+m) for each
// pair of number columns, and holds 17 bytes a value of the number columns.
// Errors are of kind Usage: no common column, a column of words in the
// original and of numbers in the release, corresponding rows of different
// number; of kind BadData: a value of the original that is the name of a group of
// its hierarchy; the context's error when it ends.
func Compare(ctx context.Context, original, release *table.Table, o CompareOptions) (*Utility, error) {
	if o.Corresponding && original.Rows != release.Rows {
		return nil, &noren.Error{
			Kind: noren.Usage, What: "rows cannot correspond: the original has %d, the release %d", Args: []any{original.Rows, release.Rows},
			Hint: "leave out the claim that they do",
		}
	}
	u := &Utility{OriginalRecords: int64(original.Rows), ReleaseRecords: int64(release.Rows), Corresponding: o.Corresponding}
	var common int
	for _, c := range original.Columns {
		if release.Column(c.Field.Name) != nil {
			common++
		}
	}
	if common == 0 {
		return nil, &noren.Error{Kind: noren.Usage, What: "the two tables have no column in common", Hint: "name the columns alike in both"}
	}
	var rows *rowwise
	if o.Corresponding {
		var err error
		if rows, err = newRowwise(original, release); err != nil {
			return nil, err
		}
	}
	var names []string
	var before, after []*numbers
	var losses []columnLoss
	var done int64
	for _, c := range original.Columns {
		r := release.Column(c.Field.Name)
		if r == nil {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		o.Progress.Report("comparing", done, int64(common))
		done++
		if c.Field.Type.IsNumber() {
			if err := sameUnit(&c.Field, &r.Field); err != nil {
				return nil, err
			}
			x, y := readNumbers(c, &c.Field), readNumbers(r, &c.Field)
			n, l := compareNumber(c, r, x, y, rows, o.Means)
			u.Numbers = append(u.Numbers, n)
			names, before, after, losses = append(names, n.Name), append(before, x), append(after, y), append(losses, l)
			continue
		}
		if r.Field.Type.IsNumber() {
			return nil, &noren.Error{
				Kind: noren.Usage, Where: noren.Textf("column %s", c.Field.Name),
				What: "words in the original and numbers in the release cannot be compared", Hint: "give the column the same type in both",
			}
		}
		if err := leavesOnly(c); err != nil {
			return nil, err
		}
		k := compareCategory(c, r)
		if rows != nil {
			rows.category(c, r, &k)
		}
		u.Categories = append(u.Categories, k)
	}
	if len(names) > 1 {
		var err error
		if u.Correlations, err = correlate(ctx, names, before, after); err != nil {
			return nil, err
		}
	}
	u.Loss = totalLoss(names, losses)
	u.NCP = u.meanPenalty()
	return u, nil
}

// leavesOnly refuses values of the original that have no line in its hierarchy and are
// names of its groups: the same name in a release is the value or the group.
func leavesOnly(c *table.Column) error {
	h := c.Field.Hierarchy
	if h == nil {
		return nil
	}
	names, values := hierarchyNames(h), 0
	for _, word := range c.Dict {
		if _, leaf := h.Leaf(word); !leaf && names[word] != nil {
			values++
		}
	}
	if values == 0 {
		return nil
	}
	return &noren.Error{
		Kind: noren.BadData, Where: noren.Textf("column %s", c.Field.Name),
		What: "%d of its values have no line in the hierarchy %s, and the name of a group there", Args: []any{values, h.Name()},
		Hint: "add a line for each of them, and give the group another name",
	}
}

// sameUnit refuses to compare dates with numbers, and days with seconds.
// Columns of words are for others to judge.
func sameUnit(o, r *table.Field) error {
	if !r.Type.IsNumber() {
		return nil
	}
	date, released := o.Type == table.Date, r.Type == table.Date
	if date != released || date && o.Layout.HasTime() != r.Layout.HasTime() {
		return &noren.Error{
			Kind: noren.Usage, Where: noren.Textf("column %s", o.Name),
			What: "the two tables count it in different units", Hint: "give the column the same type and date format in both",
		}
	}
	return nil
}

func compareNumber(c, r *table.Column, x, y *numbers, rows *rowwise, means bool) (NumberColumn, columnLoss) {
	s, t := x.spread(), y.spread()
	n := NumberColumn{
		Name: c.Field.Name, Type: c.Field.Type.String(),
		Ranges: y.ranges, Unread: y.unread,
		Original: x.moments(s), Release: y.moments(t),
		Histogram: histogramOf(x, y, s, &c.Field),
	}
	if c.Field.Type == table.Date {
		n.Layout = string(c.Field.Layout)
		if n.Layout == "" {
			n.Layout = string(table.ISODate)
		}
	}
	if sd := n.Original.SD; sd != nil && *sd > 0 && t.count > 0 {
		n.MeanChange = finite((t.mean - s.mean) / *sd)
		if n.Release.SD != nil {
			n.SDRatio = finite(*n.Release.SD / *sd)
		}
	}
	var l columnLoss
	switch {
	case rows != nil:
		l = lossByRows(x, y, s)
	default:
		l = lossByDecomposition(x, y, s, t, r)
		if !means && l.reason.IsZero() {
			l = newColumnLoss(s)
			l.reason = noren.Textf("it is not known that the release publishes means: without corresponding rows their error is not known")
		}
	}
	n.Loss = l.figure()
	width := s.max - s.min
	switch {
	case y.unread > 0:
		n.NCP = noFigure(noren.Textf("the release has values that are neither a number nor a range"))
	case y.ranges && width > 0:
		penalty := math.Max(0, float64(y.missing-x.missing))
		for i, here := range y.present {
			if here {
				penalty += min(1, (y.hi[i]-y.lo[i])/width)
			}
		}
		n.NCP = exact(penalty / float64(len(y.present)))
	case y.ranges:
		n.NCP = exact(0)
	case rows != nil:
		n.NCP = exact(rows.numberPenalty(x, y, width))
	default:
		n.NCP = noFigure(noren.Textf("single values are published, and without corresponding rows it is not known what they stand for"))
	}
	n.EntropyLoss = noFigure(noren.Textf(needsRows))
	if rows != nil {
		n.EntropyLoss = rows.entropyLoss(c, r)
	}
	return n, l
}

// meanPenalty is the mean NCP of all columns.
func (u *Utility) meanPenalty() Figure {
	sum, n := 0.0, 0
	add := func(f Figure) bool {
		if f.Value == nil {
			return false
		}
		sum += *f.Value
		n++
		return true
	}
	for i := range u.Numbers {
		if !add(u.Numbers[i].NCP) {
			return noFigure(noren.Textf("column %s: %s", u.Numbers[i].Name, u.Numbers[i].NCP.Reason))
		}
	}
	for i := range u.Categories {
		if !add(u.Categories[i].NCP) {
			return noFigure(noren.Textf("column %s: %s", u.Categories[i].Name, u.Categories[i].NCP.Reason))
		}
	}
	return exact(sum / float64(n))
}
