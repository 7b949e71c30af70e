package report

import (
	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/assess"
)

// personsGuarantee says what is guaranteed of persons.
func personsGuarantee(g *noren.Guarantee) noren.Text {
	said := []noren.Text{noren.Textf("Every combination of %s in the release occurs in records of at least %d persons, told apart by %s. "+
		"Someone who knows these columns of one record of a person cannot narrow the persons down to fewer than %d.",
		listed(g.Quasi), g.K, plain(g.Unit), g.K)}
	if g.Linkage == "all" {
		said = append(said, noren.Textf("The same holds for someone who knows them of all records of the person: every class with a record of "+
			"that person has records of the same %d {person|persons} or more.", g.K))
	}
	if g.Pseudonyms {
		said = append(said, noren.Textf("Records with the same pseudonym are of one person, and each sequence of classes that the records of "+
			"a pseudonym form is shared by as many pseudonyms."))
	}
	return paragraph(said...)
}

// persons compares the persons of the original and the release.
func (b *assessment) persons() []Block {
	was := b.a.OriginalPersons
	if was == nil {
		return nil
	}
	heads, all := []noren.Text{noren.Textf("Persons, told apart by %s", plain(was.Column)), noren.Textf("original")}, []*assess.Persons{was}
	if b.a.ReleasePersons != nil {
		heads, all = append(heads, noren.Textf("release")), append(all, b.a.ReleasePersons)
	}
	t := &Table{Header: heads, Numeric: []bool{false, true, true}[:len(heads)]}
	row := func(name noren.Text, value func(*assess.Persons) string) {
		figures := make([]string, len(all))
		for i, p := range all {
			figures[i] = value(p)
		}
		t.Add(name, figures...)
	}
	row(noren.Textf("Persons"), func(p *assess.Persons) string { return Integer(p.Persons) })
	row(noren.Textf("Records without a person"), func(p *assess.Persons) string { return Integer(p.Without) })
	row(noren.Textf("Persons in a class, smallest"), func(p *assess.Persons) string { return Integer(p.Smallest) })
	row(noren.Textf("Persons in a class, mean"), func(p *assess.Persons) string { return Number(p.Mean) })
	if was.K > 0 {
		row(noren.Textf("Classes of fewer than %d {person|persons}", was.K), func(p *assess.Persons) string { return Integer(p.BelowK.Classes) })
	}
	row(noren.Textf("Persons that fit all records of one, smallest"), func(p *assess.Persons) string { return Integer(p.Fit.Min) })
	row(noren.Textf("Persons that fit all records of one, mean"), func(p *assess.Persons) string { return Number(p.Fit.Mean) })
	row(noren.Textf("Persons whom no other fits"), func(p *assess.Persons) string { return Integer(p.Fit.Alone) })
	blocks := []Block{
		{Text: noren.Textf("A class protects by its persons, not by its records. Someone who knows several records of one person may compare " +
			"their classes: only the persons with a record in each of them fit.")},
		{Table: t},
	}
	if b.a.Release != nil && b.a.ReleasePersons == nil {
		blocks = append(blocks, Block{Text: noren.Textf("The release has no column of persons, so they could not be counted in it here.")})
	}
	return blocks
}
