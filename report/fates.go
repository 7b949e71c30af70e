package report

import (
	"fmt"

	"github.com/noren-privacy/noren/report/text"
)

// fates say what became of each column.
func (b *assessment) fates() []Block {
	if len(b.f.Fates) == 0 {
		return nil
	}
	t := &Table{Names: true, Header: []string{"column", "role", "fate", "why"}, Numeric: []bool{false, false, false, false}}
	for _, f := range b.f.Fates {
		t.Rows = append(t.Rows, []string{plain(f.Column), f.Role, f.Fate, f.Why.String()})
	}
	text := "Identifiers are dropped, quasi-identifiers are transformed, all other columns are kept value for value."
	if g := b.f.Guarantee; g != nil && g.Pseudonyms {
		text += " Of the identifiers, " + plain(g.Unit) + " is replaced by pseudonyms."
	}
	return []Block{
		{Text: text + " k-anonymity says nothing of a column that is kept."},
		{Table: t},
	}
}

// unique says how many records the kept columns single out.
func (b *assessment) unique() []Block {
	u := b.f.Unique
	if u == nil || u.Records == 0 {
		return nil
	}
	share := func(n int64) string { return Percent(float64(n) / float64(u.Records)) }
	about := ""
	if u.Estimated {
		about = "about "
	}
	blocks := []Block{
		{Text: "The columns that are kept are in the release as they were. Where a value, or two together, occurs in one record alone, a person who knows it of another finds that record, whatever k is."},
		{Figures: []Figure{
			{Name: "Unique by one kept column", Value: share(u.Alone), Tone: tone(u.Alone == 0), Explain: fmt.Sprintf("%s of %s are unique in some kept column", about+Integer(u.Alone), records(u.Records))},
			{Name: "Unique by two kept columns", Value: share(u.InPairs), Tone: tone(u.InPairs == 0), Explain: fmt.Sprintf("%s of %s are unique in some pair of kept columns", about+Integer(u.InPairs), records(u.Records))},
		}},
	}
	t := &Table{Names: true, Header: []string{"kept column", "unique records"}, Numeric: []bool{false, true}}
	for _, c := range u.Columns {
		t.Rows = append(t.Rows, []string{plain(c.Column), Integer(c.Unique)})
	}
	blocks = append(blocks, Block{Table: t})
	if len(b.f.FreeText) > 0 {
		blocks = append(blocks, Block{Note: fmt.Sprintf("Free text in %s: %s.", quoteList(b.f.FreeText), text.FreeTextWarning)})
	}
	return blocks
}
