// Package spec reads noren.yaml, the specification of a table and of its release.
//
// [Load] reads a file; [Spec.With] lays another specification over it, such as one
// made from flags or a request; [Spec.ResolveSource] resolves the result against a
// table and infers what it leaves open; [Spec.Options] are the parameters of a
// release. [Propose] writes a specification for a table.
//
// A specification is public: it names columns, levels and parameters, so its
// errors may repeat it, with line and column.
package spec

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter/yamlbound"
)

// Version is the format's version, the only one there is.
const Version = 1

// Spec is the whole file. The jsonschema tags become docs/noren.schema.json.
type Spec struct {
	Version   int               `yaml:"version" json:"version" jsonschema:"format version; always 1"`
	Input     Input             `yaml:"input,omitempty" json:"input,omitzero" jsonschema:"how the file is written; detected where left out"`
	Columns   map[string]Column `yaml:"columns,omitempty" json:"columns,omitempty" jsonschema:"the table's columns by name; one that is left out is kept unchanged"`
	Unit      string            `yaml:"unit,omitempty" json:"unit,omitempty" jsonschema:"the privacy unit: the column that tells persons apart; k, l and t then count persons; an identifier"`
	Anonymize Anonymize         `yaml:"anonymize,omitempty" json:"anonymize,omitzero" jsonschema:"the parameters of a k-anonymous release"`

	name string    // where it was read
	file *ast.File // for positions; nil when made from flags
}

// Input says how a file is written, or what of a workbook or database is read.
type Input struct {
	Delimiter string   `yaml:"delimiter,omitempty" json:"delimiter,omitempty" jsonschema:"one character between fields, or tab"`
	Encoding  string   `yaml:"encoding,omitempty" json:"encoding,omitempty" jsonschema:"utf-8, shift_jis, utf-16le, utf-16be, euc-jp, iso-2022-jp, latin-1 or windows-1252"`
	Header    *bool    `yaml:"header,omitempty" json:"header,omitempty" jsonschema:"true: the first line holds the names of the columns, whatever it looks like; false: it is a record, and the columns are named c1, c2, ..."`
	Sheet     string   `yaml:"sheet,omitempty" json:"sheet,omitempty" jsonschema:"the worksheet of a workbook, by its name or number from 1; the first that is not hidden where left out"`
	Hidden    string   `yaml:"hidden,omitempty" json:"hidden,omitempty" jsonschema:"what becomes of the rows and columns that a workbook hides: read or leave; a release of a workbook that hides some needs one"`
	Totals    string   `yaml:"totals,omitempty" json:"totals,omitempty" jsonschema:"what becomes of rows of a workbook or text file that hold totals or notes and no record: read or leave; a release of a table that has some needs one"`
	HeaderRow int      `yaml:"header-row,omitempty" json:"header-row,omitempty" jsonschema:"the row of a worksheet, or the line of a text file, from 1, that names the columns; the first that is not blank, or fits the table, where left out"`
	Query     string   `yaml:"query,omitempty" json:"query,omitempty" jsonschema:"file with one query in SQL whose result is the table, for databases; relative to this file"`
	Missing   []string `yaml:"missing,omitempty" json:"missing,omitempty" jsonschema:"texts that stand for a missing value; the empty field always does"`
}

// Column describes one column.
type Column struct {
	Role      string   `yaml:"role,omitempty" json:"role,omitempty" jsonschema:"identifier (dropped), quasi-identifier (transformed), sensitive (kept, checked), other (kept) or drop (dropped: it identifies no person and is not wanted)"`
	Type      string   `yaml:"type,omitempty" json:"type,omitempty" jsonschema:"integer, decimal, date, ordered or category; inferred where left out"`
	Format    string   `yaml:"format,omitempty" json:"format,omitempty" jsonschema:"how a date is written: YYYY, MM, DD, hh, mm, ss, or GE for a Japanese era; YYYY-MM-DD where left out; or how a number is written, shown by 1234.5: 1,234.5 or 1.234,5 or ¥1,234 or 1234.5%"`
	Order     []string `yaml:"order,omitempty" json:"order,omitempty" jsonschema:"the levels of an ordered column from lowest to highest"`
	Hierarchy string   `yaml:"hierarchy,omitempty" json:"hierarchy,omitempty" jsonschema:"CSV file with one line a value: the value, its group, the group's group, up to one root; relative to this file"`
	Round     *int     `yaml:"round,omitempty" json:"round,omitempty" jsonschema:"decimal places of a published mean; negative for tens, hundreds"`
	Bounds    []string `yaml:"bounds,omitempty" json:"bounds,omitempty" jsonschema:"smallest and largest value that a query of differential privacy counts; public: from what is known of the world, never from the data"`
	Keys      []string `yaml:"keys,omitempty" json:"keys,omitempty" jsonschema:"the values that a query groups by; public: from a code book, never from the data"`
}

