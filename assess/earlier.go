package assess

import (
	"slices"

	"github.com/noren-privacy/noren/table"
)

// Unchanged lists the columns of a release that hold each value as often as its source
// does: those by which its rows may be paired with the source's.
func Unchanged(source, release *table.Table) []string {
	var out []string
	for _, c := range release.Columns {
		s := source.Column(c.Field.Name)
		if s == nil || source.Rows != release.Rows {
			continue
		}
		counts := map[string]int{}
		for i := range source.Rows {
			counts[cell(s, i)]++
		}
		for i := range release.Rows {
			counts[cell(c, i)]--
		}
		same := true
		for _, n := range counts {
			same = same && n == 0
		}
		if same {
			out = append(out, c.Field.Name)
		}
	}
	return out
}

// cell is a value, and a missing one is not any text.
func cell(c *table.Column, i int) string {
	if c.IsMissing(i) {
		return "-"
	}
	return ":" + c.Dict[c.Codes[i]]
}

// Changed lists the columns of a release, but for those that are passed over, that differ
// from its source somewhere: its quasi-identifiers, but for those in which all records of a
// class had the same value before. row is the row of the release for each record.
//
// undecided are the columns that do not differ and may yet be such quasi-identifiers: they
// divide classes of the others into parts of which each has two records or more. Another
// column that divides a class was none, as a class of a k-anonymous release, k >= 2, has more
// than one record, and one that divides none makes no difference.
func Changed(source, release *table.Table, row []uint32, over func(name string) bool) (changed, undecided []string) {
	of := make([]uint32, release.Rows) // classes by the columns that differ
	classes := 1
	var same []*table.Column
	for _, c := range release.Columns {
		if over(c.Field.Name) {
			continue
		}
		s := source.Column(c.Field.Name)
		if s != nil && equal(s, c, row) {
			same = append(same, c)
			continue
		}
		changed = append(changed, c.Field.Name)
		of, _ = divide(of, c)
	}
	for _, n := range of {
		classes = max(classes, int(n)+1)
	}
	for _, c := range same {
		parts, sizes := divide(of, c)
		if len(sizes) > classes && slices.Min(sizes) > 1 && len(parts) > 0 {
			undecided = append(undecided, c.Field.Name)
		}
	}
	return changed, undecided
}

func equal(source, release *table.Column, row []uint32) bool {
	for i, r := range row {
		if cell(source, i) != cell(release, int(r)) {
			return false
		}
	}
	return true
}

// divide divides classes by a column, and counts the records of each part.
func divide(of []uint32, c *table.Column) (parts []uint32, sizes []int) {
	type part struct {
		class uint32
		value string
	}
	number := map[part]uint32{}
	parts = make([]uint32, len(of))
	for i, class := range of {
		p := part{class, cell(c, i)}
		n, known := number[p]
		if !known {
			n = uint32(len(sizes))
			number[p] = n
			sizes = append(sizes, 0)
		}
		parts[i] = n
		sizes[n]++
	}
	return parts, sizes
}
