package text

import (
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
)

// Misfits says how many cells do not fit the schema of a data set. It is for the steward.
func Misfits(cells int64, columns int) noren.Text {
	return noren.Textf("%s {cell|cells} in %s {column|columns} {1|does|do} not fit", Integer(cells), Integer(columns))
}

// Review says which cells of a file do not fit its schema and how they are read, and how
// large its units are: a heading, if any cell does not fit, with a line a column; then a
// line about units, if the unit is a column. It is for the steward, and names no cell's
// value.
func Review(l Lang, g *api.Granted) (heading string, columns []string, units string) {
	var cells int64
	for _, c := range g.Private.Columns {
		if c.Misfits == 0 {
			continue
		}
		cells += c.Misfits
		first := strings.Join(c.First, "; ")
		if m := g.Proposal.Model; m != nil && c.Name == m.Column {
			columns = append(columns, l.Text("%s: %d {cell is|cells are} in no state of the model and {2|counts|count} as %s, {2|at|the first "+
				"at} %s", c.Name, c.Misfits, m.Other, first))
			continue
		}
		columns = append(columns, l.Text("%s: %d {cell is|cells are} not of the type %s and {2|counts|count} as missing, {2|at|the first at} %s",
			c.Name, c.Misfits, c.Type, first))
	}
	if cells > 0 {
		heading = l.Shown(Misfits(cells, len(columns)))
	}
	if r := g.Private; r.LargestUnit > 0 {
		units = l.Text("the largest unit has %s {record|records}; %s {record|records} without a unit {2|counts|count} in no answer",
			Integer(r.LargestUnit), Integer(r.WithoutUnit))
	}
	return heading, columns, units
}

// Dataset says what a data set's schema rests on: what the steward declared, charges that
// are older than the schema, and other data sets with the same file.
func Dataset(l Lang, d *api.Dataset) (lines []Line) {
	for _, other := range d.OtherPeople {
		lines = append(lines, Line{"declared", l.Text("no person of %s is in data set %s", d.Name, other)})
	}
	if d.BeforeSchema > 0 {
		lines = append(lines, Line{"note", l.Text("%s {charge|charges} before this schema: {1|its|their} guarantee holds for the column types "+
			"that {1|its query|their queries} declared", Integer(d.BeforeSchema))})
	}
	for _, other := range d.SharedWith {
		lines = append(lines, Line{"note", l.Text("data set %s was granted for the same file: the same persons have two budgets", other)})
	}
	return lines
}

// Verified says whether a file has the properties that were asked for, and of what they
// were counted.
func Verified(l Lang, r *api.Verification) string {
	switch {
	case r.Met && r.Uncounted:
		return l.Text("meets all requirements for records (persons: not counted)")
	case r.Met:
		return l.Text("meets all requirements")
	case r.Uncounted:
		return l.Text("does NOT meet all requirements for records (persons: not counted)")
	}
	return l.Text("does NOT meet all requirements")
}
