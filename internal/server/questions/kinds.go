package questions

import (
	"slices"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/server/books"
	"github.com/noren-privacy/noren/kinds"
	"github.com/noren-privacy/noren/lang"
)

// Kind is what is public of a kind of question.
type Kind struct {
	Kind    string      `json:"kind" doc:"The name of the kind."`
	Text    api.Message `json:"text" doc:"What the answer is."`
	Fields  []KindField `json:"fields" nullable:"false" doc:"The fields of a question of the kind, beside kind, noise, pay and margin."`
	Noises  []string    `json:"noises" nullable:"false" doc:"The mechanisms that noise may name, of a book those that its budget can pay; empty where it is always chosen."`
	Unit    string      `json:"unit" doc:"What the answer is counted in: records, column (the unit of the column), column^2, share (or the unit of the column), or empty."`
	Margin  string      `json:"margin" enum:"value,rank,none" doc:"What a margin bounds: the error of the value, or of the rank in records; none where it is not known before the answer, so that pay is stated."`
	Size    string      `json:"size" doc:"What the number of records of a group changes: price (of a margin), sampling (the error of sampling alone), or nothing (empty)."`
	Grouped bool        `json:"grouped" doc:"Whether it can be asked by groups."`
	Persons bool        `json:"persons" doc:"Whether it can be asked where the privacy unit is a person."`
}

// KindField is a field of the questions of a kind.
type KindField struct {
	Name     string      `json:"name" doc:"The name of the field."`
	Text     api.Message `json:"text" doc:"What it is."`
	Form     string      `json:"form" doc:"What it holds: column, columns, groups, condition, bounds, values, lists, decimal, integer, number, numbers, choice, public_table, query or adversaries."`
	Required bool        `json:"required" doc:"Whether a question lacks something without it."`
	Default  string      `json:"default,omitempty" doc:"The value that an absent field has."`
	Filled   string      `json:"filled,omitempty" doc:"The part of the book's definition that is taken where the field is absent: bounds or keys."`
	Types    []string    `json:"types,omitempty" nullable:"false" doc:"The types of columns that it may name."`
	Choices  []string    `json:"choices,omitempty" nullable:"false" doc:"What it may hold: of the kind, or with a book the names of its columns, public tables or states; absent for all."`
}

// Kinds are the kinds of questions. With a book they are those that can be asked of it, with the choices that it
// leaves: none where its table is deleted. They follow from its public definition and its accounting.
func Kinds(book *books.Book) []Kind {
	out := []Kind{}
	if book != nil && book.Deleted {
		return out // nothing can be asked
	}
	for _, f := range kinds.All() {
		k := Kind{
			Kind: f.Name, Text: lang.Fixed("kind."+f.Name, f.Text), Fields: []KindField{}, Noises: list(payable(f, book)), Unit: string(f.Unit),
			Margin: string(f.Margin), Size: string(f.Size), Grouped: f.Grouped, Persons: f.Persons,
		}
		possible := book == nil || f.Persons || book.Unit == "record"
		for i := range f.Fields {
			field, ok := kindField(f.Name, &f.Fields[i], book)
			k.Fields, possible = append(k.Fields, field), possible && ok
		}
		if possible {
			out = append(out, k)
		}
	}
	return out
}

// payable are the mechanisms of a kind that the budget of a book can pay. Without a delta none that needs one can be paid; a
// budget in zCDP pays Gaussian noise of queries alone by a rho.
func payable(f *kinds.Facts, book *books.Book) []string {
	var pays bool
	switch {
	case book == nil:
		pays = true
	case book.Accounting == "zcdp":
		pays = f.Query != ""
	default:
		pays = book.Cap.Delta != "" && book.Cap.Delta != "0"
	}
	if pays {
		return f.Noises
	}
	return slices.DeleteFunc(slices.Clone(f.Noises), func(noise string) bool { return slices.Contains(f.Delta, noise) })
}

// kindField is a field with the choices that a book leaves; ok is false where it must hold something and has none.
func kindField(kind string, f *kinds.Field, book *books.Book) (out KindField, ok bool) {
	out = KindField{
		Name: f.Name, Text: lang.Fixed("kind."+kind+"."+f.Name, f.Text), Form: string(f.Form), Required: f.Required, Default: f.Default,
		Filled: f.Filled, Choices: f.Choices,
	}
	for _, t := range f.Columns {
		out.Types = append(out.Types, t.String())
	}
	if book == nil {
		return out, true
	}
	switch f.Form {
	case kinds.AColumn, kinds.Several:
		out.Choices = named(book, func(c *books.DefinedColumn) bool { return len(out.Types) == 0 || slices.Contains(out.Types, c.Type) })
	case kinds.Groups:
		out.Choices = named(book, func(c *books.DefinedColumn) bool {
			return c.Name != book.Unit && len(c.Keys)+len(c.Order) > 0
		})
	case kinds.PublicTable:
		out.Choices = []string{}
		for i := range book.Publics {
			if book.Model == nil {
				out.Choices = append(out.Choices, book.Publics[i].Table)
			}
		}
	case kinds.Model:
		if book.Model != nil {
			out.Choices = book.Model.States
		}
	default:
		return out, true
	}
	return out, len(out.Choices) > 0 || !f.Required
}

// named are the names of the columns of a book that are as wanted. Under a model of dependent records there is
// one that can be asked about.
func named(book *books.Book, wanted func(c *books.DefinedColumn) bool) []string {
	out := []string{}
	for i := range book.Columns {
		c := &book.Columns[i]
		if (book.Model == nil || c.Name == book.Model.Column) && wanted(c) {
			out = append(out, c.Name)
		}
	}
	return out
}