// Anonymize holds the parameters of a k-anonymous release. Zero values mean
// the defaults of the command.
type Anonymize struct {
	K        int     `yaml:"k,omitempty" json:"k,omitempty" jsonschema:"smallest number of records that share their quasi-identifiers"`
	L        float64 `yaml:"l,omitempty" json:"l,omitempty" jsonschema:"l-diversity of every sensitive column"`
	LModel   string  `yaml:"l-model,omitempty" json:"l-model,omitempty" jsonschema:"distinct, entropy or recursive"`
	LMissing string  `yaml:"l-missing,omitempty" json:"l-missing,omitempty" jsonschema:"whether a missing sensitive value counts towards l: skip (default) or value"`
	C        float64 `yaml:"c,omitempty" json:"c,omitempty" jsonschema:"the c of recursive (c,l)-diversity"`
	T        float64 `yaml:"t,omitempty" json:"t,omitempty" jsonschema:"t-closeness of every sensitive column"`
	Method   string  `yaml:"method,omitempty" json:"method,omitempty" jsonschema:"auto, mondrian, mondrian-strict, mdav, vmdav, tomobiki or topdown"`
	Gamma    float64 `yaml:"gamma,omitempty" json:"gamma,omitempty" jsonschema:"gain factor of vmdav"`
	M        int     `yaml:"m,omitempty" json:"m,omitempty" jsonschema:"pairs that tomobiki joins a component by"`
	Coarse   string  `yaml:"coarse,omitempty" json:"coarse,omitempty" jsonschema:"auto, off, or the least number of records of a coarse cell"`
	Refine   string  `yaml:"refine,omitempty" json:"refine,omitempty" jsonschema:"off, fast, auto, or a duration such as 20s"`
	Suppress string  `yaml:"suppress,omitempty" json:"suppress,omitempty" jsonschema:"most records to leave out: off, a share such as 1%, or a number"`
	Gap      string  `yaml:"gap,omitempty" json:"gap,omitempty" jsonschema:"how long to look for a better lower bound of the loss: off, or a duration such as 60s"`
	Scale    string  `yaml:"scale,omitempty" json:"scale,omitempty" jsonschema:"zscore, minmax or none"`
	Publish  string  `yaml:"publish,omitempty" json:"publish,omitempty" jsonschema:"matched, aggregate, generalize or shares"`
	Ranges   string  `yaml:"ranges,omitempty" json:"ranges,omitempty" jsonschema:"ends of the ranges of generalize: tight (of the class) or fixed (of a grid of round numbers)"`
	// UnitLinkage and Pseudonym go with the unit.
	UnitLinkage string `yaml:"unit-linkage,omitempty" json:"unit-linkage,omitempty" jsonschema:"what others may know of a person's records: one of them, or all and that they are of one person"`
	Pseudonym   bool   `yaml:"pseudonym,omitempty" json:"pseudonym,omitempty" jsonschema:"replace the unit by a pseudonym drawn for the release; needs unit-linkage all"`
	Formulas    string `yaml:"formulas,omitempty" json:"formulas,omitempty" jsonschema:"texts of a text file that spreadsheets take for formulas: keep (default), or text, with an apostrophe before each; a release is read back the same way"`
	KeepOrder   bool   `yaml:"keep-order,omitempty" json:"keep-order,omitempty" jsonschema:"keep the order of the rows instead of shuffling them"`
}

