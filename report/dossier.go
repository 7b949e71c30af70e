package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/assess"
	"github.com/noren-privacy/noren/kanon/publish"
)

// Release is what a page says of how a release was made, where it was made by the
// program that writes the page.
type Release struct {
	// Loss is SSE/SST of the grouping, in the space of Scale; NCP the certainty
	// penalty of all quasi-identifiers.
	Loss  float64
	Scale string
	NCP   float64
	// Excluded is nil where no ranges and sets are published.
	Excluded *publish.Excluded
}

// File is a file by its hash.
type File struct{ Name, Hash string }

// about is the head of the dossier: what was made when, from what, by what.
func (b *assessment) about() []Block {
	t := &Table{Header: Header("What", "Value")}
	add := func(name noren.Text, value string) {
		if value != "" {
			t.Add(name, value)
		}
	}
	add(noren.Textf("Program"), b.f.Version)
	add(noren.Textf("Date"), b.f.Date)
	add(noren.Textf("Command"), b.f.Command)
	if b.f.Original != nil {
		t.Rows = append(t.Rows, []noren.Text{noren.Textf("Original"), noren.Textf("%s", place(b.f.Original))})
	}
	add(noren.Textf("Release"), b.f.Release)
	for _, f := range b.f.Hashes {
		add(noren.Textf("SHA-256 of %s", f.Name), f.Hash)
	}
	if b.f.Version == "" {
		return nil
	}
	return []Block{{Table: t}}
}

// detail is the one figure of what a release gave up, everywhere on the page.
func (b *assessment) detail() (Figure, bool) {
	if r := b.f.Grouping; r != nil {
		return Figure{
			Name: noren.Textf("Information loss"), Value: Verbatim(Percent(r.Loss)),
			Explain: noren.Textf("the share of the spread of all quasi-identifiers that lies within the groups (SSE/SST, scale %s)", r.Scale),
		}, true
	}
	if l := b.a.ClassLoss; l != nil {
		return Figure{
			Name: noren.Textf("Information loss"), Value: Verbatim(Percent(l.Loss)),
			Explain: noren.Textf("the share of the spread of all quasi-identifiers that lies within the classes (SSE/SST, scale %s)", l.Scale),
		}, true
	}
	if f := b.a.Utility.NCP; f.Value != nil {
		return Figure{
			Name: noren.Textf("Width of what is shown"), Value: Verbatim(Percent(*f.Value)),
			Explain: noren.Textf("how much of each column a class spans on average (NCP)"),
		}, true
	}
	return Figure{}, false
}

// counts is the figure of the error of counts.
func (b *assessment) counts() (Figure, bool) {
	q := b.a.Queries
	if q == nil {
		return Figure{}, false
	}
	return Figure{
		Name: noren.Textf("Error of a count"), Value: Verbatim(Percent(q.Mean)),
		Explain: noren.Textf("on average over random counts of records by two to four quasi-identifiers (95 %% interval %s to %s); half of "+
			"them are off by %s or less", Percent(q.MeanLow), Percent(q.MeanHigh), Percent(q.Median)),
	}, true
}

// columnsAsked is how many pairs of columns a page lists.
const pairsAsked = 20

// queries says how far counts over the release are off.
func (b *assessment) queries() []Block {
	q := b.a.Queries
	if q == nil {
		return nil
	}
	blocks := []Block{{Text: noren.Textf("A count over these columns is off by %s on average, and by %s or less in half of all cases. "+
		"Measured with %s random {question|questions}, the same for all releases of a table (95 %% interval of the mean over all such "+
		"questions: %s to %s): how many records have values of two to four columns within given ranges (a tenth to half of a column) and sets "+
		"(half of the values)? At least one record in a thousand of the original fits each. In the original itself the error is 0%%.",
		Percent(q.Mean), Percent(q.Median), Integer(q.Count), Percent(q.MeanLow), Percent(q.MeanHigh))}}
	t := &Table{
		Caption: noren.Textf("Mean error of the counts in which a column occurs"),
		Header:  Header("Column", "Original", "Release", "Questions"), Numeric: []bool{false, true, true, true},
	}
	chart := &Bars{Horizontal: true, Format: Percent, Axis: noren.Textf("mean error of a count")}
	var values []float64
	for _, c := range q.Columns {
		t.Add(named(c.Column), "0%", Percent(c.Error), Integer(c.Asked))
		if len(values) < barsMost {
			chart.Labels, values = append(chart.Labels, named(c.Column)), append(values, c.Error)
		}
	}
	chart.Series = []Series{{Name: noren.Textf("release"), Values: values}}
	shorten(t)
	blocks = append(blocks, Block{Picture: &Picture{Chart: chart, Caption: noren.Textf("Mean error of the counts in which each column " +
		"occurs."), Table: t}})
	pairs := slices.Clone(q.Pairs)
	slices.SortStableFunc(pairs, func(a, b assess.PairError) int { return cmp.Compare(b.Error, a.Error) })
	if len(pairs) > 1 {
		t := &Table{
			Caption: noren.Textf("Pairs of columns, largest error first"),
			Header:  Header("Pair", "Mean error of a count", "Questions"), Numeric: []bool{false, true, true},
		}
		for i, p := range pairs {
			if i == pairsAsked {
				t.Caption = noren.Textf("%s (%d of %d)", t.Caption, pairsAsked, len(pairs))
				break
			}
			t.Add(Verbatim(plain(p.First)+" – "+plain(p.Second)), Percent(p.Error), Integer(p.Asked))
		}
		blocks = append(blocks, Block{Table: t})
	}
	return blocks
}

