package assess_test

import (
	"slices"
	"testing"

	"github.com/noren-privacy/noren/assess"
	"github.com/noren-privacy/noren/table"
)

// A column that does not differ from its source may be a quasi-identifier only where it
// divides classes, and each part has two records or more.
func TestChanged(t *testing.T) {
	category := func(name string, texts ...string) *table.Column {
		return column(t, table.Field{Name: name, Type: table.Category}, texts...)
	}
	note := category("note", "a", "b", "c", "d", "e", "f", "g", "h")
	constant := category("ward", "1", "1", "1", "1", "2", "2", "2", "2") // within classes
	halves := category("sex", "f", "f", "m", "m", "f", "f", "f", "f")
	single := category("ill", "x", "y", "y", "y", "x", "x", "x", "x")
	source := tableOf(category("age", "1", "2", "3", "4", "5", "6", "7", "8"), note, constant, halves, single)
	release := tableOf(category("age", "2", "2", "2", "2", "6", "6", "6", "6"), note, constant, halves, single)
	row := []uint32{0, 1, 2, 3, 4, 5, 6, 7}
	none := func(string) bool { return false }
	compare := func(source, release *table.Table, row []uint32, persons func(string) bool) (changed, undecided []string) {
		c := assess.NewChanged(source, release, row, persons)
		if c.Single {
			t.Errorf("a single record: %+v", c)
		}
		return c.Quasi, c.Undecided
	}
	changed, undecided := compare(source, release, row, none)
	if !slices.Equal(changed, []string{"age"}) || !slices.Equal(undecided, []string{"sex"}) {
		t.Errorf("changed %v, undecided %v", changed, undecided)
	}
	changed, undecided = compare(source, release, row, func(name string) bool { return name == "sex" })
	if !slices.Equal(changed, []string{"age"}) || len(undecided) > 0 {
		t.Errorf("changed %v, undecided %v", changed, undecided)
	}
	if got := assess.Unchanged(source, release); !slices.Equal(got, []string{"note", "ward", "sex", "ill"}) {
		t.Errorf("unchanged %v", got)
	}
	// Rows in another order are paired before they are compared.
	back := release.Columns[4].Select([]uint32{7, 6, 5, 4, 3, 2, 1, 0})
	turned := tableOf(back)
	changed, _ = compare(source, turned, []uint32{7, 6, 5, 4, 3, 2, 1, 0}, none)
	if len(changed) > 0 {
		t.Errorf("changed %v", changed)
	}
	changed, _ = compare(source, turned, row, none)
	if len(changed) != 1 {
		t.Errorf("changed %v", changed)
	}
}

// A column whose values are renamed one by one, a pseudonym or a translation, is judged as
// one that is kept. One that a release draws for each record is no quasi-identifier.
func TestChangedNames(t *testing.T) {
	category := func(name string, texts ...string) *table.Column {
		return column(t, table.Field{Name: name, Type: table.Category}, texts...)
	}
	row := []uint32{0, 1, 2, 3}
	persons := func(name string) bool { return name == "who" }
	age, kept := category("age", "1", "2", "3", "4"), category("age", "1.5", "1.5", "1.5", "1.5")
	for _, c := range []struct {
		name, column string
		was, is      []string
		quasi, maybe []string
		single       bool
	}{
		{"a pseudonym of each record", "id", []string{"a", "b", "c", "d"}, []string{"p", "q", "r", "s"}, []string{"age"}, nil, false},
		{"a pseudonym of each person", "who", []string{"a", "b", "a", "b"}, []string{"p", "q", "p", "q"}, []string{"age"}, nil, false},
		{
			"a pseudonym of what was no person", "household",
			[]string{"a", "b", "a", "b"},
			[]string{"p", "q", "p", "q"},
			[]string{"age"},
			[]string{"household"},
			false,
		},
		{"persons that are generalised", "who", []string{"a", "b", "c", "d"}, []string{"x", "x", "y", "y"}, []string{"age", "who"}, nil, false},
		{"a translation", "sex", []string{"f", "m", "m", "f"}, []string{"F", "M", "M", "F"}, []string{"age"}, []string{"sex"}, false},
		{
			"another number for each record", "draw",
			[]string{"1", "1", "1", "1"},
			[]string{"1", "2", "3", "4"},
			[]string{"age", "draw"},
			nil,
			true,
		},
	} {
		got := assess.NewChanged(tableOf(age, category(c.column, c.was...)), tableOf(kept, category(c.column, c.is...)), row, persons)
		if !slices.Equal(got.Quasi, c.quasi) || !slices.Equal(got.Undecided, c.maybe) || got.Single != c.single {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}
