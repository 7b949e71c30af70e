package cli

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
)

// columnFlags are the flags that say what a table is. Laid over a
// specification they win for the columns that they name.
type columnFlags struct {
	spec        string
	quasi       []string
	identifier  []string
	sensitive   []string
	other       []string
	drop        []string
	types       []string
	orders      []string
	formats     []string
	hierarchies []string
	rounds      []string
	person      string // the column of --unit
	missing     []string
	delimiter   string
	encoding    string
	header      bool
	noHeader    bool
	sheet       string
	hidden      string
	totals      string
	headerRow   int
	query       string
}

func (f *columnFlags) register(c *cobra.Command) {
	s := c.Flags()
	s.StringVar(&f.spec, "spec", "", "read roles, types and parameters from this `FILE` (see noren init)")
	s.StringSliceVar(&f.quasi, "quasi", nil, "quasi-identifiers: `columns` an adversary may know, comma-separated")
	s.StringSliceVar(&f.identifier, "identifier", nil, "identifiers: `columns` that are dropped")
	s.StringSliceVar(&f.sensitive, "sensitive", nil, "sensitive `columns`: kept, and checked where --l or --t is given")
	s.StringSliceVar(&f.other, "other", nil, "`columns` that are kept untouched, also where they look like identifiers")
	s.StringSliceVar(&f.drop, "drop", nil, "`columns` that are dropped and identify no person")
	s.StringArrayVar(&f.types, "type", nil,
		"`COLUMN=TYPE`: integer, decimal, date, ordered or category (inferred when left out); may be repeated")
	s.StringArrayVar(&f.orders, "order", nil, "`COLUMN=LOW<...<HIGH`: the levels of an ordered column; may be repeated")
	s.StringArrayVar(&f.formats, "format", nil,
		"`COLUMN=LAYOUT`: how a date is written, as in YYYY-MM-DD or GE年M月D日, or a number, as in 1,234.5 or 1.234,5; may be repeated")
	s.StringArrayVar(&f.hierarchies, "hierarchy", nil,
		"`COLUMN=FILE`: generalisation hierarchy, CSV with one line per value, leaf to root; may be repeated")
	s.StringArrayVar(&f.rounds, "round", nil, "`COLUMN=PLACES`: decimal places of published means; may be repeated")
	s.StringVar(&f.person, "unit", "", "privacy unit: the `COLUMN` that tells persons apart; k, l and t then count persons")
	f.registerInput(c)
	f.registerHeader(c)
}

// registerHeader registers what the first line of a file is, for commands that
// refuse one that looks like data.
func (f *columnFlags) registerHeader(c *cobra.Command) {
	s := c.Flags()
	s.BoolVar(&f.header, "header", false, "the first line holds the names of the columns, whatever it looks like")
	s.BoolVar(&f.noHeader, "no-header", false, "the first line is a record: the columns are named c1, c2, ...")
}

// registerTypes registers what says how a public file is written and what its columns
// are, without roles.
func (f *columnFlags) registerTypes(c *cobra.Command) {
	s := c.Flags()
	s.StringVar(&f.spec, "spec", "", "read types, bounds and keys from this `FILE` (see noren init)")
	s.StringArrayVar(&f.types, "type", nil, "`COLUMN=TYPE`: integer, decimal, date, ordered or category; may be repeated")
	s.StringArrayVar(&f.orders, "order", nil, "`COLUMN=LOW<...<HIGH`: the levels of an ordered column; may be repeated")
	s.StringArrayVar(&f.formats, "format", nil, "`COLUMN=LAYOUT`: how a date is written, as in YYYY-MM-DD; may be repeated")
	f.registerInput(c)
}

// registerInput registers only what says how a file is written.
func (f *columnFlags) registerInput(c *cobra.Command) {
	s := c.Flags()
	s.StringArrayVar(&f.missing, "missing", nil, "`TEXT` that stands for a missing value, beside the empty field; may be repeated")
	s.StringVar(&f.delimiter, "delimiter", "", "field delimiter: one `CHARACTER`, or tab (detected when left out)")
	s.StringVar(&f.encoding, "encoding", "", "`ENCODING`: "+csvio.Encodings+
		" (detected when left out; latin-1 and windows-1252 are never detected)")
	s.StringVar(&f.sheet, "sheet", "", "worksheet of a workbook, its `NAME` or number (default: the first that is not hidden)")
	s.StringVar(&f.hidden, "hidden", "",
		"what becomes of the rows and columns that a workbook hides: `read|leave`; a release or grant of a workbook that hides some needs it")
	s.StringVar(&f.totals, "totals", "", "what becomes of rows that hold totals or notes and no record, such as 合計 or ※: `read|leave`; a "+
		"release of a table that has some needs it, and a grant of a workbook")
	s.IntVar(&f.headerRow, "header-row", 0,
		"`ROW` of a worksheet, or line of a text file, from 1, that names the columns (default: the first that is not blank, or fits the table)")
	s.StringVar(&f.query, "query", "", "read the result of the SQL query in this `FILE`, from pg: or sqlite:DATABASE")
}

