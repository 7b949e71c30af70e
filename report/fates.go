package report

import (
	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/report/text"
)

// fates say what became of each column.
func (b *assessment) fates() []Block {
	if len(b.f.Fates) == 0 {
		return nil
	}
	t := &Table{Header: Header("column", "role", "fate", "why"), Numeric: []bool{false, false, false, false}}
	for _, f := range b.f.Fates {
		t.Rows = append(t.Rows, []noren.Text{
			named(f.Column), noren.Textf("%s", noren.Term(f.Role)), noren.Textf("%s", noren.Term(f.Fate)),
			f.Why,
		})
	}
	said := []noren.Text{
		noren.Textf("Identifiers are dropped, quasi-identifiers are transformed, all other columns are kept value for value."),
	}
	if g := b.f.Guarantee; g != nil && g.Pseudonyms {
		said = append(said, noren.Textf("Of the identifiers, %s is replaced by pseudonyms.", plain(g.Unit)))
	}
	return []Block{
		{Text: paragraph(append(said, noren.Textf("k-anonymity says nothing of a column that is kept."))...)},
		{Table: t},
	}
}

// unique says how many records the kept columns single out.
func (b *assessment) unique() []Block {
	u := b.f.Unique
	if u == nil || u.Records == 0 {
		return nil
	}
	share := func(n int64) noren.Text { return Verbatim(Percent(float64(n) / float64(u.Records))) }
	about := func(n int64) noren.Text {
		if u.Estimated {
			return noren.Textf("about %s", Integer(n))
		}
		return Verbatim(Integer(n))
	}
	blocks := []Block{
		{Text: noren.Textf("The columns that are kept are in the release as they were. Where a value, or two together, occurs in one record " +
			"alone, a person who knows it of another finds that record, whatever k is.")},
		{Figures: []Figure{
			{
				Name: noren.Textf("Unique by one kept column"), Value: share(u.Alone), Tone: tone(u.Alone == 0),
				Explain: noren.Textf("unique by some kept column: %s of %s", about(u.Alone), records(u.Records)),
			},
			{
				Name: noren.Textf("Unique by two kept columns"), Value: share(u.InPairs), Tone: tone(u.InPairs == 0),
				Explain: noren.Textf("unique by some pair of kept columns: %s of %s", about(u.InPairs), records(u.Records)),
			},
		}},
	}
	t := &Table{Header: Header("kept column", "unique records"), Numeric: []bool{false, true}}
	for _, c := range u.Columns {
		t.Rows = append(t.Rows, []noren.Text{named(c.Column), Verbatim(Integer(c.Unique))})
	}
	blocks = append(blocks, Block{Table: t})
	if len(b.f.FreeText) > 0 {
		blocks = append(blocks, Block{Note: noren.Textf("Free text in %s: %s.", listed(b.f.FreeText), text.FreeTextWarning)})
	}
	return blocks
}
