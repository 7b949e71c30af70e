package report

import (
	"fmt"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/assess"
)

// personsGuarantee says what is guaranteed of persons.
func personsGuarantee(g *noren.Guarantee) string {
	text := fmt.Sprintf("Every combination of %s in the release occurs in records of at least %d persons, told apart by %s. Someone who knows these columns of one record of a person cannot narrow the persons down to fewer than %d.",
		quoteList(g.Quasi), g.K, plain(g.Unit), g.K)
	if g.Linkage == "all" {
		text += fmt.Sprintf(" The same holds for someone who knows them of all records of the person: every class with a record of that person has records of the same %d persons or more.", g.K)
	}
	if g.Pseudonyms {
		text += " Records with the same pseudonym are of one person, and each sequence of classes that the records of a pseudonym form is shared by as many pseudonyms."
	}
	return text
}

// persons compares the persons of the original and the release.
func (b *assessment) persons() []Block {
	was := b.a.OriginalPersons
	if was == nil {
		return nil
	}
	names, all := []string{"original"}, []*assess.Persons{was}
	if b.a.ReleasePersons != nil {
		names, all = append(names, "release"), append(all, b.a.ReleasePersons)
	}
	t := &Table{Header: append([]string{"Persons, told apart by " + plain(was.Column)}, names...), Numeric: []bool{false, true, true}[:1+len(names)]}
	row := func(name string, value func(*assess.Persons) string) {
		cells := []string{name}
		for _, p := range all {
			cells = append(cells, value(p))
		}
		t.Rows = append(t.Rows, cells)
	}
	row("Persons", func(p *assess.Persons) string { return Integer(p.Persons) })
	row("Records without a person", func(p *assess.Persons) string { return Integer(p.Without) })
	row("Persons in a class, smallest", func(p *assess.Persons) string { return Integer(p.Smallest) })
	row("Persons in a class, mean", func(p *assess.Persons) string { return Number(p.Mean) })
	if was.K > 0 {
		row(fmt.Sprintf("Classes of fewer than %d persons", was.K), func(p *assess.Persons) string { return Integer(p.BelowK.Classes) })
	}
	row("Persons that fit all records of one, smallest", func(p *assess.Persons) string { return Integer(p.Fit.Min) })
	row("Persons that fit all records of one, mean", func(p *assess.Persons) string { return Number(p.Fit.Mean) })
	row("Persons whom no other fits", func(p *assess.Persons) string { return Integer(p.Fit.Alone) })
	blocks := []Block{
		{Text: "A class protects by its persons, not by its records. Someone who knows several records of one person may compare their classes: only the persons with a record in each of them fit."},
		{Table: t},
	}
	if b.a.Release != nil && b.a.ReleasePersons == nil {
		blocks = append(blocks, Block{Text: "The release has no column of persons, so they could not be counted in it here."})
	}
	return blocks
}