// sensitive says what the classes tell of each sensitive column.
func (b *assessment) sensitive() []Block {
	if len(b.a.Sensitive) == 0 {
		return nil
	}
	t := &Table{
		Header: Header("Column", "Classes with one value", "Records in them", "Commonest value, worst class", "Different values, least (l)",
			"Entropy l, least", "Distance from the table, largest (t)"),
		Numeric: []bool{false, true, true, true, true, true, true},
	}
	for _, s := range b.a.Sensitive {
		t.Rows = append(t.Rows, append([]noren.Text{
			named(s.Column), noren.Textf("%s of %s", Integer(s.Homogeneous), Integer(s.Classes)), Verbatim(Integer(s.HomogeneousRecords)),
			noren.Textf("%s of %s", Percent(s.WorstShare), records(s.WorstSize)),
		}, texts([]string{Integer(s.DistinctL), Number(s.EntropyL), Number(s.T)}, Verbatim)...))
	}
	blocks := []Block{
		{Text: noren.Textf("k-anonymity hides which record is a person's. It does not hide what all records of a class have in common: where " +
			"they share one value of a sensitive column, that value is known of each person of the class. Figures count records with a value.")},
		{Table: t},
	}
	for _, s := range b.a.Sensitive {
		if len(s.Associations) == 0 {
			continue
		}
		t := &Table{
			Caption: noren.Textf("Association of %s with the quasi-identifiers (Cramer's V, 0 none, 1 complete)", plain(s.Column)),
			Header:  Header("Quasi-identifier", "Original", "Release"), Numeric: []bool{false, true, true},
		}
		for _, a := range s.Associations {
			t.Add(named(a.Quasi), correlation(a.Original), correlation(a.Release))
		}
		shorten(t)
		blocks = append(blocks, Block{Heading: named(s.Column)}, Block{Table: t})
	}
	return blocks
}

// outsiders says how many persons outside the table the release excludes.
func (b *assessment) outsiders() []Block {
	if b.f.Grouping == nil || b.f.Grouping.Excluded == nil {
		return nil
	}
	e := b.f.Grouping.Excluded
	said := noren.Textf("A release of ranges and sets shows of some persons that they are not in the table: no class spans their values. "+
		"Of persons from the same population who are not in it, about %s are excluded so (95 %% interval %s to %s, estimated with %s "+
		"{record|records}, each left out in turn).", Percent(e.Shown), Percent(e.ShownLow), Percent(e.ShownHigh), Integer(e.Sampled))
	if e.Shown == e.Tight {
		return []Block{
			{Text: paragraph(said, noren.Textf("Ranges here end at the values of their class. Ranges of a fixed grid exclude fewer."))},
		}
	}
	t := &Table{Header: Header("Ranges", "Persons excluded", "95 % interval"), Numeric: []bool{false, true, true}, Rows: [][]noren.Text{
		{
			noren.Textf("ending at the values of the class"), Verbatim(Percent(e.Tight)),
			noren.Textf("%s to %s", Percent(e.TightLow), Percent(e.TightHigh)),
		},
		{
			noren.Textf("of a fixed grid, as published"), Verbatim(Percent(e.Shown)),
			noren.Textf("%s to %s", Percent(e.ShownLow), Percent(e.ShownHigh)),
		},
	}}
	return []Block{{Text: said}, {Table: t}}
}

// earlier says what is left to somebody who holds another release too.
func (b *assessment) earlier() []Block {
	o := b.a.Overlap
	if o == nil {
		return nil
	}
	all, left, common := noren.Phrase("the records of this table"), noren.Phrase("the records in both classes"), records(o.Common)
	if o.Unit != "" {
		all, left, common = "the persons of this table", "the persons in both classes", persons(o.Common)
	}
	if o.Common == 0 {
		return []Block{{Text: noren.Textf("None of %s are in the source of the earlier release %s.", all, plain(o.Release))}}
	}
	share := func(n int64) noren.Text { return Verbatim(Percent(float64(n) / float64(o.Common))) }
	joined := noren.Textf("Records are the same where they agree in all columns that both sources have.")
	if o.Unit != "" {
		joined = noren.Textf(
			"Persons are the same where they agree in %s; of a person with several records those count that leave fewest candidates.", plain(o.Unit))
	}
	out := []Block{
		{Text: noren.Textf("Somebody who holds this release and %s, and who knows the quasi-identifiers of one of the people in both, finds a "+
			"class in each. Only %s remain as candidates. k-anonymity of each release does not bound their number.", plain(o.Release), left)},
		{Figures: []Figure{
			{
				Name: noren.Textf("Fewer than %d {candidate|candidates}", o.K), Value: share(o.Below), Tone: tone(o.Below == 0),
				Explain: noren.Textf("%s of %s in both releases", Integer(o.Below), common),
			},
			{
				Name: noren.Textf("One candidate"), Value: share(o.Alone), Tone: tone(o.Alone == 0),
				Explain: noren.Textf("%s are identified", Integer(o.Alone)),
			},
			{Name: noren.Textf("Candidates, mean"), Value: Verbatim(Number(o.Mean)), Explain: noren.Textf("the least is %s", Integer(o.Min))},
		}},
		{Text: paragraph(noren.Textf("The intersections are exact."), joined,
			noren.Textf("The source of the earlier release is %s.", plain(o.Source)))},
	}
	if len(o.Quasi) > 0 {
		out = append(out, Block{Text: noren.Textf("The quasi-identifiers of the earlier release are %s.", plain(strings.Join(o.Quasi, ", ")))})
	}
	if len(o.Kept) > 0 {
		out = append(out, Block{Text: noren.Textf("One release keeps %s, which the other has as quasi-identifiers: somebody who knows them is "+
			"left with fewer candidates than stated here.", plain(strings.Join(o.Kept, ", ")))})
	}
	return out
}
