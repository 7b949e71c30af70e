package tables

import (
	"encoding/json"
	"time"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/spec"
)

// The kinds of sources.
const (
	FromUpload   = "upload"
	FromRoot     = "root"
	FromDatabase = "database"
)

// Source says where a table comes from.
type Source struct {
	Kind     string `json:"kind" enum:"upload,root,database" doc:"Where the table comes from."`
	Upload   string `json:"upload,omitempty" maxLength:"19" doc:"The id of an upload that is complete."`
	Root     string `json:"root,omitempty" maxLength:"100" doc:"The name of a granted folder."`
	Path     string `json:"path,omitempty" maxLength:"1000" doc:"The path of a file in the granted folder, with slashes."`
	Database string `json:"database,omitempty" maxLength:"100" doc:"The name of a configured database."`
	Table    string `json:"table,omitempty" maxLength:"300" doc:"TABLE or SCHEMA.TABLE of the database, as it is listed."`
}

// Origin is a source as it is shown.
type Origin struct {
	Kind  string `json:"kind" doc:"upload, root or database."`
	Label string `json:"label" doc:"The name of the file or table at its source."`
}

// The states of a table.
const (
	Reading   = "reading"
	Proposed  = "proposed"
	Confirmed = "confirmed"
	Changed   = "changed"
	Failed    = "failed"
)

// Message is a sentence with a code, by which the page translates it.
type Message = api.Message

// Health is a remark about a table.
type Health struct {
	Level   string  `json:"level" enum:"ok,attention,stop" doc:"How urgent the remark is."`
	Message Message `json:"message" doc:"The remark."`
}

// Confirmation says who confirmed a table.
type Confirmation struct {
	At time.Time `json:"at" doc:"When the columns were confirmed."`
	By string    `json:"by" doc:"The id of the steward."`
	// Name is shown and not stored: a principal may be renamed.
	Name string `json:"name,omitempty" doc:"The name of the steward."`
}

// LastRelease is the latest release of a table.
type LastRelease struct {
	ID      string    `json:"id" doc:"The id of the release."`
	K       int       `json:"k" doc:"Its k."`
	Classes int       `json:"classes" doc:"Its number of classes."`
	At      time.Time `json:"at" doc:"When it was made."`
}

// Line is a table in a list.
type Line struct {
	ID          string        `json:"id" doc:"tb_ and 16 characters."`
	Name        string        `json:"name" doc:"The name of the table."`
	Source      Origin        `json:"source" doc:"Where it comes from."`
	State       string        `json:"state" enum:"reading,proposed,confirmed,changed,failed" doc:"reading, proposed, confirmed, changed or failed."`
	Unit        string        `json:"unit,omitempty" doc:"The column that tells persons apart."`
	Rows        int64         `json:"rows,omitempty" doc:"The number of records."`
	Persons     int64         `json:"persons,omitempty" doc:"The number of persons, where a unit is stated."`
	Columns     int           `json:"columns,omitempty" doc:"The number of columns."`
	Added       time.Time     `json:"added" doc:"When the table was added."`
	Confirmed   *Confirmation `json:"confirmed,omitempty" doc:"Who confirmed its columns, and when."`
	LastRelease *LastRelease  `json:"last_release,omitempty" doc:"The latest release of the table."`
	Health      string        `json:"health" enum:"sound,waiting,stopped" doc:"Whether the table can be released, waits for a steward, or cannot be used."`
	Reason      *Message      `json:"reason,omitempty" doc:"Why it waits or cannot be used."`
}

// Table is a table with its columns.
type Table struct {
	Line
	ColumnsDetail []Column        `json:"columns_detail" nullable:"false" doc:"The columns, in order."`
	Missing       []string        `json:"missing,omitzero" nullable:"false" doc:"The texts that stand for a missing value, beside the empty one, for stewards."`
	Job           string          `json:"job,omitempty" doc:"The job that reads the table."`
	Failure       json.RawMessage `json:"failure,omitempty" doc:"Why the table could not be read: a problem."`
	FailureTexts  json.RawMessage `json:"-"`
	Form          *Form           `json:"form,omitempty" doc:"What was stated of the form of the file."`
	Read          *api.TableForm  `json:"read,omitempty" doc:"How the table was read: what was stated, else what the file looked like; absent while it was not."`
	Hidden        *Hidden         `json:"hidden,omitempty" doc:"What a workbook hides of the table; absent where it hides nothing."`
	HealthList    []Health        `json:"health_list,omitzero" nullable:"false" doc:"Remarks about the table, for stewards."`
	// Version is the version of the table, its ETag.
	Version int64 `json:"-"`
}

// Hidden is what a workbook hides of a table, by hand, by an outline or by a filter.
type Hidden struct {
	Rows    int64    `json:"rows" doc:"The number of hidden rows that hold values."`
	Columns []string `json:"columns" nullable:"false" doc:"The names of the hidden columns."`
	Policy  string   `json:"policy,omitempty" enum:"read,leave" doc:"What becomes of them: read or leave; absent where nothing was decided."`
}

