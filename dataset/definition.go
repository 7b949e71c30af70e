package dataset

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
)

const (
	// Format names the format of definitions.
	Format = "noren.dataset/1"
	// Rule names the cell rule.
	Rule = "noren.reading/1"
	// DefaultAtMost is the bound on the number of records where none is given.
	DefaultAtMost = 20_000_000
	// MostRecords is the largest bound on the number of records.
	MostRecords = 1 << 30
)

const (
	kindCSV     = "csv"
	kindParquet = "parquet"
	maxText     = 1 << 20 // of a definition, in bytes
	maxColumns  = 1<<16 - 1
	maxCell     = 16 << 20
)

// Definition is the public description of a data set: how its file is read, what
// its privacy unit is, and how many records it has at most.
//
// [Parse] and [Propose] return complete definitions: defaults filled, columns
// sorted by the bytes of their names. [Definition.Complete] makes one of a
// definition that was built by hand.
type Definition struct {
	// Format is [Format].
	Format string `json:"format"`
	// File is how the file is written.
	File File `json:"file"`
	// Missing are the texts that mean a missing value in every column, beside the
	// empty text. Sorted by bytes.
	Missing []string `json:"missing"`
	// Columns are all columns of the file, sorted by the bytes of their names.
	Columns []Column `json:"columns"`
	// Neighbours is "add-remove" or "replace-one". Defaults to "add-remove".
	Neighbours string `json:"neighbours"`
	// Unit is the privacy unit: "record", or the name of a column whose equal
	// texts mark the records of one person. Defaults to "record", which
	// is never a column: a column of that name cannot be a unit.
	Unit string `json:"unit"`
	// AtMost bounds the number of records. Defaults to Records, or to
	// [DefaultAtMost]; at most [MostRecords].
	AtMost int64 `json:"at_most"`
	// Records is the exact number of records. Required for replace-one with the
	// unit record, where it is public, and absent otherwise.
	Records int64 `json:"records,omitempty"`
	// Model is the model of dependence of one column. Optional.
	Model *Model `json:"model,omitempty"`
}

// File is how a file is written.
type File struct {
	// Kind is "csv" (any text table) or "parquet". Defaults to "csv".
	Kind string `json:"kind"`
	// Delimiter is the character between fields of a text file. Defaults to a
	// comma; empty for Parquet.
	Delimiter string `json:"delimiter,omitempty"`
	// Encoding is "utf-8" or "shift_jis". Defaults to "utf-8"; empty for Parquet.
	Encoding string `json:"encoding,omitempty"`
	// Sharded says that the data set is a folder or a pattern of files of this form,
	// which are read one by one, each in a task of its own. It goes without a model.
	Sharded bool `json:"sharded,omitempty"`
}

// Column is the definition of one column.
type Column struct {
	Name string `json:"name"`
	// Type is category, ordered, integer, decimal or date. Defaults to category.
	Type string `json:"type"`
	// Layout is how a date is written. Defaults to "YYYY-MM-DD"; empty for all
	// other types.
	Layout string `json:"layout,omitempty"`
	// Levels are the values of an ordered column from lowest to highest.
	Levels []string `json:"levels,omitempty"`
	// Bounds are the default bounds of queries about an integer, decimal or
	// date column: two values as the column writes them. Optional. They do not
	// change how a cell is read.
	Bounds []string `json:"bounds,omitempty"`
	// Keys are the default groups of queries by a category or ordered column.
	// Optional. They do not change how a cell is read.
	Keys []string `json:"keys,omitempty"`
}

// Model is a model of dependence between the records of one column. It requires
// the relation replace-one, the unit record and a number of records.
type Model struct {
	// Column is the column that the model describes. Its type is ordered and its
	// levels are States; a definition may leave both out.
	Column string `json:"column"`
	// States are the states of the model, in the model's order.
	States []string `json:"states"`
	// Other is the state of every cell that is none of States, missing cells
	// included. Defaults to the first state.
	Other string `json:"other"`
	// Distribution is the model file. This package does not interpret it.
	Distribution json.RawMessage `json:"distribution"`
}