// merged is the specification with the flags laid over it.
func (f *columnFlags) merged() (*spec.Spec, error) {
	s, err := f.loaded()
	if err != nil {
		return nil, err
	}
	return s, f.layOver(s)
}

// mergedOfRelease is the specification with the flags laid over it, for a release of the table that
// the specification is of: where the names and records of the source stand holds for the source.
func (f *columnFlags) mergedOfRelease() (*spec.Spec, error) {
	s, err := f.loaded()
	if err != nil {
		return nil, err
	}
	s.Input = s.Input.Alike()
	return s, f.layOver(s)
}

// loaded is the specification of --spec, an empty one without.
func (f *columnFlags) loaded() (*spec.Spec, error) {
	if f.spec == "" {
		return &spec.Spec{Version: spec.Version}, nil
	}
	return spec.Load(f.spec)
}

// layOver lays the flags over a specification.
func (f *columnFlags) layOver(s *spec.Spec) error {
	over := &spec.Spec{Columns: map[string]spec.Column{}, Unit: f.person}
	over.Input = spec.Input{
		Delimiter: f.delimiter, Encoding: f.encoding, Sheet: f.sheet, Hidden: f.hidden, Totals: f.totals,
		HeaderRow: f.headerRow, Query: f.query, Missing: f.missing,
	}
	if f.header && f.noHeader {
		return &noren.Error{Kind: noren.Usage, Where: "--header, --no-header", What: "contradict each other"}
	}
	if f.header || f.noHeader {
		over.Input.Header = &f.header
	}
	if f.headerRow < 0 || f.headerRow > 1 && f.noHeader {
		return &noren.Error{Kind: noren.Usage, Where: "--header-row", What: "expected a line from 1 on, in a file with names"}
	}
	if err := f.roles(over); err != nil {
		return err
	}
	if err := f.properties(over); err != nil {
		return err
	}
	*s = *s.With(over)
	return nil
}

// roles states the roles that the flags give.
func (f *columnFlags) roles(over *spec.Spec) error {
	given := map[string]string{}
	for _, r := range []struct {
		flag  string
		role  table.Role
		names []string
	}{
		{"quasi", table.Quasi, f.quasi},
		{"identifier", table.Identifier, f.identifier},
		{"sensitive", table.Sensitive, f.sensitive},
		{"other", table.Other, f.other},
		{"drop", table.Drop, f.drop},
	} {
		for _, name := range r.names {
			if before, twice := given[name]; twice && before != r.flag {
				return &noren.Error{
					Kind: noren.Usage, Where: "--" + r.flag, What: "column %s is named by --%s too", Args: []any{name, before},
					Hint: "a column has one role",
				}
			}
			given[name] = r.flag
			c := over.Columns[name]
			c.Role = r.role.String()
			over.Columns[name] = c
		}
	}
	return nil
}

// properties states what the flags of the form COLUMN=VALUE give.
func (f *columnFlags) properties(over *spec.Spec) error {
	for _, p := range []struct {
		flag  string
		pairs []string
		set   func(c *spec.Column, value string) error
	}{
		{"type", f.types, func(c *spec.Column, v string) error { c.Type = v; return nil }},
		{"order", f.orders, func(c *spec.Column, v string) error { c.Order = strings.Split(v, "<"); return nil }},
		{"format", f.formats, func(c *spec.Column, v string) error { c.Format = v; return nil }},
		{"hierarchy", f.hierarchies, func(c *spec.Column, v string) error { c.Hierarchy = v; return nil }},
		{"round", f.rounds, func(c *spec.Column, v string) error {
			n, err := strconv.Atoi(v)
			c.Round = &n
			if err != nil {
				return noren.Reasonf("expected a number of places")
			}
			return nil
		}},
	} {
		for _, pair := range p.pairs {
			name, value, ok := strings.Cut(pair, "=")
			if !ok || name == "" || value == "" {
				return &noren.Error{
					Kind: noren.Usage, Where: "--" + p.flag, What: "expected COLUMN=VALUE", Hint: "for instance --%s %s",
					HintArgs: []any{p.flag, example[p.flag]},
				}
			}
			c := over.Columns[name]
			if err := p.set(&c, value); err != nil {
				return &noren.Error{Kind: noren.Usage, Where: "--" + p.flag + " " + name, Err: err}
			}
			over.Columns[name] = c
		}
	}
	return nil
}

var example = map[string]string{
	"type":      "postcode=category",
	"order":     "'severity=mild<moderate<severe'",
	"format":    "visit_date=DD.MM.YYYY",
	"hierarchy": "postcode=postcode.csv",
	"round":     "income=-2",
}