// Column is a column of a table.
type Column struct {
	Name       string     `json:"name" doc:"The column's name."`
	Type       string     `json:"type" doc:"integer, decimal, date, ordered or category."`
	TypeReason *Message   `json:"type_reason,omitempty" doc:"Why this type is proposed, for stewards."`
	Format     string     `json:"format,omitempty" doc:"How dates or numbers are written."`
	Order      []string   `json:"order,omitempty" doc:"The levels of an ordered column, from lowest to highest."`
	Role       string     `json:"role" doc:"identifier, quasi-identifier, sensitive, other or drop."`
	RoleReason *Message   `json:"role_reason,omitempty" doc:"Why this role is proposed, for stewards."`
	Decided    bool       `json:"decided" doc:"Whether a steward has stated the role."`
	Missing    *int64     `json:"missing,omitempty" doc:"The number of records without a value, for stewards."`
	Distinct   *int64     `json:"distinct,omitempty" doc:"The number of different values, for stewards."`
	Estimated  bool       `json:"distinct_estimated,omitempty" doc:"Whether that number is an estimate."`
	Unit       bool       `json:"unit,omitempty" doc:"Whether the column seems to name persons who have several records each."`
	Bounds     []string   `json:"bounds,omitempty" doc:"The public bounds of the column: smallest and largest value."`
	Round      *int       `json:"round,omitempty" doc:"The decimal places of a published mean."`
	Hierarchy  *Hierarchy `json:"hierarchy,omitempty" doc:"The generalisation hierarchy of the column."`
}

// Hierarchy says how far a hierarchy covers a column.
type Hierarchy struct {
	Levels    int `json:"levels" doc:"The number of levels."`
	Values    int `json:"values" doc:"The number of different values of the column."`
	Covered   int `json:"covered" doc:"The number of values that have a line in the hierarchy."`
	Uncovered int `json:"uncovered" doc:"The number of values that have none."`
}

// document is a table as it is stored.
type document struct {
	Name    string          `json:"name"`
	Source  Source          `json:"source"`
	Label   string          `json:"label"`
	Sheet   string          `json:"sheet,omitempty"`
	Form    Form            `json:"form,omitzero"`
	Read    *api.TableForm  `json:"read,omitempty"`
	Hidden  *Hidden         `json:"hidden,omitempty"`
	State   string          `json:"state"`
	By      string          `json:"by"`
	Added   time.Time       `json:"added"`
	Job     string          `json:"job,omitempty"`
	Failure json.RawMessage `json:"failure,omitempty"`
	// FailureTexts are the texts of Failure with their arguments.
	FailureTexts json.RawMessage `json:"failure_texts,omitempty"`
	File         string          `json:"file,omitempty"`
	SHA256       string          `json:"sha256,omitempty"`
	Size         int64           `json:"size,omitempty"`
	Modified     time.Time       `json:"modified,omitzero"`
	Rows         int64           `json:"rows,omitempty"`
	Persons      int64           `json:"persons,omitempty"`
	Unit         string          `json:"unit,omitempty"`
	Missing      []string        `json:"missing,omitempty"`
	Columns      []Column        `json:"columns,omitempty"`
	Confirmed    *Confirmation   `json:"confirmed,omitempty"`
	// Files are the names of the files of hierarchies, by column.
	Files map[string]string `json:"files,omitempty"`
	// Sums are the SHA-256 of these files, by column; none for a file of before they were kept.
	Sums map[string]string `json:"sums,omitempty"`
	// Folder is the folder of the data, in that of the table.
	Folder string `json:"folder,omitempty"`
}

// Form is what a steward states of the form of a file. What is left out is found.
type Form struct {
	Sheet     string   `json:"sheet,omitempty" maxLength:"200" doc:"The worksheet of a workbook, by its name or number from 1."`
	HeaderRow int      `json:"header_row,omitempty" minimum:"0" maximum:"1000" doc:"The row of a worksheet, or the line of a text file, from 1, that names the columns."`
	Header    *bool    `json:"header,omitempty" doc:"For a text file: true, the first line names the columns, whatever it looks like; false, it is a record."`
	Delimiter string   `json:"delimiter,omitempty" maxLength:"10" doc:"The character between the fields of a text file, or tab."`
	Encoding  string   `json:"encoding,omitempty" maxLength:"20" doc:"The encoding of a text file."`
	Totals    string   `json:"totals,omitempty" enum:"read,leave" doc:"What becomes of rows that hold totals or notes and no record: they are read as records, or left out."`
	Missing   []string `json:"missing,omitempty" maxItems:"200" doc:"The texts that stand for a missing value, beside the empty one."`
}

// input says how the table is read.
func (d *document) input() spec.Input {
	f := &d.Form
	in := spec.Input{
		Sheet: d.sheet(), HeaderRow: f.HeaderRow, Header: f.Header, Delimiter: f.Delimiter, Encoding: f.Encoding,
		Totals: f.Totals,
	}
	if d.Hidden != nil {
		in.Hidden = d.Hidden.Policy
	}
	return in
}

// sheet is the worksheet that was stated; tables of before have it beside the form.
func (d *document) sheet() string {
	if d.Form.Sheet != "" {
		return d.Form.Sheet
	}
	return d.Sheet
}

// inputMissing is input with the texts that stand for a missing value.
func (d *document) inputMissing() spec.Input {
	in := d.input()
	in.Missing = append([]string{}, d.Missing...)
	return in
}

// specification is what a specification states of the table. Hierarchies are in the folder
// named, which may be empty.
func (d *document) specification(hierarchies string) *spec.Spec {
	s := &spec.Spec{Version: spec.Version, Unit: d.Unit, Columns: map[string]spec.Column{}}
	s.Input = d.inputMissing()
	for i := range d.Columns {
		c := &d.Columns[i]
		column := spec.Column{Role: c.Role, Type: c.Type, Format: c.Format, Order: c.Order, Bounds: c.Bounds, Round: c.Round}
		if name := d.Files[c.Name]; name != "" && hierarchies != "" {
			column.Hierarchy = hierarchies + name
		}
		s.Columns[c.Name] = column
	}
	return s
}
