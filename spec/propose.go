package spec

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/noren-privacy/noren/internal/grid"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/infer"
)

// ProposeOptions say what a proposal states beside the columns.
type ProposeOptions struct {
	// Input is how the table was read, as far as it was stated. Optional.
	Input Input
	// Undecided says that the table is a workbook that hides rows or columns, of which
	// nothing was decided.
	Undecided bool
	// UndecidedTotals says that rows hold totals or notes, of which nothing was decided.
	UndecidedTotals bool
	// Use is a line that says how the file is used, such as a command. Optional.
	Use string
	// Answers are the steward's, which decide where they differ from what was inferred.
	// Optional.
	Answers *Answers
	// Lang is the language of comments.
	Lang lang.Lang
}

// Propose writes what was inferred of a table as a commented specification: for each
// column its type and a proposed role, each with the reason. It holds numbers of values
// and records and the levels of ordered columns; otherwise no value of the table.
func Propose(r *infer.Report, o ProposeOptions) string {
	var b strings.Builder
	l := o.Lang
	b.WriteString(l.Text(`# The columns of a table and the parameters of its release.
# Proposed from %d {record|records}; the roles are proposals. Check each.
#
#   identifier        names a person or a record: dropped
#   quasi-identifier  what others may know of a person: made common to k records
#   sensitive         what others must not learn of a person: kept, and checked
#                     where l or t is given
#   other             kept untouched
#
# A column without a role has no proposal: nothing tells what it holds. Decide on it.
`, r.Rows))
	if o.Use != "" {
		fmt.Fprintf(&b, "#\n# %s\n", o.Use)
	}
	o.Answers.comment(&b, l)
	b.WriteString("\nversion: 1\n")
	proposeInput(&b, l, &o, r.Missing)
	switch unit := unitOf(r); {
	case o.Answers != nil && o.Answers.Unit != "":
		b.WriteString(l.Text("\n# Records with the same value here are of one person: k, l and t count persons\n# by it.\n"))
		fmt.Fprintf(&b, "unit: %s\n", Scalar(o.Answers.Unit))
	case o.Answers == nil && unit != nil:
		b.WriteString(l.Text("\n# Records with the same value here seem to be of one person: k, l and t count\n# persons by it. Remove the " +
			"line where each record is another person's.\n"))
		fmt.Fprintf(&b, "unit: %s\n", Scalar(unit.Field.Name))
	}
	b.WriteString("\ncolumns:\n")
	for i := range r.Columns {
		c := r.Columns[i]
		o.Answers.decide(&c)
		proposeColumn(&b, l, &c)
	}
	b.WriteString("\nanonymize:\n")
	b.WriteString(l.Text(`  # Every combination of quasi-identifiers will occur in at least k records, or
  # in records of k persons where a unit is named above.
`))
	fmt.Fprintf(&b, "  k: %d\n", o.Answers.k())
	if o.Answers != nil && len(o.Answers.Harmful) > 0 {
		b.WriteString(l.Text(`  # Every class will have at least this many different values in each sensitive
  # column.
`))
		b.WriteString("  l: 2\n")
		return b.String()
	}
	b.WriteString(l.Text(`  # Every class will have at least this many different values in each sensitive
  # column (remove the mark to ask for it).
`))
	b.WriteString("  # l: 2\n")
	return b.String()
}

// proposeInput states how the table is read.
func proposeInput(b *strings.Builder, l lang.Lang, o *ProposeOptions, missing []string) {
	in := o.Input
	var lines []string
	add := func(key string, value any) { lines = append(lines, fmt.Sprintf("  %s: %v\n", key, value)) }
	if in.Delimiter != "" {
		add("delimiter", Scalar(in.Delimiter))
	}
	if in.Encoding != "" {
		add("encoding", Scalar(in.Encoding))
	}
	if in.Header != nil {
		add("header", *in.Header)
	}
	if in.Sheet != "" {
		add("sheet", Scalar(in.Sheet))
	}
	if in.Hidden != "" {
		add("hidden", in.Hidden)
	}
	if o.Undecided {
		lines = append(lines,
			l.Text("  # The workbook hides rows or columns. Decide on them: read takes them, leave leaves\n  # them out.\n  # hidden: leave\n"))
	}
	if in.Totals != "" {
		add("totals", in.Totals)
	}
	if o.UndecidedTotals {
		lines = append(lines,
			l.Text("  # Rows hold totals or notes and no record. Decide on them: read takes them, leave leaves them out.\n  # totals: leave\n"))
	}
	if in.HeaderRow != 0 {
		add("header-row", in.HeaderRow)
	}
	if in.Query != "" {
		add("query", Scalar(in.Query))
	}
	if len(missing) > 0 {
		lines = append(lines, l.Text("  # Texts that stand for a missing value, as the empty field always does.\n"))
		add("missing", list(missing))
	}
	if len(lines) > 0 {
		b.WriteString("\ninput:\n" + strings.Join(lines, ""))
	}
}