// complete returns a copy with defaults filled, columns and missing texts sorted.
// It changes nothing else, so that a definition and its completion have the same
// faults.
func (d *Definition) complete() *Definition {
	c := *d
	c.Format = orElse(c.Format, Format)
	c.File.Kind = orElse(c.File.Kind, kindCSV)
	if c.File.Kind == kindCSV {
		c.File.Delimiter = orElse(c.File.Delimiter, ",")
		c.File.Encoding = orElse(c.File.Encoding, csvio.UTF8.String())
		if r, err := csvio.ParseDelimiter(c.File.Delimiter); err == nil && r > 0 {
			c.File.Delimiter = string(r)
		}
		if e, err := csvio.ParseEncoding(c.File.Encoding); err == nil {
			c.File.Encoding = e.String()
		}
	}
	c.Missing = slices.Clone(c.Missing)
	slices.Sort(c.Missing)
	c.Missing = slices.Compact(c.Missing)
	c.Missing = slices.DeleteFunc(c.Missing, func(m string) bool { return m == "" })
	if c.Missing == nil {
		c.Missing = []string{}
	}
	c.Neighbours = orElse(c.Neighbours, account.AddRemove.String())
	c.Unit = orElse(c.Unit, account.Record)
	if c.AtMost == 0 {
		c.AtMost = DefaultAtMost
		if c.Records != 0 {
			c.AtMost = c.Records
		}
	}
	if d.Model != nil {
		m := *d.Model
		m.States, m.Distribution = slices.Clone(m.States), bytes.Clone(m.Distribution)
		if m.Other == "" && len(m.States) > 0 {
			m.Other = m.States[0]
		}
		c.Model = &m
	}
	c.Columns = slices.Clone(c.Columns)
	for i := range c.Columns {
		col := &c.Columns[i]
		col.Levels, col.Bounds, col.Keys = slices.Clone(col.Levels), slices.Clone(col.Bounds), slices.Clone(col.Keys)
		if m := c.Model; m != nil && col.Name == m.Column && len(col.Levels) == 0 &&
			(col.Type == "" || col.Type == table.Ordered.String() || col.Type == table.Category.String()) {
			col.Type, col.Levels = table.Ordered.String(), slices.Clone(m.States)
		}
		col.Type = orElse(col.Type, table.Category.String())
		if col.Type == table.Date.String() {
			col.Layout = orElse(col.Layout, string(table.ISODate))
		}
	}
	slices.SortStableFunc(c.Columns, func(a, b Column) int { return strings.Compare(a.Name, b.Name) })
	return &c
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// Complete returns a copy with defaults filled, columns and missing texts sorted,
// and validated. The errors are those of [Definition.Validate].
func (d *Definition) Complete() (*Definition, error) {
	c := d.complete()
	if err := c.validate(); err != nil {
		return nil, err
	}
	return c, nil
}

// Relation is the neighbouring relation.
func (d *Definition) Relation() account.Neighbours {
	if d.Neighbours == account.ReplaceOne.String() {
		return account.ReplaceOne
	}
	return account.AddRemove
}

// Column is the definition of the column of that name, or nil.
func (d *Definition) Column(name string) *Column {
	for i := range d.Columns {
		if d.Columns[i].Name == name {
			return &d.Columns[i]
		}
	}
	return nil
}

// Fields are the columns as mechanisms see them, in the order of the definition.
// The column of a model is ordered by its states.
func (d *Definition) Fields() []table.Field {
	fields := make([]table.Field, len(d.Columns))
	for i := range d.Columns {
		fields[i] = d.field(&d.Columns[i])
	}
	return fields
}

func (d *Definition) field(c *Column) table.Field {
	f := table.Field{Name: c.Name, Layout: table.Layout(c.Layout), Levels: slices.Clone(c.Levels)}
	f.Type, _ = table.ParseType(c.Type) // category where the definition is not complete
	if d.isModel(c.Name) {
		f.Type, f.Levels = table.Ordered, slices.Clone(d.Model.States)
	}
	return f
}

func (d *Definition) isModel(column string) bool { return d.Model != nil && d.Model.Column == column }

// Field is the column of that name as mechanisms see it. A column that does not
// exist is an error of kind Usage, code "column-missing".
func (d *Definition) Field(name string) (table.Field, error) {
	c := d.Column(name)
	if c == nil {
		return table.Field{}, d.missingColumn(name)
	}
	return d.field(c), nil
}

// Reading states in a certificate how the columns of an answer were read.
type Reading struct {
	Rule    string   `json:"rule"`
	Missing []string `json:"missing"`
	Columns []Column `json:"columns"`
}

// Reading is the part of the definition that decides how the named columns are
// read: their definitions and that of the unit column, in the order of the
// definition. Names that are no columns are left out.
func (d *Definition) Reading(columns []string) Reading {
	r := Reading{Rule: Rule, Missing: append([]string{}, d.Missing...), Columns: []Column{}}
	for i := range d.Columns {
		c := d.Columns[i]
		if c.Name == d.Unit || slices.Contains(columns, c.Name) {
			c.Levels, c.Bounds, c.Keys = slices.Clone(c.Levels), slices.Clone(c.Bounds), slices.Clone(c.Keys)
			r.Columns = append(r.Columns, c)
		}
	}
	return r
}
