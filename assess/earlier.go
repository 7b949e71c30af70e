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

// Changed is what the columns of a release tell of its quasi-identifiers, beside its source.
type Changed struct {
	// Quasi are the columns that hold other values than the source: the quasi-identifiers, but
	// for those in which all records of a class had the same value before.
	Quasi []string
	// Undecided are the columns that hold what the source holds, as it is or with each value
	// renamed, and may yet be quasi-identifiers: they divide classes of Quasi into parts of
	// which each has two records or more. Another such column that divides a class is none,
	// as a class of a k-anonymous release, k >= 2, has more than one record, and one that
	// divides none makes no difference.
	Undecided []string
	// Single reports that Quasi divide the release into classes of which one has a single
	// record: some of them are no quasi-identifiers.
	Single bool
}

// NewChanged compares a release with its source; row is the row of the release for each
// record. A column that tells persons apart is passed over where the release holds its
// values or a pseudonym for each.
func NewChanged(source, release *table.Table, row []uint32, persons func(name string) bool) *Changed {
	found := &Changed{}
	of := make([]uint32, release.Rows) // classes by the columns that differ
	var same []*table.Column
	for _, c := range release.Columns {
		if s := source.Column(c.Field.Name); s != nil && renamed(s, c, row) {
			if !persons(c.Field.Name) {
				same = append(same, c)
			}
			continue
		}
		found.Quasi = append(found.Quasi, c.Field.Name)
		var sizes []int
		of, sizes = divide(of, c)
		found.Single = len(sizes) > 0 && slices.Min(sizes) == 1
	}
	classes := 1
	for _, n := range of {
		classes = max(classes, int(n)+1)
	}
	for _, c := range same {
		parts, sizes := divide(of, c)
		if len(sizes) > classes && slices.Min(sizes) > 1 && len(parts) > 0 {
			found.Undecided = append(found.Undecided, c.Field.Name)
		}
	}
	return found
}

// renamed reports whether each value of the source has one value of the release, and no two
// have the same: the values themselves, others for them, or pseudonyms.
func renamed(source, release *table.Column, row []uint32) bool {
	there, back := map[string]string{}, map[string]string{}
	for i, r := range row {
		a, b := cell(source, i), cell(release, int(r))
		if was, known := there[a]; known && was != b {
			return false
		}
		if was, known := back[b]; known && was != a {
			return false
		}
		there[a], back[b] = b, a
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