// Parse reads a specification; name goes into errors. A key that the format
// does not know is an error: a misspelt role must not become "kept".
func Parse(name string, data []byte) (s *Spec, err error) {
	// The YAML library panics on some malformed files (the fuzz corpus keeps
	// them); that must not cross this border.
	defer func() {
		if recover() != nil {
			s, err = nil, &noren.Error{Kind: noren.Usage, Where: noren.File(name), What: "not valid YAML"}
		}
	}()
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if err := yamlbound.Check(name, data); err != nil {
		return nil, err
	}
	if err := withoutConnections(name, data); err != nil {
		return nil, err
	}
	s = &Spec{}
	dec := yaml.NewDecoder(bytes.NewReader(data), yaml.DisallowUnknownField())
	err = dec.Decode(s)
	s.name = name // decoding replaces the whole value
	if err != nil {
		if errors.Is(err, io.EOF) {
			return nil, &noren.Error{
				Kind: noren.Usage, Code: CodeEmpty, Where: noren.File(name), What: "the specification is empty",
				Hint: "expected version: 1 and the columns",
			}
		}
		return nil, unreadable(name, err)
	}
	var more any
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, s.fault("", noren.Textf("more than one document"), noren.Textf("one specification a file"))
	}
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, &noren.Error{Kind: noren.Usage, Where: noren.File(name), What: "not valid YAML", Err: err}
	}
	s.file = file
	if s.Version != Version {
		return nil, s.fault("version", noren.Textf("version %d is not known", s.Version), noren.Textf("write version: %d", Version))
	}
	return s, nil
}

// Codes of errors about a specification.
const (
	// SeedCode: it holds a seed.
	SeedCode = "spec-seed"
	// CodeInvalid: it holds what the format does not know.
	CodeInvalid = "spec-invalid"
	// CodeEmpty: it is empty.
	CodeEmpty = "spec-empty"
	// CodeUnreadable: the file cannot be read.
	CodeUnreadable = "spec-unreadable"
)

// unreadable says where and why a file is no specification.
func unreadable(name string, err error) error {
	var at yaml.Error
	if !errors.As(err, &at) || at.GetToken() == nil {
		return &noren.Error{Kind: noren.Usage, Where: noren.File(name), What: "not valid YAML"}
	}
	what := noren.Textf("%s", noren.Foreign(at.GetMessage()))
	if at.GetMessage() == `unknown field "seed"` {
		p := at.GetToken().Position
		return &noren.Error{
			Kind: noren.Usage, Code: SeedCode, Where: noren.Textf("%s:%d:%d", noren.File(name), p.Line, p.Column),
			What: "a specification holds no seed: it is a secret that tells the order of the rows, and a specification is public",
		}
	}
	var mismatch *yaml.TypeError
	if errors.As(err, &mismatch) {
		what = noren.Textf("expected %s, found %s", mismatch.DstType, mismatch.SrcType)
	}
	p := at.GetToken().Position
	return &noren.Error{
		Kind: noren.Usage, Where: noren.Textf("%s:%d:%d", noren.File(name), p.Line, p.Column), What: "not a valid specification: %s", Args: []any{
			what,
		},
		Code: CodeInvalid, Hint: "docs/noren.schema.json holds what a specification may hold",
	}
}

// Name is the name it was read by, empty when it was made from flags.
func (s *Spec) Name() string { return s.name }

// fault is a Usage error about the entry at path ("columns.age.type").
func (s *Spec) fault(path string, what, hint noren.Text) *noren.Error {
	return &noren.Error{Kind: noren.Usage, Where: s.at(path), What: what.Format, Args: what.Args, Hint: hint.Format, HintArgs: hint.Args}
}

// at says where the entry at path stands: with its line when it was read from
// a file, as the flag's words otherwise.
func (s *Spec) at(path string) any {
	if path == "" {
		return noren.File(s.name)
	}
	if s.file == nil {
		if name, ok := strings.CutPrefix(path, "columns."); ok && s.name == "" {
			return noren.Textf("column %s", name)
		}
		return s.within(path)
	}
	if line, column, ok := s.position(path); ok {
		return noren.Place{noren.Textf("%s:%d:%d", noren.File(s.name), line, column), path}
	}
	return s.within(path)
}

// within is a part of the specification, after its name where it has one.
func (s *Spec) within(path string) any {
	if s.name == "" {
		return path
	}
	return noren.Place{noren.File(s.name), path}
}

// position finds the line and column of a dotted path. Column names may hold
// dots, so that the middle of "columns.NAME.key" is taken as one name.
func (s *Spec) position(path string) (line, column int, ok bool) {
	b := (&yaml.PathBuilder{}).Root()
	switch parts := strings.Split(path, "."); {
	case parts[0] == "columns" && len(parts) > 2:
		b = b.Child("columns").Child(strings.Join(parts[1:len(parts)-1], ".")).Child(parts[len(parts)-1])
	default:
		for _, p := range parts {
			b = b.Child(p)
		}
	}
	node, err := b.Build().FilterFile(s.file)
	if err != nil || node == nil || node.GetToken() == nil {
		return 0, 0, false
	}
	p := node.GetToken().Position
	return p.Line, p.Column, true
}
