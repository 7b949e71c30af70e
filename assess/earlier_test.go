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
	changed, undecided := assess.Changed(source, release, row, none)
	if !slices.Equal(changed, []string{"age"}) || !slices.Equal(undecided, []string{"sex"}) {
		t.Errorf("changed %v, undecided %v", changed, undecided)
	}
	changed, undecided = assess.Changed(source, release, row, func(name string) bool { return name == "sex" })
	if !slices.Equal(changed, []string{"age"}) || len(undecided) > 0 {
		t.Errorf("changed %v, undecided %v", changed, undecided)
	}
	if got := assess.Unchanged(source, release); !slices.Equal(got, []string{"note", "ward", "sex", "ill"}) {
		t.Errorf("unchanged %v", got)
	}
	// Rows in another order are paired before they are compared.
	back := release.Columns[1].Select([]uint32{7, 6, 5, 4, 3, 2, 1, 0})
	turned := tableOf(back)
	if changed, _ = assess.Changed(source, turned, []uint32{7, 6, 5, 4, 3, 2, 1, 0}, none); len(changed) > 0 {
		t.Errorf("changed %v", changed)
	}
	if changed, _ = assess.Changed(source, turned, row, none); len(changed) != 1 {
		t.Errorf("changed %v", changed)
	}
}