// unitOf is the identifier that seems to tell most persons apart, who have
// several records each; nil where there is none.
func unitOf(r *infer.Report) *infer.Column {
	var unit *infer.Column
	for i := range r.Columns {
		c := &r.Columns[i]
		if c.Unit && c.Field.Role == table.Identifier && (unit == nil || c.Distinct > unit.Distinct) {
			unit = c
		}
	}
	return unit
}

func proposeColumn(b *strings.Builder, l lang.Lang, c *infer.Column) {
	f := &c.Field
	if c.Estimated {
		comment(b, l.Text("about %d different {value|values}, %d missing.", c.Distinct, c.Missing))
	} else {
		comment(b, l.Text("%d different {value|values}, %d missing.", c.Distinct, c.Missing))
	}
	comment(b, l.Text("Type: %s", c.TypeReason.In(l)))
	if c.TypeReason.Odd() {
		comment(b,
			l.Text("To say that a text stands for a missing value, add it to missing in input, and write the type that the column then has."))
	}
	open := c.RoleReason.Code == infer.RoleOpen
	if open { // a proposal without a reason would pass for a decision
		comment(b, l.Text("No role: nothing tells what they are. If others may know them, write role: quasi-identifier; if others must not "+
			"know them, sensitive; if they are kept as they are, other."))
	} else {
		comment(b, l.Text("Role: %s", c.RoleReason.In(l)))
	}
	if c.Unit {
		comment(b, l.Text("It seems to name persons who have several records each: name it as the unit, so that persons count and not records."))
	}
	fmt.Fprintf(b, "  %s:\n", Scalar(f.Name))
	if !open {
		fmt.Fprintf(b, "    role: %s\n", f.Role)
	}
	fmt.Fprintf(b, "    type: %s\n", f.Type)
	if f.Type == table.Date && f.Layout != "" {
		fmt.Fprintf(b, "    format: %s\n", Scalar(string(f.Layout)))
		if len(c.Layouts) > 1 {
			comment(b, l.Text("  The file does not tell this from %s: make sure.", c.Layouts[1]))
		}
	}
	if f.Number != "" {
		fmt.Fprintf(b, "    format: %s\n", Scalar(string(f.Number)))
	}
	if f.Type == table.Ordered {
		fmt.Fprintf(b, "    order: %s\n", list(f.Levels))
	}
	b.WriteByte('\n')
}

// comment writes text as comment lines of at most 80 characters.
func comment(b *strings.Builder, text string) { wrapped(b, "  # ", text) }

// wrapped writes text in lines of at most 80 characters that begin with start. Lines end
// at spaces, and beside characters that are two wide.
func wrapped(b *strings.Builder, start, text string) {
	const width = 76
	first := strings.TrimRight(start, " ")
	line := first
	for _, word := range strings.Fields(text) {
		for n, part := range breakable(word) {
			space := 0
			if n == 0 {
				space = 1
			}
			if grid.Width(line)+space+grid.Width(part) > width && line != first {
				b.WriteString(line + "\n")
				line = first
			}
			if line == first {
				line = start + part
				continue
			}
			line += strings.Repeat(" ", space) + part
		}
	}
	b.WriteString(line + "\n")
}

// breakable splits a word before each character that is two wide and that may begin a
// line: not before punctuation or a small or long kana.
func breakable(word string) (parts []string) {
	from := 0
	for i, r := range word {
		if i > 0 && grid.Width(string(r)) == 2 && !strings.ContainsRune("、。）」』・ーぁぃぅぇぉっゃゅょァィゥェォッャュョ", r) && !strings.HasSuffix(word[:i], "（") &&
			!strings.HasSuffix(word[:i], "「") {
			parts, from = append(parts, word[from:i]), i
		}
	}
	return append(parts, word[from:])
}

// Scalar writes a string as YAML, quoted where it must be.
func Scalar(s string) string {
	out, err := yaml.MarshalWithOptions(s, yaml.JSON())
	plain := err == nil && strings.IndexFunc(s, func(r rune) bool {
		return !(r == '_' || r == '-' || r == '.' || r == '/' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z')
	}) < 0
	if plain && s != "" && (s[0] >= 'A' && s[0] <= 'Z' || s[0] >= 'a' && s[0] <= 'z') && !reserved[strings.ToLower(s)] {
		return s
	}
	return strings.TrimSpace(string(out))
}

// reserved are words that YAML takes for something else than text.
var reserved = map[string]bool{
	"true": true, "false": true, "null": true, "yes": true, "no": true, "on": true, "off": true, "y": true,
	"n": true,
}

func list(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = Scalar(w)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
