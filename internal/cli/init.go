package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/infer"
)

func newInit(t *terminal) *cobra.Command {
	var input columnFlags
	var output string
	var force, schema bool
	c := &cobra.Command{
		Use:   "init FILE [-o noren.yaml]",
		Short: "Propose what a table's columns are, as a commented noren.yaml",
		Long: `Reads the whole table and writes a specification: for each column its type and a
proposed role, each with the reason. The roles are proposals: what others may
know of the persons in a table cannot be read from it. Read the file, correct
it, and give it to noren anonymize --spec.

The reasons hold numbers of values and records, and for ordered columns the
levels; otherwise no value of the table.`,
		Example: `  noren init visits.csv -o noren.yaml
  noren init visits.csv --missing NA | less
  noren init --schema > noren.schema.json`,
		Args: func(_ *cobra.Command, args []string) error {
			if schema && len(args) == 0 {
				return nil
			}
			return exactly("FILE")(nil, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if schema {
				return printSchema(t.stdout)
			}
			return runInit(c.Context(), t, &input, args[0], output, force)
		},
	}
	input.registerInput(c)
	input.registerHeader(c)
	c.Flags().StringVarP(&output, "output", "o", "-", "write to this `FILE`; - is standard output")
	c.Flags().BoolVar(&force, "force", false, "replace the file when it exists")
	c.Flags().BoolVar(&schema, "schema", false, "print the JSON schema of noren.yaml instead")
	return c
}

func printSchema(w io.Writer) error {
	out, err := spec.JSONSchema()
	if err != nil {
		return err
	}
	_, err = w.Write(out)
	return err
}

func runInit(ctx context.Context, t *terminal, input *columnFlags, name, output string, force bool) error {
	if err := t.apart([]string{name}, output); err != nil {
		return err
	}
	if err := checkTargets(force, output); err != nil {
		return err
	}
	report, err := inspectFile(ctx, t, input, name)
	if err != nil {
		return err
	}
	if input.query != "" && output != "-" {
		// A specification names files from its own folder.
		if relative, err := filepath.Rel(filepath.Dir(output), input.query); err == nil {
			input.query = filepath.ToSlash(relative)
		}
	}
	err = writePrivate(output, force, t.stdout, func(w io.Writer) error {
		_, err := io.WriteString(w, proposal(name, input, report))
		return err
	})
	if err == nil && output != "-" {
		t.note("wrote %s: read it, correct the roles, then noren anonymize %s -o OUTPUT --spec %s", output, name, output)
	}
	return err
}

// inspectFile infers a whole file.
func inspectFile(ctx context.Context, t *terminal, input *columnFlags, name string) (*infer.Report, error) {
	s := &spec.Spec{Version: spec.Version}
	if err := input.layOver(s); err != nil {
		return nil, err
	}
	src, err := openTable(ctx, name, t, s)
	if err != nil {
		return nil, err
	}
	defer closeSource(src)
	o := infer.Options{Formats: true, Progress: t.progress.report}
	if len(input.missing) > 0 {
		o.Missing = input.missing
	}
	report, err := infer.Infer(ctx, src, o)
	t.progress.clear()
	if err != nil {
		return nil, err
	}
	if report.Rows == 0 {
		return nil, &noren.Error{Kind: noren.BadData, Where: src.Name(), What: "the table has no records", Hint: "there is nothing to tell its columns by"}
	}
	return report, nil
}

// proposal writes a report as a specification.
func proposal(name string, input *columnFlags, r *infer.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# What the columns are, and how the table may be handed out.
# Proposed by noren init from %d records; the roles are proposals. Check each.
#
#   identifier        names a person or a record: dropped
#   quasi-identifier  what others may know of a person: made common to k records
#   sensitive         what nobody should learn of a person: kept, and checked
#                     where l or t is given
#   other             kept untouched
#
# noren anonymize %s -o OUTPUT --spec THIS-FILE

version: 1
`, r.Rows, scalar(name))
	if len(r.Missing) > 0 || input.delimiter != "" || input.encoding != "" || input.header || input.noHeader || input.sheet != "" || input.headerRow != 0 || input.query != "" {
		b.WriteString("\ninput:\n")
		if input.delimiter != "" {
			fmt.Fprintf(&b, "  delimiter: %s\n", scalar(input.delimiter))
		}
		if input.encoding != "" {
			fmt.Fprintf(&b, "  encoding: %s\n", scalar(input.encoding))
		}
		if input.header || input.noHeader {
			fmt.Fprintf(&b, "  header: %t\n", input.header)
		}
		if input.sheet != "" {
			fmt.Fprintf(&b, "  sheet: %s\n", scalar(input.sheet))
		}
		if input.headerRow != 0 {
			fmt.Fprintf(&b, "  header-row: %d\n", input.headerRow)
		}
		if input.query != "" {
			fmt.Fprintf(&b, "  query: %s\n", scalar(input.query))
		}
		if len(r.Missing) > 0 {
			fmt.Fprintf(&b, "  # Texts that stand for a missing value, as the empty field always does.\n  missing: %s\n", list(r.Missing))
		}
	}
	if unit := unitOf(r); unit != nil {
		b.WriteString("\n# Records with the same value here seem to be of one person: k, l and t count\n# persons by it. Remove the line where each record is another person's.\n")
		fmt.Fprintf(&b, "unit: %s\n", scalar(unit.Field.Name))
	}
	b.WriteString("\ncolumns:\n")
	for i := range r.Columns {
		proposeColumn(&b, &r.Columns[i])
	}
	b.WriteString(`
anonymize:
  # Every combination of quasi-identifiers will occur in at least k records, or
  # in records of k persons where a unit is named above.
  k: 5
  # Every class will have at least this many different values in each sensitive
  # column (remove the mark to ask for it).
  # l: 2
`)
	return b.String()
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

func proposeColumn(b *strings.Builder, c *infer.Column) {
	f := &c.Field
	about := "about "
	if !c.Estimated {
		about = ""
	}
	fmt.Fprintf(b, "  # %s%d different values, %d missing.\n", about, c.Distinct, c.Missing)
	comment(b, "Type: "+c.TypeReason)
	comment(b, "Role: "+c.RoleReason)
	if c.Unit {
		comment(b, "It seems to name persons who have several records each: name it as the unit, so that persons count and not records.")
	}
	fmt.Fprintf(b, "  %s:\n    role: %s\n    type: %s\n", scalar(f.Name), f.Role, f.Type)
	if f.Type == table.Date && f.Layout != "" {
		fmt.Fprintf(b, "    format: %s\n", scalar(string(f.Layout)))
		if len(c.Layouts) > 1 {
			comment(b, fmt.Sprintf("  The file does not tell this from %s: make sure.", c.Layouts[1]))
		}
	}
	if f.Number != "" {
		fmt.Fprintf(b, "    format: %s\n", scalar(string(f.Number)))
	}
	if f.Type == table.Ordered {
		fmt.Fprintf(b, "    order: %s\n", list(f.Levels))
	}
	b.WriteByte('\n')
}

// comment writes text as comment lines of at most 80 characters.
func comment(b *strings.Builder, text string) {
	const width = 76
	line := "  #"
	for _, word := range strings.Fields(text) {
		if len(line)+1+len(word) > width && line != "  #" {
			b.WriteString(line + "\n")
			line = "  #"
		}
		line += " " + word
	}
	b.WriteString(line + "\n")
}

// scalar writes a string as YAML, quoted where it must be.
func scalar(s string) string {
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
var reserved = map[string]bool{"true": true, "false": true, "null": true, "yes": true, "no": true, "on": true, "off": true, "y": true, "n": true}

func list(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = scalar(w)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
