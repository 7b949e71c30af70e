package service

import (
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
	"github.com/noren-privacy/noren/table/formula"
)

// CodeFormulasText is the code of errors about a release that was written with formulas as
// text, and is read as if they were kept.
const CodeFormulasText = "formulas-text"

// openWritten opens a release of source, and reads all of its texts, in the form in which it
// was written: with texts that spreadsheets take for formulas as they are, or with marks.
func (a *assessing) openWritten(release string, source *table.Table) (file.Source, *table.Table, error) {
	open := func(choice formula.Choice) (file.Source, *table.Table, error) {
		src, err := a.service.openRelease(a.ctx, release, choice)
		if err != nil {
			return nil, nil, err
		}
		texts, err := a.allText(src)
		if err != nil {
			closeTable(src)
			return nil, nil, err
		}
		return src, texts, nil
	}
	src, texts, err := open(formula.Keep)
	if err != nil || !writtenAsText(texts.Columns, source.Columns) {
		return src, texts, err
	}
	closeTable(src)
	return open(formula.Text)
}

// writtenAsText reports whether the columns of a release, read with marks as they are, were
// written with formulas as text: some text has a mark that the source's column does not have,
// and no text is a formula.
func writtenAsText(release, source []*table.Column) bool {
	found := false
	has := func(name string) *table.Column {
		if i := slices.IndexFunc(source, func(c *table.Column) bool { return c.Field.Name == name }); i >= 0 {
			return source[i]
		}
		return nil
	}
	for _, c := range release {
		name := []byte(c.Field.Name)
		of := has(c.Field.Name)
		if formula.Is(name) {
			return false
		}
		if of == nil && formula.Needs(name) {
			plain, _ := formula.Unmark(name)
			of, found = has(string(plain)), true
		}
		for _, level := range c.Dict {
			text := []byte(level)
			if formula.Is(text) {
				return false
			}
			if formula.Needs(text) && (of == nil || !slices.Contains(of.Dict, level)) {
				found = true
			}
		}
	}
	return found
}

// checkWritten refuses a release that was written with formulas as text where the request does
// not say so: its labels would be none of the source's.
func (a *assessing) checkWritten(src table.Source, shown *table.Table) error {
	if !writtenAsText(shown.Columns, a.table.Columns) {
		return nil
	}
	return &noren.Error{
		Kind: noren.Usage, Code: CodeFormulasText, Where: table.PlaceOf(src),
		What: "expected a release with formulas as they are, got one with an apostrophe before them", Hint: "state formulas as text",
	}
}
